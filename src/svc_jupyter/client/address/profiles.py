"""Write the profile file that config.py reads, so that a user enters the address and token once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from svc_jupyter.client.address.config import clean_base_url, config_file
from svc_jupyter.client.errors import ConfigurationError
from svc_jupyter.files import write_whole


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
