"""The settings files of a Presto node: pure functions of its place and its cluster's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.runtimes.presto.addresses import HTTP_PORT
from svc_jupyter.service.runtimes.presto.settings import HIVE, CustomSettings

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
class Place:
    """A node as its settings need it: its name, address and folder, its role, and its folder of plug-ins."""

    name: str
    address: str
    folder: PurePosixPath
    role: NodeRole
    plugins: Sequence[PurePosixPath]
    heap_megabytes: int


def node_files(
    place: Place, environment: str, coordinator: str, version: str, custom: CustomSettings
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


def _settings(place: Place, environment: str, coordinator: str, version: str) -> dict[str, str]:
    is_coordinator = place.role is NodeRole.MASTER
    settings = {
        "node.environment": environment,
        "node.id": place.name,
        "node.internal-address": place.address,
        "node.bind-ip": place.address,
        "coordinator": "true" if is_coordinator else "false",
        "http-server.http.port": str(HTTP_PORT),
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
