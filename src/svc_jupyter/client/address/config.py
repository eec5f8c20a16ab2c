"""Read the address and the token. Only this module reads the environment and configuration files.

In order of precedence: the arguments, `SVC_BASE_URL` and `SVC_API_TOKEN`, the profile of
`~/.config/svc-jupyter/config.toml` that `SVC_PROFILE` names, in a notebook run the service that runs it (run.py), the
profile `default`, and the embedded service (embedded.py), which a run never starts::

    [profiles.default]
    base_url = "https://service.example.com"
    token_file = "~/.secrets/service-token"     # or token = "..."; readable by its owner only
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomlkit
from tomlkit.exceptions import TOMLKitError

from svc_jupyter.api.run_connection import CONNECTION_FILE
from svc_jupyter.client.address.run import read_connection, refusal_of
from svc_jupyter.client.errors import ConfigurationError
from svc_jupyter.files import write_whole

DEFAULT_PROFILE = "default"
EMBEDDED = "embedded service"
OF_THE_RUN = "the service of this run"
_PROFILE_KEYS = frozenset({"base_url", "token", "token_file"})
_API_SUFFIX = re.compile(r"/api(/(latest|v\d+(\.\d+)?))?$")
_TOKEN = re.compile(r"[\x21-\x7e]+")
_OTHERS_MAY_READ = stat.S_IRWXG | stat.S_IRWXO


class NoTokenError(ConfigurationError):
    """There is an address, but no token for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Address and credentials of a service.

    `base_url` is None for the embedded service of `data_dir`; `source` says where the address was found, for messages.
    """

    base_url: str | None
    token: str | None = field(repr=False)
    source: str
    profile: str
    data_dir: Path
    connection_file: Path | None = None
    """In a notebook run: the file that gave address and token, which changes when the service moves."""
    token_source: str | None = None
    """Where the token was found, for messages; None for the embedded service."""

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded service of this machine, located by its data folder."""
        return self.base_url is None

    @classmethod
    def of_this_machine(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Return the settings of this machine's embedded service and ignore all other configuration."""
        return cls(None, None, EMBEDDED, DEFAULT_PROFILE, data_folder(os.environ if environ is None else environ))

    @classmethod
    def load(
        cls,
        base_url: str | None = None,
        token: str | None = None,
        *,
        profile: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Settings:
        """Return the settings from the arguments, the environment and the profile file.

        A token is only sent to the address configured with it: a token from a less specific place is used only when
        that place has the same address or none. Raises ConfigurationError, whose text never contains a token.
        """
        environ = os.environ if environ is None else environ
        chosen = chosen_profile(profile, environ)
        places = list(_places(base_url, token, profile, environ))
        origin = next((place for place in places if place.base_url or place.refusal), _Source(EMBEDDED, None))
        if origin.refusal is not None:
            raise ConfigurationError(origin.refusal)
        address, source = origin.base_url, origin.name
        found = next((place for place in places if place.has_token and place.base_url in (None, address)), None)
        secret = found.read_token() if found else None
        if address is not None and secret is None:
            raise NoTokenError(
                f"there is no token for {address} (address from {source}). Set SVC_API_TOKEN, "
                f"or token_file in [profiles.{chosen}] of {config_file(environ)}"
            )
        of_run = origin.connection_file if found is origin else None
        token_source = found.name if found and secret else None
        return cls(address, secret, source, chosen, data_folder(environ), of_run, token_source)


def chosen_profile(profile: str | None, environ: Mapping[str, str] | None = None) -> str:
    """Return the name of the profile to use: the argument, `SVC_PROFILE`, or `default`."""
    environ = os.environ if environ is None else environ
    return profile or environ.get("SVC_PROFILE") or DEFAULT_PROFILE


def beats_profiles(base_url: str | None, profile: str | None, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the setting whose address takes precedence over the profile file, or None when the file decides."""
    environ = os.environ if environ is None else environ
    if base_url:
        return "the arguments"
    if profile:
        return None
    if environ.get("SVC_BASE_URL"):
        return "SVC_BASE_URL"
    of_run = environ.get(CONNECTION_FILE) and not environ.get("SVC_PROFILE")
    return CONNECTION_FILE if of_run else None


@dataclass(frozen=True, slots=True)
class _Source:
    """One source of settings. A token file is read only when its token is used."""

    name: str
    base_url: str | None
    token: str | None = field(default=None, repr=False)
    token_file: Path | None = None
    connection_file: Path | None = None
    refusal: str | None = None
    """Why there is no service at this place, which therefore ends the search."""

    @property
    def has_token(self) -> bool:
        return self.token is not None or self.token_file is not None

    def read_token(self) -> str:
        if self.token_file is None:
            return _clean_token(self.token or "", self.name)
        try:
            _refuse_if_shared(self.token_file)
            text = self.token_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"the token file {self.token_file} of {self.name} cannot be read") from error
        return _clean_token(text, f"{self.token_file}")


def _places(
    base_url: str | None, token: str | None, profile: str | None, environ: Mapping[str, str]
) -> Iterator[_Source]:
    """Yield the sources, most specific first; a profile given as an argument precedes the environment."""
    if base_url or token:
        yield _Source("the arguments", clean_base_url(base_url) if base_url else None, token or None)
    if profile:
        yield _profile(profile, environ, required=True)
    env_url, env_token = environ.get("SVC_BASE_URL"), environ.get("SVC_API_TOKEN")
    if env_url or env_token:
        address = clean_base_url(env_url, "SVC_BASE_URL") if env_url else None
        yield _Source("the environment", address, env_token or None)
    named = environ.get("SVC_PROFILE")
    if named and not profile:
        yield _profile(named, environ, required=True)
    if file := environ.get(CONNECTION_FILE):
        yield _of_run(Path(file))
    if not named and not profile:
        yield _profile(DEFAULT_PROFILE, environ, required=False)


def _of_run(file: Path) -> _Source:
    try:
        connection = read_connection(file)
    except ConfigurationError as error:
        return _Source(OF_THE_RUN, None, refusal=str(error))
    if refusal := refusal_of(connection):
        return _Source(OF_THE_RUN, None, refusal=refusal)
    return _Source(OF_THE_RUN, connection.base_url, connection.token, connection_file=file)


def _profile(name: str, environ: Mapping[str, str], *, required: bool) -> _Source:
    path = config_file(environ)
    profiles = _profiles(path)
    where = f"profile {name} of {path}"
    if name not in profiles:
        if required:
            known = ", ".join(sorted(profiles)) or "none"
            raise ConfigurationError(f"there is no [profiles.{name}] in {path}; profiles there: {known}")
        return _Source(where, None)
    table = profiles[name]
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise ConfigurationError(f"{where} must be a table of texts: {', '.join(sorted(_PROFILE_KEYS))}")
    if unknown := sorted(set(table) - _PROFILE_KEYS):
        raise ConfigurationError(
            f"{where} has the unknown key {unknown[0]!r}; known: {', '.join(sorted(_PROFILE_KEYS))}"
        )
    if "token" in table and "token_file" in table:
        raise ConfigurationError(f"{where} has both token and token_file; keep one")
    if "token" in table:
        _refuse_if_shared(path)
    token_file = (path.parent / Path(table["token_file"]).expanduser()) if "token_file" in table else None
    address = clean_base_url(table["base_url"], where) if "base_url" in table else None
    return _Source(where, address, table.get("token"), token_file)


def _profiles(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            profiles = tomllib.load(file).get("profiles", {})
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The parser's message quotes the file, which may contain a token.
        raise ConfigurationError(f"{path} is not a TOML file") from None
    if not isinstance(profiles, dict):
        raise ConfigurationError(f"`profiles` in {path} must be tables such as [profiles.{DEFAULT_PROFILE}]")
    return profiles


def _refuse_if_shared(path: Path) -> None:
    if os.name == "posix" and path.stat().st_mode & _OTHERS_MAY_READ:
        raise ConfigurationError(f"{path} holds a token and others can read it; run: chmod 600 '{path}'")


def _clean_token(token: str, where: str) -> str:
    token = token.strip()
    if not _TOKEN.fullmatch(token):
        raise ConfigurationError(f"the token of {where} is empty or holds characters that no token has")
    return token


def clean_base_url(base_url: str, where: str = "base_url") -> str:
    """Return the address without a trailing slash and without the API path, which the client appends.

    Raises ConfigurationError when it is not an http(s) address or contains a user name or password.
    """
    text = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigurationError(f"{where} must be an address such as https://service.example.com")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"{where} must not hold a user name or password; the token is a setting of its own")
    if parts.query or parts.fragment:
        raise ConfigurationError(f"{where} must not have a query or fragment")
    return _API_SUFFIX.sub("", text)


def is_loopback(base_url: str) -> bool:
    """Return whether an address is a loopback address: such calls must bypass a proxy from the environment."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the profile file, whether or not it exists."""
    folder = environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "svc-jupyter" / "config.toml"


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the embedded service's data folder: `SVC_DATA_DIR`, else the platform's default."""
    if folder := environ.get("SVC_DATA_DIR"):
        return Path(folder).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("svc-jupyter")


def write_profile(profile: str, base_url: str, token: str, *, environ: Mapping[str, str] | None = None) -> Path:
    """Write a profile's address and token to the profile file, readable by its owner only; return its path.

    Other profiles and comments are kept. The file is replaced atomically. Raises ConfigurationError, whose text never
    contains a token, when the file cannot be parsed or written.
    """
    path = config_file(os.environ if environ is None else environ)
    entry = tomlkit.table()
    entry.update({"base_url": clean_base_url(base_url), "token": token})
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        profiles = document.setdefault("profiles", tomlkit.table(is_super_table=True))
        profiles[profile] = entry
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, tomlkit.dumps(document), mode=0o600)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    except (TOMLKitError, UnicodeDecodeError, TypeError, AttributeError):
        # The parser's message quotes the file, which may contain a token.
        raise ConfigurationError(f"{path} is not a file of profiles; mend or move it") from None
    return path
