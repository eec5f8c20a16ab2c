"""Locations of scripts, files and archives: parses and checks text; reads nothing.

Object stores and `file://` take the rest of a location literally, as their own tools do: `%20` is three characters.
`https://` locations are URLs, with percent-encoding and an optional query (as signed URLs have).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from svc_jupyter.service.ground.errors import Invalid

MAX_LENGTH = 4096
"""Characters of a location; longer than any path or key of a store, short enough for an error message."""
MAX_NAME_BYTES = 255
"""Bytes of a file name on common file systems of working folders."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,221}")
_CONTAINER = re.compile(r"\$?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_HOST = re.compile(r"(?:[^\s\\/?#\[\]@:]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_AZ_HOST = re.compile(r"([a-z0-9]{3,24})\.(?:dfs|blob)\.core\.windows\.net")


class Scheme(StrEnum):
    """The kinds of stores in locations."""

    FILE = "file"
    S3 = "s3"
    GS = "gs"
    AZ = "az"
    HTTPS = "https"
    HTTP = "http"


_SCHEMES: Final = {
    "file": Scheme.FILE,
    "s3": Scheme.S3,
    "s3a": Scheme.S3,
    "s3n": Scheme.S3,
    "gs": Scheme.GS,
    "gcs": Scheme.GS,
    "az": Scheme.AZ,
    "abfs": Scheme.AZ,
    "abfss": Scheme.AZ,
    "https": Scheme.HTTPS,
    "http": Scheme.HTTP,
}


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a store. `store` is the bucket, container or host (empty for files); `key` the path inside it."""

    scheme: Scheme
    store: str
    key: str
    account_name: str | None = None
    """The storage account, if an `abfss://` location names it."""
    query: str = ""
    """The query of an `https://` location: it may hold a signature and is never shown."""

    def __str__(self) -> str:
        """Return the location for messages and logs: without its query."""
        store = f"{self.scheme}://{self.store}"
        if self.account_name is not None:
            store = f"abfss://{self.store}@{self.account_name}.dfs.core.windows.net"
        return f"{store}/{self.key}" if self.key or not self.store else store

    def __repr__(self) -> str:
        return f"Location({str(self)!r})"

    @property
    def is_http(self) -> bool:
        """Whether it is a URL for a plain GET rather than an object in a store."""
        return self.scheme in (Scheme.HTTPS, Scheme.HTTP)

    @property
    def url(self) -> str:
        """The full URL of an `https://` location, including its signature: only for the request itself."""
        return f"{self}?{self.query}" if self.query else str(self)

    @property
    def path(self) -> PurePosixPath:
        """The absolute path of a `file://` location."""
        return PurePosixPath("/" + self.key)

    @property
    def name(self) -> str:
        """The name of the file: the last segment of the key.

        Raises `Invalid` when it cannot be the name of a file in a working folder.
        """
        name = self.key.rpartition("/")[2]
        if self.is_http:
            name = unquote(name)
        if not name:
            raise Invalid(f"{self} names a folder; give the location of a file")
        if name in (".", "..") or "/" in name or _CONTROL.search(name):
            raise Invalid(f"{self} has no usable file name at its end")
        if len(name.encode()) > MAX_NAME_BYTES:
            raise Invalid(f"{self}: the file name is longer than {MAX_NAME_BYTES} bytes")
        return name

    def covers(self, other: Location) -> bool:
        """Return whether `other` is this location or is under it, segment by segment."""
        if (self.scheme, self.store) != (other.scheme, other.store):
            return False
        if other.account_name is not None and other.account_name != self.account_name:
            return False
        prefix = self.key.rstrip("/")
        return not prefix or other.key == prefix or other.key.startswith(prefix + "/")

    def joined(self, relative: str) -> Location:
        """Return the location of `relative` (already checked) under this one."""
        tail = quote(relative) if self.is_http else relative
        parts = [part for part in (self.key.rstrip("/"), tail) if part]
        return Location(self.scheme, self.store, "/".join(parts), self.account_name)


def parse_location(text: str, *, base: Location | None = None) -> Location:
    """Return the location in `text`; without a scheme it is relative to `base`, the account's storage.

    Raises `Invalid` for an unknown scheme, a path with `..`, and anything else that cannot name a file.
    """
    text = text.strip()
    shown = _shown(text)
    if not text:
        raise Invalid("a location is empty")
    if len(text) > MAX_LENGTH:
        raise Invalid(f"the location {shown[:80]}… is longer than {MAX_LENGTH} characters")
    if _CONTROL.search(text):
        raise Invalid(f"the location {shown[:80]} holds a control character")
    match = _SCHEME.fullmatch(text)
    if match is None:
        if base is None:
            raise Invalid(f"the location {shown} has no scheme; known are {known_schemes()}")
        return base.joined(_checked_key(text.lstrip("/"), shown))
    scheme = _SCHEMES.get(match[1].lower())
    if scheme is None:
        raise Invalid(f"the location {shown} has an unknown scheme; known are {known_schemes()}")
    if scheme in (Scheme.HTTP, Scheme.HTTPS):
        return _http(scheme, text, shown)
    return _PARSERS[scheme](scheme, match[2], shown)


def split_locations(text: str | None) -> list[str]:
    """Return the locations of a comma-separated list; empty entries are dropped."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def known_schemes() -> str:
    """Return the schemes to list in an error."""
    return "file://, s3://, gs://, az://, abfss:// and https://"


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is this machine's own."""
    host = host.strip("[]").lower()
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _checked_key(key: str, shown: str) -> str:
    """Refuse keys with `..` and keys that a store's client would interpret differently."""
    segments = key.removesuffix("/").split("/") if key else []
    if any(segment in (".", "..") for segment in segments):
        raise Invalid(f"the location {shown} must not hold '.' or '..' as a part of its path")
    if not all(segments):
        raise Invalid(f"the location {shown} has an empty part in its path ('//')")
    return key


def _shown(text: str) -> str:
    """Return a location for error messages: without query, user and password."""
    text = re.sub(r"//[^/]*:[^/]*@", "//", re.split(r"[?#]", text)[0])
    text = re.sub(r"(?i)^(https?://)[^/]*@", r"\1", text)
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _file(scheme: Scheme, rest: str, shown: str) -> Location:
    host, slash, key = rest.partition("/")
    if host not in ("", "localhost") or not slash:
        raise Invalid(f"the location {shown} must name an absolute path: file:///folder/name")
    return Location(scheme, "", _checked_key(key, shown))


def _bucket(scheme: Scheme, rest: str, shown: str) -> Location:
    bucket, _, key = rest.partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise Invalid(f"the location {shown} has no valid bucket: {scheme}://bucket/key")
    return Location(scheme, bucket, _checked_key(key, shown))


def _az(scheme: Scheme, rest: str, shown: str) -> Location:
    authority, _, key = rest.partition("/")
    container, at, host = authority.partition("@")
    match = _AZ_HOST.fullmatch(host)
    if not _CONTAINER.fullmatch(container) or (at and match is None):
        raise Invalid(
            f"the location {shown} must be az://container/path or abfss://container@account.dfs.core.windows.net/path"
        )
    return Location(scheme, container, _checked_key(key, shown), match[1] if match else None)


def _http(scheme: Scheme, text: str, shown: str) -> Location:
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError as error:
        raise Invalid(f"the location {shown} is not a valid URL") from error
    if "@" in parts.netloc:
        raise Invalid(f"the location {shown} must not hold a user or a password; use a signed URL")
    if not host or not _HOST.fullmatch(parts.netloc):
        raise Invalid(f"the location {shown} names no valid host")
    if scheme is Scheme.HTTP and not is_loopback(host):
        raise Invalid(f"the location {shown} must use https://: what comes over plain http can be altered on its way")
    return Location(scheme, parts.netloc.lower(), parts.path.removeprefix("/").replace(" ", "%20"), query=parts.query)


_PARSERS: Final = {Scheme.FILE: _file, Scheme.S3: _bucket, Scheme.GS: _bucket, Scheme.AZ: _az}
