"""`clusters`: list, state, health, start and terminate, nodes."""

from __future__ import annotations

from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service

_CONFIGURATION, _NODES = "v1.3", "v2.2"


class ClustersHandler(ServiceHandler):
    """All clusters."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with a page of clusters."""
        await self.pass_on(Call("GET", paths.api("clusters", _CONFIGURATION), self.query))


class ClusterHandler(ServiceHandler):
    """One cluster's configuration."""

    @asks_the_service
    async def get(self, cluster: str) -> None:
        """Answer with the record of an id or a label."""
        await self.pass_on(Call("GET", _path(cluster)))


class ClusterStateHandler(ServiceHandler):
    """A cluster's state."""

    @asks_the_service
    async def get(self, cluster: str) -> None:
        """Answer with the state and the nodes."""
        await self.pass_on(Call("GET", _path(cluster, "state")))

    @asks_the_service
    async def put(self, cluster: str) -> None:
        """Start or terminate it: `{"state": "start"|"terminate"}`."""
        await self.pass_on(Call("PUT", _path(cluster, "state"), body=self.body))


class ClusterPartHandler(ServiceHandler):
    """Health and metrics."""

    @asks_the_service
    async def get(self, cluster: str, part: str) -> None:
        """Answer with the latest health, or with samples of a metric."""
        await self.pass_on(Call("GET", _path(cluster, part), self.query))


class ClusterNodesHandler(ServiceHandler):
    """Adding and removing workers; the answer is the command of the operation."""

    @asks_the_service
    async def post(self, cluster: str) -> None:
        """Add workers: `{"node_count": 1}`."""
        await self.pass_on(Call("POST", _path(cluster, "nodes", _NODES), body=self.body))

    @asks_the_service
    async def delete(self, cluster: str) -> None:
        """Remove a worker, by default one that the service selects; `private_dns` names it."""
        await self.pass_on(Call("DELETE", _path(cluster, "nodes", _NODES), self.query))


def _path(cluster: str, part: str = "", version: str = _CONFIGURATION) -> str:
    resource = f"clusters/{quote(cluster, safe='')}"
    return paths.api(f"{resource}/{part}" if part else resource, version)


_CLUSTER = r"clusters/([^/]+)"
CLUSTER_HANDLERS = (
    (r"clusters", ClustersHandler),
    (_CLUSTER, ClusterHandler),
    (rf"{_CLUSTER}/state", ClusterStateHandler),
    (rf"{_CLUSTER}/(live_cluster_health|metrics)", ClusterPartHandler),
    (rf"{_CLUSTER}/nodes", ClusterNodesHandler),
)
