"""Clusters: configuration, state, health, nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import ClusterList, ClusterMessage, ClusterRecord, ClusterStateRecord
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client.async_handles import AsyncCommand
from svc_jupyter.client.calls import Call, Flow, fetch, told_if_known
from svc_jupyter.client.cluster_waiting import until_state
from svc_jupyter.client.handles import Command
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_VERSION = "v1.3"
_NODES_VERSION = "v2.2"
_RESOURCE = paths.api("clusters", _VERSION)
Reference = str | int
OnState = Callable[[ClusterStateRecord], None]


class _ClusterFlows:
    """What both kinds of client say to the service about clusters."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int, state: str | None, label: str | None) -> Flow[ClusterList]:
        params = {"page": page, "per_page": per_page, "state": state, "label": label}
        return fetch(self.link, Call("GET", _RESOURCE, params), ClusterList)

    def get(self, cluster: Reference) -> Flow[ClusterRecord]:
        return fetch(self.link, Call("GET", _path(cluster)), ClusterRecord)

    def create(self, configuration: Mapping[str, Any]) -> Flow[ClusterRecord]:
        call = Call("POST", _RESOURCE, body=dict(configuration), headers=idempotency(str(uuid4())))
        return fetch(self.link, call, ClusterRecord)

    def update(self, cluster: Reference, changes: Mapping[str, Any]) -> Flow[ClusterRecord]:
        return fetch(self.link, Call("PUT", _path(cluster), body=dict(changes)), ClusterRecord)

    def clone(self, cluster: Reference, changes: Mapping[str, Any]) -> Flow[ClusterRecord]:
        call = Call("POST", _path(cluster, "clone"), body=dict(changes), headers=idempotency(str(uuid4())))
        return fetch(self.link, call, ClusterRecord)

    def delete(self, cluster: Reference) -> Flow[ClusterMessage]:
        return fetch(self.link, Call("DELETE", _path(cluster)), ClusterMessage)

    def reassign_label(self, label: str, cluster: Reference) -> Flow[ClusterMessage]:
        body = {"destination_cluster": cluster, "label": label}
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/reassign-label", body=body), ClusterMessage)

    def state(self, cluster: Reference) -> Flow[ClusterStateRecord]:
        """Fetch the state; a service without the extension tells it in the configuration, without nodes."""
        call = Call("GET", _path(cluster, "state"))
        told = yield from told_if_known(fetch(self.link, call, ClusterStateRecord))
        if told is not None:
            return told
        record = yield from self.get(cluster)
        return ClusterStateRecord(state=record.state, cluster_id=record.id, config_id=record.id)

    def change_state(self, cluster: Reference, wanted: str) -> Flow[ClusterMessage]:
        return fetch(self.link, Call("PUT", _path(cluster, "state"), body={"state": wanted}), ClusterMessage)

    def until(
        self, cluster: Reference, state: str, timeout: float | None, on_state: OnState | None
    ) -> Flow[ClusterStateRecord]:
        return until_state(lambda: self.state(cluster), self.link.retries, str(cluster), state, timeout, on_state)

    def health(self, cluster: Reference) -> Flow[ClusterHealth]:
        return fetch(self.link, Call("GET", _path(cluster, "live_cluster_health")), ClusterHealth)

    def metrics(
        self, cluster: Reference, names: tuple[str, ...] | None, interval: str | int
    ) -> Flow[ClusterMetrics | None]:
        call = Call("GET", _path(cluster, "metrics"), {"metric": names or None, "interval": interval})
        return told_if_known(fetch(self.link, call, ClusterMetrics))

    def add_nodes(self, cluster: Reference, count: int) -> Flow[CommandRecord]:
        path = _path(cluster, "nodes", _NODES_VERSION)
        call = Call("POST", path, body={"node_count": count}, headers=idempotency(str(uuid4())))
        return self.link.learn_from((yield from fetch(self.link, call, CommandRecord)))

    def remove_node(self, cluster: Reference, private_dns: str | None) -> Flow[CommandRecord]:
        call = Call("DELETE", _path(cluster, "nodes", _NODES_VERSION), {"private_dns": private_dns})
        return self.link.learn_from((yield from fetch(self.link, call, CommandRecord)))


def _path(cluster: Reference, part: str = "", version: str = _VERSION) -> str:
    place = f"clusters/{quote(str(cluster), safe='')}"
    return paths.api(f"{place}/{part}" if part else place, version)


class Clusters:
    """Clusters, as `client.clusters`; each is named by its id or by a label of it."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _ClusterFlows(client._link)

    def list(
        self, *, page: int = 1, per_page: int = 10, state: str | None = None, label: str | None = None
    ) -> ClusterList:
        """Return one page of the clusters that you may read, newest first."""
        return self._client._run(self._flows.page(page, per_page, state, label))

    def iter(self, *, state: str | None = None) -> Iterator[ClusterRecord]:
        """Yield all clusters that you may read, newest first."""
        pages: Pages[ClusterRecord] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE, state=state)
            yield from pages.take(listing.clusters, listing.paging_info)

    def get(self, cluster: Reference) -> ClusterRecord:
        """Return a cluster's configuration and state; secrets are `<hidden>`. NotFound for an unknown one."""
        return self._client._run(self._flows.get(cluster))

    def create(self, **configuration: Any) -> ClusterRecord:
        """Store a cluster, which is DOWN: `create(label=["etl"], node_configuration={"initial_nodes": 2})`."""
        return self._client._run(self._flows.create(configuration))

    def update(self, cluster: Reference, **changes: Any) -> ClusterRecord:
        """Change the given attributes; a running cluster takes most of them on at its next start."""
        return self._client._run(self._flows.update(cluster, changes))

    def clone(self, cluster: Reference, label: str, **changes: Any) -> ClusterRecord:
        """Store a cluster like this one, with a label of its own and what else is to differ."""
        return self._client._run(self._flows.clone(cluster, {**changes, "label": [label]}))

    def delete(self, cluster: Reference) -> ClusterMessage:
        """Delete a cluster that is DOWN; Conflict for any other."""
        return self._client._run(self._flows.delete(cluster))

    def reassign_label(self, label: str, cluster: Reference) -> ClusterMessage:
        """Give a label to a cluster, whichever had it."""
        return self._client._run(self._flows.reassign_label(label, cluster))

    def state(self, cluster: Reference) -> ClusterStateRecord:
        """Return where a cluster stands, with its nodes."""
        return self._client._run(self._flows.state(cluster))

    def start(self, cluster: Reference) -> ClusterMessage:
        """Begin to start a cluster that is DOWN; `wait` tells when it is UP. Conflict in any other state."""
        return self._client._run(self._flows.change_state(cluster, "start"))

    def terminate(self, cluster: Reference) -> ClusterMessage:
        """Begin to end a cluster, with what runs on it; `wait(cluster, "DOWN")` tells when it is gone."""
        return self._client._run(self._flows.change_state(cluster, "terminate"))

    def wait(
        self, cluster: Reference, state: str = "UP", timeout: float | None = None, on_state: OnState | None = None
    ) -> ClusterStateRecord:
        """Wait until a cluster is UP, or DOWN, for any length of time; `on_state` is called at every look.

        Raises ClusterFailed when it will not come to that state, WaitTimeout after `timeout` seconds.
        """
        return self._client._run(self._flows.until(cluster, state, timeout, on_state))

    def health(self, cluster: Reference) -> ClusterHealth:
        """Return the live health of a cluster that is UP; Conflict for any other."""
        return self._client._run(self._flows.health(cluster))

    def metrics(self, cluster: Reference, *names: str, interval: str | int = "hour") -> ClusterMetrics | None:
        """Return samples of a running cluster's health, over `minute`, `hour`, `day` or so many seconds.

        None where the service keeps none. Without names all that are kept.
        """
        return self._client._run(self._flows.metrics(cluster, names, interval))

    def add_nodes(self, cluster: Reference, count: int = 1) -> Command:
        """Begin to add workers to a running cluster; the command tells how that goes. `max_nodes` is no limit."""
        return Command(self._client, self._client._run(self._flows.add_nodes(cluster, count)))

    def remove_node(self, cluster: Reference, private_dns: str | None = None) -> Command:
        """Begin to remove a worker gracefully, by default the idlest; the command tells how that goes."""
        return Command(self._client, self._client._run(self._flows.remove_node(cluster, private_dns)))


class AsyncClusters:
    """Clusters, as `client.clusters`; each is named by its id or by a label of it."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _ClusterFlows(client._link)

    async def list(
        self, *, page: int = 1, per_page: int = 10, state: str | None = None, label: str | None = None
    ) -> ClusterList:
        """Return one page of the clusters that you may read, newest first."""
        return await self._client._run(self._flows.page(page, per_page, state, label))

    async def iter(self, *, state: str | None = None) -> AsyncIterator[ClusterRecord]:
        """Yield all clusters that you may read, newest first."""
        pages: Pages[ClusterRecord] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE, state=state)
            for record in pages.take(listing.clusters, listing.paging_info):
                yield record

    async def get(self, cluster: Reference) -> ClusterRecord:
        """Return a cluster's configuration and state; secrets are `<hidden>`. NotFound for an unknown one."""
        return await self._client._run(self._flows.get(cluster))

    async def create(self, **configuration: Any) -> ClusterRecord:
        """Store a cluster, which is DOWN: `create(label=["etl"], node_configuration={"initial_nodes": 2})`."""
        return await self._client._run(self._flows.create(configuration))

    async def update(self, cluster: Reference, **changes: Any) -> ClusterRecord:
        """Change the given attributes; a running cluster takes most of them on at its next start."""
        return await self._client._run(self._flows.update(cluster, changes))

    async def clone(self, cluster: Reference, label: str, **changes: Any) -> ClusterRecord:
        """Store a cluster like this one, with a label of its own and what else is to differ."""
        return await self._client._run(self._flows.clone(cluster, {**changes, "label": [label]}))

    async def delete(self, cluster: Reference) -> ClusterMessage:
        """Delete a cluster that is DOWN; Conflict for any other."""
        return await self._client._run(self._flows.delete(cluster))

    async def reassign_label(self, label: str, cluster: Reference) -> ClusterMessage:
        """Give a label to a cluster, whichever had it."""
        return await self._client._run(self._flows.reassign_label(label, cluster))

    async def state(self, cluster: Reference) -> ClusterStateRecord:
        """Return where a cluster stands, with its nodes."""
        return await self._client._run(self._flows.state(cluster))

    async def start(self, cluster: Reference) -> ClusterMessage:
        """Begin to start a cluster that is DOWN; `wait` tells when it is UP. Conflict in any other state."""
        return await self._client._run(self._flows.change_state(cluster, "start"))

    async def terminate(self, cluster: Reference) -> ClusterMessage:
        """Begin to end a cluster, with what runs on it; `wait(cluster, "DOWN")` tells when it is gone."""
        return await self._client._run(self._flows.change_state(cluster, "terminate"))

    async def wait(
        self,
        cluster: Reference,
        state: str = "UP",
        timeout: float | None = None,  # noqa: ASYNC109  as the blocking client has it
        on_state: OnState | None = None,
    ) -> ClusterStateRecord:
        """Wait until a cluster is UP, or DOWN, for any length of time; `on_state` is called at every look.

        Raises ClusterFailed when it will not come to that state, WaitTimeout after `timeout` seconds.
        """
        return await self._client._run(self._flows.until(cluster, state, timeout, on_state))

    async def health(self, cluster: Reference) -> ClusterHealth:
        """Return the live health of a cluster that is UP; Conflict for any other."""
        return await self._client._run(self._flows.health(cluster))

    async def metrics(self, cluster: Reference, *names: str, interval: str | int = "hour") -> ClusterMetrics | None:
        """Return samples of a running cluster's health, over `minute`, `hour`, `day` or so many seconds.

        None where the service keeps none. Without names all that are kept.
        """
        return await self._client._run(self._flows.metrics(cluster, names, interval))

    async def add_nodes(self, cluster: Reference, count: int = 1) -> AsyncCommand:
        """Begin to add workers to a running cluster; the command tells how that goes. `max_nodes` is no limit."""
        return AsyncCommand(self._client, await self._client._run(self._flows.add_nodes(cluster, count)))

    async def remove_node(self, cluster: Reference, private_dns: str | None = None) -> AsyncCommand:
        """Begin to remove a worker gracefully, by default the idlest; the command tells how that goes."""
        return AsyncCommand(self._client, await self._client._run(self._flows.remove_node(cluster, private_dns)))
