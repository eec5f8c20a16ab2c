"""Builds a worker's connection from a tap's attributes, and names the attributes that are wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from svc_jupyter.api.db_taps import DbType
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.storage.account_storage import resolve_under
from svc_jupyter.sql_tokens import Dialect

_DEFAULT_PORTS = {DbType.POSTGRESQL: 5432, DbType.REDSHIFT: 5439, DbType.MYSQL: 3306, DbType.SQLSERVER: 1433}
_SQLALCHEMY_NAMES = {DbType.MYSQL: "mysql", DbType.SQLSERVER: "mssql"}
_DIALECTS = {dialect.value: dialect for dialect in Dialect} | {
    "awsathena": Dialect.PRESTO,
    "cockroachdb": Dialect.POSTGRESQL,
    "databricks": Dialect.SPARK,
    "mariadb": Dialect.MYSQL,
    "mssql": Dialect.SQLSERVER,
    "trino": Dialect.PRESTO,
}
"""By SQLAlchemy's name of the database."""
_CONNECT_SECONDS = 10
_HOST = re.compile(r"[^\s/@?#\\]+")
_SOCKET_FOLDER = re.compile(r"/\S*")
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_URL_FORM = "dialect+driver://user:password@host:port/database"
_MAX_SECRET = 4096
_VERIFYING = ("verify-ca", "verify-full")
_NO_CLEAR_TEXT = "!password"
"""The server at the host gets no password that could be reused, unless a URL says so or verifies the server."""
_HEADER = b"SQLite format 3\x00"
_SCHEME = "file://"
_RELATIVE = re.compile("[^/~:][^:]*$")
"""A path below the working folder, which each query has for itself; unlike `/file`, `~/file`, `:memory:`, `md:name`."""


@dataclass(frozen=True, slots=True)
class TapAttributes:
    """A tap as its connection needs it. The empty text means none."""

    name: str
    db_type: str
    db_host: str | None = None
    port: int | None = None
    db_name: str | None = None
    db_user: str | None = None
    password: str | None = field(default=None, repr=False)
    url: str | None = field(default=None, repr=False)


def connection_of(tap: TapAttributes, settings: Settings) -> Connection:
    """Return the connection of a tap, without connecting.

    Raises `Invalid`, naming the attribute, for a missing, malformed or forbidden value.
    """
    _check_texts(tap)
    kind = _known_type(tap.db_type)
    if kind is DbType.SQLITE:
        if not tap.db_name:
            raise Invalid("db_name: a sqlite tap needs the path of its file")
        return _sqlite(tap, tap.db_name, settings)
    if kind is DbType.URL:
        return _from_url(tap, settings)
    if not tap.db_host:
        raise Invalid(f"db_host: a {kind} tap needs the host of its database")
    host = _HOST if kind is not DbType.POSTGRESQL else re.compile(f"{_HOST.pattern}|{_SOCKET_FOLDER.pattern}")
    if not host.fullmatch(tap.db_host):
        raise Invalid("db_host: must be a host name or an address, without scheme, port and path")
    address = f"{tap.db_host}:{tap.port or _DEFAULT_PORTS[kind]}"
    if kind in (DbType.POSTGRESQL, DbType.REDSHIFT):
        port = tap.port or (_DEFAULT_PORTS[kind] if kind is DbType.REDSHIFT else None)
        target = _conninfo(tap.db_host, port, tap.db_name, tap.db_user, tap.password)
        return Connection(tap.name, kind, EngineName.POSTGRESQL, _DIALECTS[kind], address, target)
    name = _SQLALCHEMY_NAMES[kind]
    url = sa.URL.create(name, tap.db_user, tap.password, tap.db_host, tap.port, tap.db_name)
    target = url.render_as_string(hide_password=False)
    return Connection(tap.name, kind, EngineName.SQLALCHEMY, _DIALECTS[name], address, target)


def _known_type(name: str) -> DbType:
    try:
        return DbType(name)
    except ValueError:
        raise Invalid(f"db_type: unknown; known are {', '.join(DbType)}") from None


def _check_texts(tap: TapAttributes) -> None:
    texts = {
        "name": tap.name,
        "db_host": tap.db_host,
        "db_name": tap.db_name,
        "db_user": tap.db_user,
        "db_passwd": tap.password,
        "url": tap.url,
    }
    for name, text in texts.items():
        if text and _UNSTORABLE.search(text):
            raise Invalid(f"{name}: must not contain control characters or halves of a character")
        if text and len(text) > _MAX_SECRET:
            raise Invalid(f"{name}: must have at most {_MAX_SECRET} characters")
    if tap.url and tap.db_type != DbType.URL:
        raise Invalid("url: only a tap with db_type url has one")


def _sqlite(tap: TapAttributes, file: str, settings: Settings) -> Connection:
    path = checked_file(file, settings)
    return Connection(tap.name, tap.db_type, EngineName.SQLITE, Dialect.SQLITE, file, str(path))


def _from_url(tap: TapAttributes, settings: Settings) -> Connection:
    if not tap.url:
        raise Invalid(f"url: a tap with db_type url needs one: {_URL_FORM}")
    try:
        url = sa.make_url(re.sub(r"^postgres(?=[:+])", "postgresql", tap.url))
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        raise Invalid(f"url: cannot be read; it must have the form {_URL_FORM}") from None
    if backend == "sqlite":
        if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
            raise Invalid("url: a sqlite URL must name a file by its absolute path: sqlite:////folder/file.db")
        return _sqlite(tap, url.database, settings)
    if backend == "duckdb" and url.database and _RELATIVE.match(url.database):
        raise Invalid("url: a duckdb URL must name a file by its absolute path: duckdb:////folder/file.duckdb")
    address = (f"{url.host}:{url.port}" if url.port else url.host) or url.database or backend
    if backend == "postgresql":
        return Connection(
            tap.name, tap.db_type, EngineName.POSTGRESQL, Dialect.POSTGRESQL, address, _conninfo_of_url(url)
        )
    dialect = _DIALECTS.get(backend, Dialect.OTHER)
    return Connection(tap.name, tap.db_type, EngineName.SQLALCHEMY, dialect, address, tap.url)


def _conninfo_of_url(url: sa.URL) -> str:
    options = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    return _conninfo(url.host, url.port, url.database, url.username, url.password, options)


def _conninfo(
    host: str | None,
    port: int | None,
    database: str | None,
    user: str | None,
    password: str | None,
    options: dict[str, str] | None = None,
) -> str:
    """Return libpq's connection string: `key='value'` pairs, which allow any character."""
    values = {
        "connect_timeout": str(_CONNECT_SECONDS),
        "application_name": "svc-jupyter",
        "host": host,
        "port": None if port is None else str(port),
        "dbname": database,
        "user": user,
        "password": password,
        **(options or {}),
        "client_encoding": "UTF8",  # as Arrow has texts; without it, the driver passes them as the database stores them
    }
    if password and "require_auth" not in values and values.get("sslmode") not in _VERIFYING:
        values["require_auth"] = _NO_CLEAR_TEXT
    return " ".join(f"{key}={_quoted(value)}" for key, value in values.items() if value)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def checked_file(db_name: str, settings: Settings) -> Path:
    """Return the path of a tap's database file, with every symbolic link resolved.

    A relative name is in the account's storage folder. Raises `Invalid` for a file outside the allowed roots, one of
    the service's own, a missing file, and one that is not an SQLite database.
    """
    path = Path(db_name.removeprefix(_SCHEME))
    resolved = resolve_under(path if path.is_absolute() else settings.storage_dir / path, settings.allowed_file_roots)
    try:
        if _is_private(resolved, settings):
            raise Invalid(f"db_name: {db_name} is the service's own; put the database into the account's storage")
        with resolved.open("rb") as file:
            header = file.read(len(_HEADER))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Invalid(f"db_name: the file {db_name} does not exist") from error
    except OSError as error:
        raise Invalid(f"db_name: the file {db_name} cannot be read: {error.strerror}") from error
    if header not in (b"", _HEADER):
        raise Invalid(f"db_name: the file {db_name} is not a SQLite database")
    return resolved


def _is_private(path: Path, settings: Settings) -> bool:
    data_dir = settings.data_dir.resolve()
    if path.is_relative_to(data_dir) and not path.is_relative_to(settings.storage_dir.resolve()):
        return True
    own = data_dir / "service.db"
    return own.exists() and path.exists() and own.samefile(path)
