"""YARN's REST API: the cluster's figures, its nodes, its applications, and what a node holds."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent, unless_silent

RUNNING = "RUNNING"
DECOMMISSIONING = "DECOMMISSIONING"
UNHEALTHY = "UNHEALTHY"
LOST = "LOST"
ACTIVE_STATES = ("NEW", RUNNING, UNHEALTHY, DECOMMISSIONING)
GONE_STATES = ("DECOMMISSIONED", LOST, "SHUTDOWN", "REBOOTED")
HIVE_SERVER: Final = "HiveServer2"
"""The name of HiveServer2's own application."""
_ENDED_CONTAINERS = frozenset({"DONE", "COMPLETE", "EXITED_WITH_SUCCESS", "EXITED_WITH_FAILURE"})


@dataclass(frozen=True, slots=True)
class YarnFigures:
    """The figures of a whole cluster; memory in MB."""

    memory_total: int
    memory_used: int
    containers_running: int
    containers_pending: int
    applications_running: int
    nodes_active: int

    @property
    def memory_percent(self) -> float:
        """The share of YARN's memory in containers, 0..100; 0 without a node."""
        return 100 * self.memory_used / self.memory_total if self.memory_total > 0 else 0.0


@dataclass(frozen=True, slots=True)
class YarnNode:
    """A node as the ResourceManager sees it."""

    host: str
    state: str
    containers: int

    @property
    def is_active(self) -> bool:
        """Whether it is still part of the cluster."""
        return self.state in ACTIVE_STATES


@dataclass(frozen=True, slots=True)
class YarnApplication:
    """An application; `progress` is 0..100."""

    id: str
    name: str
    state: str
    final_status: str
    progress: float

    def __str__(self) -> str:
        """Return its name for users."""
        return f"{self.id} ({self.name})" if self.name else self.id


@dataclass(frozen=True, slots=True)
class Holding:
    """What a NodeManager holds: applications with the number of their running containers.

    0 means that the node keeps something for the application, such as map outputs not yet fetched by reducers.
    """

    containers: Mapping[str, int]

    @property
    def running(self) -> int:
        """Running containers of all applications."""
        return sum(self.containers.values())


class YarnRest:
    """Queries ResourceManagers and NodeManagers; addresses are `http://host:port`. All raise `DaemonSilent`."""

    def __init__(self, http: DaemonHttp) -> None:
        self._http = http
        self._names: dict[str, str] = {}

    async def figures(self, resource_manager: str) -> YarnFigures:
        """Return the cluster's figures."""
        return parse_figures(await self._http.get(f"{resource_manager}/ws/v1/cluster/metrics"))

    async def nodes(self, resource_manager: str) -> Mapping[str, YarnNode]:
        """Return all nodes by host, including former ones; a host that came back has its current state."""
        states = ",".join((*ACTIVE_STATES, *GONE_STATES))
        return parse_nodes(await self._http.get(f"{resource_manager}/ws/v1/cluster/nodes", states=states))

    async def registered_name(self, node_manager: str, among: Container[str] | None = None) -> str | None:
        """Return the host name with which a NodeManager has registered, also after its end; None if it is not known.

        With `among`, a name that is not in it is not returned; it may be an earlier one, so it is asked for again.
        """
        name = self._names.get(node_manager)
        if name is None or (among is not None and name not in among):
            info = await unless_silent(self._http.get(f"{node_manager}/ws/v1/node/info"))
            if info is not None:
                name = self._names[node_manager] = parse_registered_name(info)
        return name if name is None or among is None or name in among else None

    async def applications(self, resource_manager: str, states: Sequence[str]) -> Sequence[YarnApplication]:
        """Return the applications in these states (`RUNNING`, `ACCEPTED` …)."""
        return parse_applications(
            await self._http.get(f"{resource_manager}/ws/v1/cluster/apps", states=",".join(states))
        )

    async def application(self, resource_manager: str, application_id: str) -> YarnApplication:
        """Return one application."""
        answer = await self._http.get(f"{resource_manager}/ws/v1/cluster/apps/{application_id}")
        return _application(answer["app"])

    async def kill(self, resource_manager: str, application_id: str) -> None:
        """End an application; has no effect on one that has ended."""
        await self._http.put(f"{resource_manager}/ws/v1/cluster/apps/{application_id}/state", {"state": "KILLED"})

    async def holding(self, node_manager: str) -> Holding:
        """Return what a node holds."""
        containers = await self._http.get(f"{node_manager}/ws/v1/node/containers")
        applications = await self._http.get(f"{node_manager}/ws/v1/node/apps")
        return parse_holding(containers, applications)


def parse_figures(answer: Any) -> YarnFigures:
    """Return the figures in the answer of `cluster/metrics`."""
    entry = answer["clusterMetrics"]
    return YarnFigures(
        memory_total=int(entry["totalMB"]),
        memory_used=int(entry["allocatedMB"]),
        containers_running=int(entry["containersAllocated"]),
        containers_pending=int(entry["containersPending"]),
        applications_running=int(entry["appsRunning"]),
        nodes_active=int(entry["activeNodes"]),
    )


def parse_nodes(answer: Any) -> Mapping[str, YarnNode]:
    """Return the nodes in the answer of `cluster/nodes`, by host; an active one replaces its former entries."""
    found: dict[str, YarnNode] = {}
    for entry in (answer.get("nodes") or {}).get("node") or ():
        node = YarnNode(entry["nodeHostName"], entry["state"], int(entry.get("numContainers") or 0))
        if node.is_active or node.host not in found:
            found[node.host] = node
    return found


def parse_registered_name(answer: Any) -> str:
    """Return the host name in the answer of `node/info`, where the node's id is `host:port`."""
    return str(answer["nodeInfo"]["id"]).rpartition(":")[0]


def parse_applications(answer: Any) -> Sequence[YarnApplication]:
    """Return the applications in the answer of `cluster/apps`."""
    return [_application(entry) for entry in (answer.get("apps") or {}).get("app") or ()]


def parse_holding(containers: Any, applications: Any) -> Holding:
    """Return what a node holds, from its lists of containers and applications."""
    held = {
        entry["id"]: 0
        for entry in (applications.get("apps") or {}).get("app") or ()
        if entry["state"] not in {"FINISHED", "APPLICATION_RESOURCES_CLEANINGUP"}
    }
    for entry in (containers.get("containers") or {}).get("container") or ():
        if entry["state"] not in _ENDED_CONTAINERS:
            owner = application_of(entry["id"])
            held[owner] = held.get(owner, 0) + 1
    return Holding(held)


def application_of(container_id: str) -> str:
    """Return the id of a container's application, here the 3rd: `container_e02_1700000000000_0003_01_000002`."""
    parts = [part for part in container_id.split("_")[1:] if not part.startswith("e")]
    if len(parts) < 2:
        raise DaemonSilent(f"{container_id!r} is not the id of a container")
    return f"application_{parts[0]}_{parts[1]}"


def _application(entry: Mapping[str, Any]) -> YarnApplication:
    return YarnApplication(
        id=entry["id"],
        name=entry.get("name") or "",
        state=entry["state"],
        final_status=entry.get("finalStatus") or "UNDEFINED",
        progress=float(entry.get("progress") or 0.0),
    )
