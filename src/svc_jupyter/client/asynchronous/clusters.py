"""Clusters: configuration, state, health, nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import ClusterList, ClusterMessage, ClusterRecord, ClusterStateRecord
from svc_jupyter.client.asynchronous.handles import AsyncCommand
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.clusters import ClusterFlows, OnState, Reference
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncClusters:
    """Clusters, as `client.clusters`; a cluster is named by its id or one of its labels."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = ClusterFlows(performer.link)

    async def list(
        self, *, page: int = 1, per_page: int = 10, state: str | None = None, label: str | None = None
    ) -> ClusterList:
        """Return one page of the clusters that you may read, newest first."""
        return await self._performer.run(self._flows.page(page, per_page, state, label))

    def iter(self, *, state: str | None = None) -> AsyncIterator[ClusterRecord]:
        """Yield all clusters that you may read, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE, state, None),
            lambda found: (found.clusters, found.paging_info),
        )

    async def get(self, cluster: Reference) -> ClusterRecord:
        """Return a cluster's configuration and state; secrets are `<hidden>`. Raises NotFound for an unknown one."""
        return await self._performer.run(self._flows.get(cluster))

    async def create(self, **configuration: Any) -> ClusterRecord:
        """Create a cluster, initially DOWN: `create(label=["etl"], node_configuration={"initial_nodes": 2})`."""
        return await self._performer.run(self._flows.create(configuration))

    async def update(self, cluster: Reference, **changes: Any) -> ClusterRecord:
        """Change the given attributes; most of them apply to a running cluster at its next start."""
        return await self._performer.run(self._flows.update(cluster, changes))

    async def clone(self, cluster: Reference, label: str, **changes: Any) -> ClusterRecord:
        """Create a copy of a cluster with a new label and the given changes."""
        return await self._performer.run(self._flows.clone(cluster, {**changes, "label": [label]}))

    async def delete(self, cluster: Reference) -> ClusterMessage:
        """Delete a cluster that is DOWN; Conflict for any other."""
        return await self._performer.run(self._flows.delete(cluster))

    async def reassign_label(self, label: str, cluster: Reference) -> ClusterMessage:
        """Move a label to a cluster from the one that had it."""
        return await self._performer.run(self._flows.reassign_label(label, cluster))

    async def state(self, cluster: Reference) -> ClusterStateRecord:
        """Return a cluster's state and its nodes."""
        return await self._performer.run(self._flows.state(cluster))

    async def start(self, cluster: Reference) -> ClusterMessage:
        """Begin to start a cluster that is DOWN; `wait` returns when it is UP. Raises Conflict in any other state."""
        return await self._performer.run(self._flows.change_state(cluster, "start"))

    async def terminate(self, cluster: Reference) -> ClusterMessage:
        """Begin to terminate a cluster and what runs on it; `wait(cluster, "DOWN")` returns when it has ended."""
        return await self._performer.run(self._flows.change_state(cluster, "terminate"))

    async def wait(
        self,
        cluster: Reference,
        state: str = "UP",
        timeout: float | None = None,  # noqa: ASYNC109  as the blocking client has it
        on_state: OnState | None = None,
    ) -> ClusterStateRecord:
        """Wait until a cluster is UP or DOWN, without a limit by default; `on_state` is called at each check.

        Raises ClusterFailed when it will not reach that state, WaitTimeout after `timeout` seconds.
        """
        return await self._performer.run(self._flows.until(cluster, state, timeout, on_state))

    async def health(self, cluster: Reference) -> ClusterHealth:
        """Return the live health of a cluster that is UP; raises Conflict for any other."""
        return await self._performer.run(self._flows.health(cluster))

    async def metrics(self, cluster: Reference, *names: str, interval: str | int = "hour") -> ClusterMetrics | None:
        """Return samples of a running cluster's health, over `minute`, `hour`, `day` or a number of seconds.

        Returns None when the service keeps none. Without names, returns all metrics.
        """
        return await self._performer.run(self._flows.metrics(cluster, names, interval))

    async def add_nodes(self, cluster: Reference, count: int = 1) -> AsyncCommand:
        """Begin to add workers to a running cluster; the command reports progress. `max_nodes` is not a limit."""
        return AsyncCommand(self._performer, await self._performer.run(self._flows.add_nodes(cluster, count)))

    async def remove_node(self, cluster: Reference, private_dns: str | None = None) -> AsyncCommand:
        """Begin to remove a worker gracefully, by default the least busy; the returned command reports progress."""
        return AsyncCommand(self._performer, await self._performer.run(self._flows.remove_node(cluster, private_dns)))
