"""The clusters of the double: in the state that the test says, with nodes that come and go at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.double.records import page_of, record_of

from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import ClusterMessage, ClusterNode, ClusterRecord, ClusterStateRecord

UP_SINCE = "2026-11-21T09:46:00Z"
NOW_SECONDS = 1795262400.0
"""2026-11-21T12:00:00Z, the present of the panels' tests."""
GREEN = {
    "responsiveness_status": "UP",
    "liveliness_status": "UP",
    "heap": {"usage_percent": "41.0", "status": "green"},
}


class ClusterDouble:
    """Clusters behind the double's HTTP; `bare` answers without our extensions: no state, no samples."""

    def __init__(self, submit: Callable[[dict[str, Any]], dict[str, Any]], *, bare: bool) -> None:
        self.bare = bare
        self.clusters: dict[int, dict[str, Any]] = {}
        self.states: dict[int, dict[str, Any]] = {}
        self.engine: dict[str, Any] = {"spark": {}}
        self.daemons: dict[str, Any] = {"hive_metastore": GREEN, "namenode": "UP", "resourcemanager": "UP"}
        self.asked: list[tuple[str, str, Any]] = []
        """What was sent to change something: method, path and body or query."""
        self.busy: list[dict[str, Any]] = []
        """The workers that YARN answers for, with their containers."""
        self.pages: list[dict[str, str]] = []
        """The pages of its engines."""
        self.starts_at_once = True
        self._submit = submit

    def add(self, label: str = "default", state: str = "DOWN", **fields: Any) -> dict[str, Any]:
        number = len(self.clusters) + 1
        self.clusters[number] = record_of(ClusterRecord, id=number, label=[label], state=state, **fields)
        self.states[number] = record_of(ClusterStateRecord, state=state, cluster_id=number, config_id=number)
        self.move(number, state)
        return self.clusters[number]

    def move(self, number: int, state: str, **fields: Any) -> None:
        """Put a cluster into a state."""
        self.clusters[number]["state"] = self.states[number]["state"] = state
        if state == "UP" and not self.states[number]["nodes"]:
            self.states[number] |= {"up_at": UP_SINCE, "nodes": [_node("master", 1), _node("worker", 11)]}
            self.states[number]["nodes"].append(_node("worker", 12))
        if state == "DOWN":
            self.states[number]["nodes"] = []
        self.states[number] |= fields

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer of a call for `clusters…`."""
        _, *rest = path.split("/")
        if not rest:
            found = [one for one in self.clusters.values() if query.get("state") in (None, one["state"])]
            return 200, page_of("clusters", found, query)
        number = next((n for n, one in self.clusters.items() if rest[0] == str(n) or rest[0] in one["label"]), None)
        if number is None:
            return 404, f"there is no cluster {rest[0]}"
        part = rest[1] if len(rest) > 1 else ""
        if method != "GET":
            self.asked.append((method, part, body or query))
        if part == "nodes":
            return self._change_nodes(number, method, query, body)
        if self.bare and method == "GET" and part in ("state", "metrics"):
            return 404, f"there is no {part}"
        match part, method:
            case "state", "PUT":
                return self._change_state(number, body["state"])
            case "state", _:
                return 200, self.states[number]
            case "live_cluster_health", _:
                return self._health(number)
            case "metrics", _:
                samples = [[NOW_SECONDS - 60 + 5 * place, 20.0 + place] for place in range(10)]
                metrics = {name: {"unit": "percent", "samples": samples} for name in query["metric"].split(",")}
                return 200, record_of(
                    ClusterMetrics, cluster_id=number, cluster_inst_id=7, interval=600, metrics=metrics
                )
            case _:
                return 200, self.clusters[number]

    def _change_state(self, number: int, wanted: str) -> tuple[int, Any]:
        target = {"start": ("PENDING", "UP"), "terminate": ("TERMINATING", "DOWN")}[wanted]
        reason = {"terminate_reason": "cluster default was terminated by ann@example.com"}
        self.move(number, target[self.starts_at_once], **(reason if wanted == "terminate" else {}))
        return 200, record_of(ClusterMessage, message=f"{wanted} cluster with id {number}.")

    def _health(self, number: int) -> tuple[int, Any]:
        if self.clusters[number]["state"] != "UP":
            return 409, "only a cluster that is UP has health"
        master = {"cpu_usage": "23.0", "disk_usage": "12.0", "spotloss_count": 0}
        metrics = {
            "captured_at": UP_SINCE,
            "engine": self.engine,
            "daemons": self.daemons,
            "system": {"master": master, "workers": self.busy},
        }
        return 200, record_of(ClusterHealth, cluster_id=number, cluster_inst_id=7, metrics=metrics, pages=self.pages)

    def _change_nodes(
        self, number: int, method: str, query: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any] | str]:
        nodes = self.states[number]["nodes"]
        if method == "POST":
            count = body["node_count"]
            nodes += [_node("worker", 10 + len(nodes) + place) for place in range(count)]
            return 200, self._submit({"command_type": "AddNodeCommand", "path": f"add {count}"})
        leaving = query.get("private_dns") or nodes[-1]["private_dns"]
        if len(nodes) == 3:
            return 409, "its minimum (initial_nodes) is 2: no node can be removed"
        nodes[:] = [node for node in nodes if node["private_dns"] != leaving]
        return 200, self._submit({"command_type": "RemoveNodeCommand", "path": "remove"})


def _node(role: str, place: int) -> dict[str, Any]:
    name, address = f"ip-127-0-0-{place}", f"127.0.0.{place}"
    times = {"up_time": UP_SINCE, "last_seen_time": UP_SINCE}
    return record_of(ClusterNode, role=role, hostname=name, private_ip=address, private_dns=name, **times)
