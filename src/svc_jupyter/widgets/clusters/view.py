"""The data of a cluster's panel, fetched together: its configuration, its state and, when UP, its health."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics, ClusterPage
    from svc_jupyter.api.clusters import ClusterNode, ClusterRecord, ClusterStateRecord
    from svc_jupyter.client import Client

PLOTTED = ("cpu_usage", "resourcemanager_heap", "disk_usage")
PLOTTED_WITH_YARN = (*PLOTTED, "yarn_memory", "containers_pending")
PLOT_SECONDS = 600
_TYPES = {"hadoop": "Hadoop", "spark": "Spark", "presto": "Presto"}
_EXTERNAL_TYPES = {
    "presto_url": "Presto",
    "trino_url": "Trino",
    "hiveserver2": "HiveServer2",
    "spark_connect": "Spark Connect",
}
"""What others run, by the name of its address."""
_HOST = re.compile(r"(?:jdbc:)?(?:\w+://)?(\[[^\]]*\]|[^:/;]*)")


@dataclass(frozen=True)
class ClusterView:
    """One cluster as of `as_of`. `unread` says why an UP cluster has no health data."""

    record: ClusterRecord
    state: ClusterStateRecord
    health: ClusterHealth | None
    metrics: ClusterMetrics | None
    as_of: datetime
    unread: str | None = None

    @property
    def name(self) -> str:
        """The cluster's name in messages: its first label, or its id."""
        return name_of(self.record)

    @property
    def phase(self) -> str:
        """The state: DOWN, PENDING, UP or TERMINATING."""
        return str(self.state.state)

    @property
    def workers(self) -> list[ClusterNode]:
        """The nodes besides the coordinator."""
        return [node for node in self.state.nodes if str(node.role) == "worker"]

    @property
    def pages(self) -> list[ClusterPage]:
        """The pages in which its engines show themselves; another scheme could run a script in the notebook."""
        pages = self.health.pages if self.health is not None else []
        return [page for page in pages if page.url.startswith(("http://", "https://"))]

    def containers_on(self, worker: str) -> int | None:
        """Return how many containers run on a worker; None where that is not known."""
        found = self.health.metrics.system.workers if self.health is not None else []
        return next((one.containers for one in found if one.private_dns == worker), None)

    @property
    def type(self) -> str:
        """The engine of the cluster."""
        return type_of(self.record)

    @property
    def is_external(self) -> bool:
        """Whether others run the cluster."""
        return is_external(self.record)

    @property
    def minimum(self) -> int:
        """The number of workers at the start, and the minimum of a Hadoop cluster."""
        return size_of(self.record, "initial_nodes")

    @property
    def maximum(self) -> int:
        """The configured maximum of workers; the service does not enforce it."""
        return size_of(self.record, "max_nodes")

    @property
    def is_moving(self) -> bool:
        """Whether it is changing its state, so that updates are due soon."""
        return self.phase in ("PENDING", "TERMINATING")


def name_of(record: ClusterRecord) -> str:
    """Return a cluster's name in messages: its first label, or its id."""
    return record.label[0] if record.label else str(record.id)


def type_of(record: ClusterRecord) -> str:
    """Return `Hadoop`, `Spark`, `Presto`, or what others run, such as `Trino`, from the settings."""
    if is_external(record):
        return _EXTERNAL_TYPES.get(_address(record)[0], "cluster")
    if _on(record.presto_settings, "enable_presto"):
        return _TYPES["presto"]
    return _TYPES["spark" if _on(record.hadoop_settings, "use_spark") else "hadoop"]


def is_external(record: ClusterRecord) -> bool:
    """Return whether others run a cluster."""
    return record.provider == "external"


def engine_words(record: ClusterRecord) -> str:
    """Return `Hadoop`, or of a cluster that others run `external · Trino at trino.example.com`."""
    kind = type_of(record)
    if not is_external(record):
        return kind
    host = _HOST.match(_address(record)[1])
    return f"external · {kind} at {host[1]}" if host and host[1] else f"external · {kind}"


def _address(record: ClusterRecord) -> tuple[str, str]:
    """Return the name of an external cluster's address, and the address."""
    external = record.external or {}
    return next(((name, str(external[name])) for name in _EXTERNAL_TYPES if external.get(name)), ("", ""))


def size_of(record: ClusterRecord, name: str) -> int:
    """Return a number of workers of the configuration; 0 if the service does not report it."""
    value = (record.node_configuration or {}).get(name)
    return value if isinstance(value, int) else 0


def fetch_view(client: Client, cluster: str | int, now: datetime | None = None) -> ClusterView:
    """Fetch all data of a cluster's panel. Raises the client's errors."""
    record = client.clusters.get(cluster)
    state = client.clusters.state(record.id)
    health, unread = _health(client, record.id) if str(state.state) == "UP" else (None, None)
    metrics = client.clusters.metrics(record.id, *_plotted(record), interval=PLOT_SECONDS) if health else None
    return ClusterView(record, state, health, metrics, now or datetime.now(UTC), unread)


def _health(client: Client, cluster_id: int) -> tuple[ClusterHealth | None, str | None]:
    """Return the health, or why the service cannot report it; the rest of the panel is shown anyway."""
    from svc_jupyter.client.errors import StatusError

    try:
        return client.clusters.health(cluster_id), None
    except StatusError as error:
        return None, error.message


def _plotted(record: ClusterRecord) -> tuple[str, ...]:
    return PLOTTED_WITH_YARN if record.enable_ganglia_monitoring else PLOTTED


def _on(settings: dict[str, Any] | None, name: str) -> bool:
    return bool((settings or {}).get(name))
