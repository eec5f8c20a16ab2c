"""A tap's address as a URL of a cell, without a password: `postgresql://ann@db.example.org/shop`."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from svc_jupyter.magics.display.errors import SvcUsageError

_TYPES = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "mssql": "sqlserver",
    "sqlserver": "sqlserver",
    "redshift": "redshift",
}
"""Schemes of the databases that the service reaches by attributes; all others are reached by their URL."""
_SECRET_WORDS = ("password", "passwd", "pwd", "token", "secret", "key")
_FORM = "such as postgresql://ann@db.example.org:5432/shop or sqlite:///flights.db"


class TapAddress:
    """A checked URL. Raises SvcUsageError, which never repeats a password."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise SvcUsageError(
                f"svc_tap: the URL cannot be read; it has the form of a database's address, {_FORM}"
            ) from None
        if not parts.scheme or "://" not in url:
            raise SvcUsageError(f"svc_tap: takes the URL of a database, {_FORM}")
        if parts.password is not None or _has_secret(parts.query):
            raise SvcUsageError(
                "svc_tap: a password does not belong in a notebook. Take it out of the URL: you are asked for it. It "
                "was in this cell, so it may be in the notebook's file and history, too: change it in the database."
            )
        self._url, self._parts, self._port = url, parts, port

    @property
    def wants_password(self) -> bool:
        """Whether a database asks for one: files have none, and without a user there is nobody to log in."""
        return bool(self._parts.username) and not self._is_file

    @property
    def prompt(self) -> str:
        """The user and the host, for the question."""
        return f"{unquote(self._parts.username or '')} at {self._parts.hostname}"

    def fields(self, password: str | None) -> dict[str, Any]:
        """Return the attributes of the tap; those that it does not have are empty, so that an edit removes them."""
        parts = self._parts
        kind = _TYPES.get(parts.scheme)
        if self._is_file:
            return {"db_type": "sqlite", "db_name": unquote(parts.path.removeprefix("/")), **_nothing("url", "db_host")}
        if kind is None or parts.query:
            return {
                "db_type": "url",
                "url": _with_password(parts, password),
                **_nothing("db_host", "db_name", "db_user"),
            }
        fields = {
            "db_type": kind,
            "db_host": parts.hostname,
            "port": self._port,
            "db_name": unquote(parts.path.removeprefix("/")),
            "db_user": unquote(parts.username or ""),
            "db_passwd": password,
        }
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def _is_file(self) -> bool:
        return self._parts.scheme == "sqlite"


def _nothing(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "")


def _has_secret(query: str) -> bool:
    names = (pair.partition("=")[0].lower() for pair in query.split("&"))
    return any(word in name for name in names for word in _SECRET_WORDS)


def _with_password(parts: SplitResult, password: str | None) -> str:
    if not password:
        return urlunsplit(parts)
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))
