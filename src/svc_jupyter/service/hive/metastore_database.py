"""Where the metastore keeps what it knows: Derby in the data folder, or a schema of its own in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from psycopg.conninfo import conninfo_to_dict

from svc_jupyter.service.hive.metastore_jar import SOCKET_FACTORY

SCHEMA: Final = "hive_metastore"
"""The schema in PostgreSQL; Hive's tables would else lie among the service's."""
DERBY_FOLDER: Final = "derby"
_DEFAULT_PORT: Final = "5432"
_TAKEN_OVER: Final = ("sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
"""Options that PostgreSQL's own library and the Java driver both know; of the last the driver has another name."""
_RENAMED: Final = {"target_session_attrs": "targetServerType"}
_SERVER_TYPES: Final = {"read-write": "primary", "primary": "primary", "any": "any"}


@dataclass(frozen=True, slots=True)
class MetastoreDatabase:
    """How Java reaches it. The password is kept apart: it never stands in a file that stays, nor in an argument."""

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
"""Below `derby.system.home`, so that no character of a path can disturb the address. It asks for no password: the
folder's mode is what protects it."""


def of_postgresql(url: str) -> MetastoreDatabase:
    """Return how the metastore reaches the service's PostgreSQL, from a libpq address."""
    told = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    hosts = told.get("host", "").split(",")
    ports = told.get("port", _DEFAULT_PORT).split(",")
    database = quote(told.get("dbname", told.get("user", "")), safe="")
    options = {"currentSchema": SCHEMA, "ApplicationName": "svc-jupyter Hive metastore", **_shared(told)}
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
        user=told.get("user"),
        password=told.get("password"),
    )


def _shared(told: Mapping[str, str]) -> dict[str, str]:
    options = {_RENAMED.get(key, key): told[key] for key in _TAKEN_OVER if told.get(key)}
    if (kind := options.get("targetServerType")) is not None:
        options["targetServerType"] = _SERVER_TYPES.get(kind, "any")
    return options


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
