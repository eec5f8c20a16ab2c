"""The lines of `presto_settings.custom_config`: their meaning, and which are forbidden.

| line | goes into |
|---|---|
| `catalog.NAME.db-tap=ID` | catalogue NAME: the tables of a DB tap, which must be of PostgreSQL |
| `catalog.NAME.KEY=value` | the settings of catalogue NAME, a new one where it has a `connector.name` |
| `jvm.max-heap=2g` | the memory of each node's server |
| `coordinator.KEY=value`, `worker.KEY=value` | the settings of the coordinator, of the workers |
| `KEY=value` | the settings of every node |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.service.ground.errors import Invalid

HIVE: Final = "hive"
TAP_KEY: Final = "db-tap"
OWN_CATALOGS: Final = (HIVE, "memory", "tpch")
"""The catalogues of every cluster in addition to `system`."""
CONNECTORS: Final = ("hive-hadoop2", "memory", "postgresql", "tpch")
_FIELD: Final = "presto_settings.custom_config"
_CATALOG: Final = re.compile(r"[a-z][a-z0-9_]*")
_HEAP: Final = re.compile(r"(\d{1,6})([mg])")
_LEAST_HEAP_MEGABYTES: Final = 512
_WIRING: Final = (
    "catalog.config-dir",
    "coordinator",
    "discovery-server.",
    "discovery.uri",
    "http-server.",
    "internal-communication.",
    "jmx.",
    "node.",
    "plugin.",
    "presto.version",
    "shutdown.",
    "thrift.server.port",
)
_CATALOG_WIRING: Final = ("connection-password", "connection-url", "connection-user", "hive.metastore.uri")


@dataclass(frozen=True, slots=True)
class CustomSettings:
    """The lines, grouped by target."""

    of_nodes: Mapping[NodeRole, Mapping[str, str]]
    catalogs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings of catalogues by the catalogue's name."""
    taps: Mapping[str, int] = field(default_factory=dict)
    """Ids of DB taps by catalogue name."""
    heap_megabytes: int | None = None


def custom_settings(configuration: ClusterConfiguration) -> CustomSettings:
    """Return the parsed `custom_config` of a cluster. Raises `Invalid` for what would break the cluster's wiring."""
    of_nodes: dict[NodeRole, dict[str, str]] = {role: {} for role in NodeRole}
    catalogs: dict[str, dict[str, str]] = {}
    taps: dict[str, int] = {}
    heap = None
    for key, value in configuration.custom_settings.items():
        scope, _, rest = key.partition(".")
        if scope == "catalog" and key != "catalog.config-dir":
            name, _, setting = rest.partition(".")
            _check_catalog(key, name, setting)
            if setting == TAP_KEY:
                taps[name] = _tap(key, name, value)
            else:
                catalogs.setdefault(name, {})[setting] = value
        elif key == "jvm.max-heap":
            heap = _megabytes(key, value)
        elif scope in ("coordinator", "worker") and rest:
            _check_wiring(key, rest)
            of_nodes[NodeRole.MASTER if scope == "coordinator" else NodeRole.WORKER][rest] = value
        else:
            _check_wiring(key, key)
            for settings in of_nodes.values():
                settings[key] = value
    _check_connectors(catalogs, taps)
    return CustomSettings(of_nodes, catalogs, taps, heap)


def _check_wiring(key: str, setting: str) -> None:
    if any(setting == wired or (wired.endswith(".") and setting.startswith(wired)) for wired in _WIRING):
        raise Invalid(f"{_FIELD}: {key} is set by the service, which wires the cluster's nodes with it: leave it out")


def _check_catalog(key: str, name: str, setting: str) -> None:
    if not _CATALOG.fullmatch(name) or name == "system" or not setting:
        raise Invalid(
            f"{_FIELD}: {key} is not of the form catalog.NAME.KEY, with a NAME of small letters, digits and '_' "
            "other than system"
        )
    if setting in _CATALOG_WIRING:
        raise Invalid(
            f"{_FIELD}: {key} is set by the service; for the tables of a database make a DB tap, and name it by "
            f"catalog.{name}.{TAP_KEY}"
        )


def _tap(key: str, name: str, value: str) -> int:
    if name in OWN_CATALOGS:
        raise Invalid(f"{_FIELD}: {key}: every cluster has a catalogue {name} of its own; choose another name")
    if not value.isdecimal() or not 0 < int(value) < 2**63:
        raise Invalid(f"{_FIELD}: {key} must be the id of a DB tap")
    return int(value)


def _check_connectors(catalogs: Mapping[str, Mapping[str, str]], taps: Mapping[str, int]) -> None:
    for name, settings in catalogs.items():
        connector = settings.get("connector.name")
        if connector is not None and (name in OWN_CATALOGS or name in taps):
            raise Invalid(f"{_FIELD}: catalog.{name}.connector.name is set by the service: leave it out")
        if name in OWN_CATALOGS or name in taps:
            continue
        if connector not in CONNECTORS:
            raise Invalid(f"{_FIELD}: catalog.{name} needs a {TAP_KEY}, or a connector.name of {', '.join(CONNECTORS)}")


def _megabytes(key: str, value: str) -> int:
    found = _HEAP.fullmatch(value.lower())
    megabytes = 0 if found is None else int(found[1]) * (1024 if found[2] == "g" else 1)
    if megabytes < _LEAST_HEAP_MEGABYTES:
        raise Invalid(f"{_FIELD}: {key} must be a size of at least {_LEAST_HEAP_MEGABYTES}m, such as 2g")
    return megabytes
