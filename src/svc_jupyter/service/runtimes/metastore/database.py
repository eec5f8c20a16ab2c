"""The metastore's database: Derby in the data folder, or its own schema in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from svc_jupyter.service.installs.additions import CompiledJar
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure

SCHEMA: Final = "hive_metastore"
"""The schema in PostgreSQL, which keeps Hive's tables apart from the service's."""
DERBY_FOLDER: Final = "derby"
_DEFAULT_PORT: Final = "5432"
_TAKEN_OVER: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
"""Options that both libpq and the Java driver support; the driver has another name for the last one."""
_RENAMED: Final = {"target_session_attrs": "targetServerType"}
_SERVER_TYPES: Final = {"read-write": "primary", "primary": "primary", "any": "any"}
_KEY: Final = 5_836_214_907
"""Key of the lock under which one metastore at a time starts: two that create the same tables at once both fail."""


@dataclass(frozen=True, slots=True)
class MetastoreDatabase:
    """How Java reaches the database. The password is separate: it is in no file that stays, nor in an argument."""

    url: str
    driver: str
    user: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return f"MetastoreDatabase({self.url!r})"


DERBY: Final = MetastoreDatabase(
    url=f"jdbc:derby:;databaseName={DERBY_FOLDER};create=true",
    driver="org.apache.derby.jdbc.EmbeddedDriver",
)
"""Relative to `derby.system.home`, so that no character of a path can break the address. It has no password: the
folder's mode protects it.
"""


def of_postgresql(url: str) -> MetastoreDatabase:
    """Return how the metastore reaches the service's PostgreSQL, from a libpq address."""
    from psycopg.conninfo import conninfo_to_dict

    facts = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    hosts = facts.get("host", "").split(",")
    ports = facts.get("port", _DEFAULT_PORT).split(",")
    database = quote(facts.get("dbname", facts.get("user", "")), safe="")
    options = {"currentSchema": SCHEMA, "ApplicationName": "svc-jupyter Hive metastore", **_shared(facts)}
    if not hosts[0] or hosts[0].startswith("/"):
        folder = hosts[0] or "/var/run/postgresql"
        options |= {"socketFactory": SOCKET_FACTORY, "socketFactoryArg": f"{folder}/.s.PGSQL.{ports[0]}"}
        options["sslmode"] = "disable"
        places = "localhost"
    else:
        ports = ports * len(hosts) if len(ports) == 1 else ports
        places = ",".join(f"{_bracketed(host)}:{port}" for host, port in zip(hosts, ports, strict=True))
    return MetastoreDatabase(
        url=f"jdbc:postgresql://{places}/{database}?{urlencode(options)}",
        driver="org.postgresql.Driver",
        user=facts.get("user"),
        password=facts.get("password"),
    )


def _shared(facts: Mapping[str, str]) -> dict[str, str]:
    options = {_RENAMED.get(key, key): facts[key] for key in _TAKEN_OVER if facts.get(key)}
    if (kind := options.get("targetServerType")) is not None:
        options["targetServerType"] = _SERVER_TYPES.get(kind, "any")
    return options


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@asynccontextmanager
async def starting_alone(url: str) -> AsyncIterator[None]:
    """Create the schema if missing, and hold off other machines' metastores. Raises `MetastoreFailure`."""
    import psycopg  # a service on SQLite starts without it
    from psycopg import sql

    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute("SELECT pg_advisory_lock(%s)", [_KEY])
            await connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
            yield
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise MetastoreFailure(f"the Hive metastore has no schema {SCHEMA} in PostgreSQL: {reason}") from error


MAIN_CLASS: Final = "svc.jupyter.hive.Metastore"
SOCKET_FACTORY: Final = "svc.jupyter.hive.UnixSocketFactory"
METASTORE_JAR: Final = CompiledJar(
    "metastore", "svc-hive-metastore.jar", "svc_jupyter.service.runtimes.metastore.java", release=17
)
