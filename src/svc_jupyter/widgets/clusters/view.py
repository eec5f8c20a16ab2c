"""What a panel shows of a cluster, fetched at once: its configuration, its state, and while it is UP its health."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
    from svc_jupyter.api.clusters import ClusterNode, ClusterRecord, ClusterStateRecord
    from svc_jupyter.client import Client

PLOTTED = ("cpu_usage", "resourcemanager_heap", "disk_usage")
PLOTTED_WITH_YARN = (*PLOTTED, "yarn_memory", "containers_pending")
PLOT_SECONDS = 600
_TYPES = {"hadoop": "Hadoop", "spark": "Spark", "presto": "Presto"}


@dataclass(frozen=True)
class ClusterView:
    """One cluster as it was at `as_of`. `unread` says why there is no health of a cluster that is UP."""

    record: ClusterRecord
    state: ClusterStateRecord
    health: ClusterHealth | None
    metrics: ClusterMetrics | None
    as_of: datetime
    unread: str | None = None

    @property
    def name(self) -> str:
        """How the cluster is called in a sentence: its first label, or its id."""
        return name_of(self.record)

    @property
    def phase(self) -> str:
        """The state's word: DOWN, PENDING, UP or TERMINATING."""
        return str(self.state.state)

    @property
    def workers(self) -> list[ClusterNode]:
        """The nodes besides the coordinator."""
        return [node for node in self.state.nodes if str(node.role) == "worker"]

    @property
    def type(self) -> str:
        """What the cluster runs."""
        return type_of(self.record)

    @property
    def minimum(self) -> int:
        """How many workers it starts with, and a Hadoop cluster never goes below."""
        return size_of(self.record, "initial_nodes")

    @property
    def maximum(self) -> int:
        """How many workers it should have at most; the service does not check it."""
        return size_of(self.record, "max_nodes")

    @property
    def is_moving(self) -> bool:
        """Whether it is on its way to another state, so that news are near."""
        return self.phase in ("PENDING", "TERMINATING")


def name_of(record: ClusterRecord) -> str:
    """Return how a cluster is called: by its first label, or by its id where it has none."""
    return record.label[0] if record.label else str(record.id)


def type_of(record: ClusterRecord) -> str:
    """Return `Hadoop`, `Spark` or `Presto`, as it follows from the settings."""
    if _on(record.presto_settings, "enable_presto"):
        return _TYPES["presto"]
    return _TYPES["spark" if _on(record.hadoop_settings, "use_spark") else "hadoop"]


def size_of(record: ClusterRecord, name: str) -> int:
    """Return a number of workers of the configuration; 0 where another service tells none."""
    value = (record.node_configuration or {}).get(name)
    return value if isinstance(value, int) else 0


def fetch_view(client: Client, cluster: str | int, now: datetime | None = None) -> ClusterView:
    """Ask for all that a panel shows of a cluster. Raises the client's errors."""
    record = client.clusters.get(cluster)
    state = client.clusters.state(record.id)
    health, unread = _health(client, record.id) if str(state.state) == "UP" else (None, None)
    metrics = client.clusters.metrics(record.id, *_plotted(record), interval=PLOT_SECONDS) if health else None
    return ClusterView(record, state, health, metrics, now or datetime.now(UTC), unread)


def _health(client: Client, cluster_id: int) -> tuple[ClusterHealth | None, str | None]:
    """Return the health, or why the service cannot tell it: the rest of the panel is shown all the same."""
    from svc_jupyter.client.errors import StatusError

    try:
        return client.clusters.health(cluster_id), None
    except StatusError as error:
        return None, error.message


def _plotted(record: ClusterRecord) -> tuple[str, ...]:
    return PLOTTED_WITH_YARN if record.enable_ganglia_monitoring else PLOTTED


def _on(settings: dict[str, Any] | None, name: str) -> bool:
    return bool((settings or {}).get(name))
