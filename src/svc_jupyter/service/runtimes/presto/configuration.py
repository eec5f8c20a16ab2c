"""The files of a Presto node with its catalogues, its command line, and why its server ended."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, coordinator_of
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Daemon
from svc_jupyter.service.db_taps.db_taps import DbTaps, OpenTap
from svc_jupyter.service.db_taps.job import EngineName
from svc_jupyter.service.ground.errors import Invalid, NotFound, translated
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.runtimes.hadoop.causes import explain as explain_daemon
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.own_address import OPTIONS
from svc_jupyter.service.runtimes.presto.settings import HIVE, CustomSettings

HTTP_PORT: Final = 8080
"""The same port on every node: each has its own address."""
_MANAGEMENT_PORT: Final = 8079
"""Where Java's management listens. Without it Presto looks for a free port, and ends when that is taken meanwhile."""
GRACE_SECONDS: Final = 2
"""How long a leaving worker waits before and after its last task, for the coordinator to notice both."""
WORKERS_WAIT_SECONDS: Final = 8
"""How long a query waits for a worker when there is none; the default of five minutes looks like a hang."""
_ERROR_SECONDS: Final = 15
"""How long a worker may be silent before its queries fail; the default is five minutes, too."""
_CLIENT_SECONDS: Final = 60
"""How long a query runs on without requests for its answers: its command was killed."""
_USER_SHARE: Final = 0.3
_TOTAL_SHARE: Final = 0.4
"""Share of a node's heap that one query may use; Presto keeps 0.3 free for memory that it does not count."""
_ALL_NODES_MEGABYTES: Final = 64 * 1024
"""No separate limit for a query on all nodes together: each node's limit applies."""
_LOG_LEVELS: Final = b"Bootstrap=WARN\ncom=WARN\nio=WARN\norg=ERROR\n"
"""Otherwise Presto logs thousands of settings at its start; the reason of an end is an ERROR."""
_ALLOWED_IN_HIVE: Final = ("drop-table", "rename-table", "add-column", "drop-column", "rename-column")


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """A node as its files need it."""

    name: str
    address: str
    folder: PurePosixPath
    role: NodeRole
    heap_megabytes: int
    programs: Programs
    plugins: Sequence[PurePosixPath]
    """A folder of jars each."""


def http_of(node: Node) -> str:
    """Return the address of a node's server: statements, state and figures."""
    return f"http://{node.private_ip}:{HTTP_PORT}"


def coordinator_http(instance: Instance) -> str:
    """Return the address for statements. Raises `ClusterFailure` before the coordinator exists."""
    return http_of(coordinator_of(instance))


def node_files(
    place: NodeLayout, environment: str, coordinator: str, version: str, custom: CustomSettings
) -> dict[str, bytes]:
    """Return the files of a node below its folder, without the catalogues'. `coordinator` is its address."""
    settings = {**_settings(place, environment, coordinator, version), **custom.of_nodes[place.role]}
    return {"etc/config.properties": properties(settings), "etc/log.properties": _LOG_LEVELS}


def catalog_files(
    catalogs: Mapping[str, Mapping[str, str]], custom: Mapping[str, Mapping[str, str]]
) -> dict[str, bytes]:
    """Return the files of the catalogues, by their paths below a node's folder."""
    names = dict.fromkeys((*catalogs, *custom))
    return {
        f"etc/catalog/{name}.properties": properties({**catalogs.get(name, {}), **custom.get(name, {})})
        for name in names
    }


def own_catalogs(metastore_uri: str) -> dict[str, dict[str, str]]:
    """Return the catalogues of every cluster: Hive's tables, tables in memory, generated data."""
    hive = {
        "connector.name": "hive-hadoop2",
        "hive.metastore.uri": metastore_uri,
        "hive.non-managed-table-writes-enabled": "true",
        # Other programs change the tables, too: their changes must be visible at once.
        "hive.metastore-cache-ttl": "0s",
        "hive.parquet.use-column-names": "true",
        "hive.orc.use-column-names": "true",
    }
    hive |= {f"hive.allow-{what}": "true" for what in _ALLOWED_IN_HIVE}
    return {HIVE: hive, "memory": {"connector.name": "memory"}, "tpch": {"connector.name": "tpch"}}


def properties(settings: Mapping[str, str]) -> bytes:
    """Return the text of a Java properties file, for values with any characters."""
    return "".join(f"{key}={_escaped(value)}\n" for key, value in settings.items()).encode("ascii")


def _settings(place: NodeLayout, environment: str, coordinator: str, version: str) -> dict[str, str]:
    is_coordinator = place.role is NodeRole.MASTER
    settings = {
        "node.environment": environment,
        "node.id": place.name,
        "node.internal-address": place.address,
        "node.bind-ip": place.address,
        "coordinator": "true" if is_coordinator else "false",
        "http-server.http.port": str(HTTP_PORT),
        "jmx.rmiregistry.port": str(_MANAGEMENT_PORT),
        "discovery.uri": coordinator,
        "plugin.dir": str(place.folder / "no-plugins"),
        "plugin.bundles": ",".join(map(str, place.plugins)),
        "catalog.config-dir": str(place.folder / "etc" / "catalog"),
        "presto.version": version,
        "shutdown.grace-period": f"{GRACE_SECONDS}s",
        "query.max-memory": f"{_ALL_NODES_MEGABYTES}MB",
        "query.max-total-memory": f"{_ALL_NODES_MEGABYTES}MB",
        "query.max-memory-per-node": f"{int(place.heap_megabytes * _USER_SHARE)}MB",
        "query.max-total-memory-per-node": f"{int(place.heap_megabytes * _TOTAL_SHARE)}MB",
        "exchange.max-error-duration": f"{_ERROR_SECONDS}s",
    }
    if is_coordinator:
        settings |= {
            "discovery-server.enabled": "true",
            "node-scheduler.include-coordinator": "false",
            "query-manager.required-workers": "1",
            "query-manager.required-workers-max-wait": f"{WORKERS_WAIT_SECONDS}s",
            "query.remote-task.max-error-duration": f"{_ERROR_SECONDS}s",
            "query.client.timeout": f"{_CLIENT_SECONDS}s",
            "failure-detector.warmup-interval": "100ms",
        }
    return settings


def _escaped(value: str) -> str:
    """Escape the special characters of a properties file; characters beyond ASCII as UTF-16 units."""
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    if text.startswith(" "):
        text = f"\\{text}"
    units = text.encode("utf-16-be")
    codes = [int.from_bytes(units[place : place + 2]) for place in range(0, len(units), 2)]
    return "".join(chr(code) if 0x20 <= code < 0x7F else f"\\u{code:04x}" for code in codes)


_DEFAULT_PORT: Final = 5432


async def tap_catalogs(taps: DbTaps, account_id: int, wanted: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the settings of catalogues by name; they contain passwords: write them only to files of mode 0600.

    Raises `ClusterFailure` for a tap that is missing or that Presto cannot reach.
    """
    catalogs = {}
    for name, tap_id in wanted.items():
        with translated(NotFound, Invalid, to=ClusterFailure, about=f"catalogue {name}"):
            tap = await taps.opened(account_id, tap_id)
        catalogs[name] = connector(name, tap)
    return catalogs


def connector(catalog: str, tap: OpenTap) -> dict[str, str]:
    """Return the settings of a catalogue for a tap. Raises `ClusterFailure` for one that Presto cannot reach."""
    if tap.connection.engine is not EngineName.POSTGRESQL:
        raise ClusterFailure(
            f"catalogue {catalog}: DB tap {tap.id} ({tap.name}) is {tap.connection.db_type}; Presto reads taps of "
            "postgresql and redshift"
        )
    from psycopg.conninfo import conninfo_to_dict

    facts = conninfo_to_dict(tap.connection.target)
    host = str(facts.get("host") or "")
    if not host or host.startswith("/"):
        raise ClusterFailure(
            f"catalogue {catalog}: DB tap {tap.id} ({tap.name}) names a socket of this machine; Presto connects by "
            "host and port: give the tap a db_host"
        )
    place = f"[{host}]" if ":" in host else host
    user = str(facts.get("user") or os.environ.get("USER") or "")
    database = quote(str(facts.get("dbname") or user), safe="")
    settings = {
        "connector.name": "postgresql",
        "connection-url": f"jdbc:postgresql://{place}:{facts.get('port') or _DEFAULT_PORT}/{database}",
        "connection-user": user,
        "case-insensitive-name-matching": "true",
    }
    if facts.get("password"):
        settings["connection-password"] = str(facts["password"])
    return settings


NAME: Final = "presto"
"""The daemon's name, the same on coordinator and workers."""
_MAIN: Final = "com.facebook.presto.server.PrestoServer"
_OPENED: Final = (
    *("io", "lang", "lang.ref", "lang.reflect", "net", "nio", "security", "text", "time"),
    *("util", "util.concurrent", "util.regex"),
)
"""Java packages that Presto and its plug-ins access by reflection."""


def daemon_of(place: NodeLayout) -> Daemon:
    """Return the server's command line on a node."""
    programs, folder = place.programs, place.folder
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    argv = [
        str(programs.java),
        f"-Dproc_{NAME}",
        f"-Xmx{place.heap_megabytes}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=128m",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        *(archive_options(programs.archive) if programs.archive else []),
        *opened,
        "--add-opens=java.base/sun.security.ssl=ALL-UNNAMED",
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
        # Presto opens Java's management to itself; all its sockets, and Thrift's, must be at the node's address.
        "-Djdk.attach.allowAttachSelf=true",
        f"-Dcom.sun.management.jmxremote.host={place.address}",
        f"-Djava.rmi.server.hostname={place.address}",
        *OPTIONS,
        f"-Dsvc.address={place.address}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dconfig={folder / 'etc' / 'config.properties'}",
        f"-Dlog.levels-file={folder / 'etc' / 'log.properties'}",
        "-cp",
        ":".join(map(str, programs.jars)),
        _MAIN,
    ]
    return Daemon(NAME, argv, {"JAVA_HOME": str(programs.java.parent.parent), "MALLOC_ARENA_MAX": "2"})


_WRONG_SETTING: Final = re.compile(
    r"^\s*\d+\) (.*(?:was not used|Could not coerce value|may not be null|must be|Invalid value).*)$", re.MULTILINE
)
"""A line of the list in which the server reports settings that it cannot use."""


def explain(host: str, output: str, exit_code: int | None) -> str:
    """Return why a server ended: what happened, where, and what to do; `output` is the end of its error output."""
    if (setting := _WRONG_SETTING.search(output)) is not None:
        return (
            f"presto on {host} ended: {setting[1].strip()}. Correct presto_settings.custom_config, then start the "
            "cluster again"
        )
    return explain_daemon("presto", host, output, exit_code)
