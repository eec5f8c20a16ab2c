"""A Presto cluster: adding and removing nodes, and a warm `SELECT 1` compared with presto-python-client.

The same on an external cluster: a second service, connected to the first one's coordinator as to one of others.

The command is submitted with the service's Python client and measured until its rows arrive; presto-python-client sends
the same statement to the same coordinator and fetches the row. They take turns, each after a pause. A node is added
when the coordinator gives it work, removed when its command has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import prestodb

from benchmarks import report
from benchmarks.contests import compete
from benchmarks.service import Service
from svc_jupyter.client import Client
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.runtimes.presto.configuration import HTTP_PORT

_LOOK_SECONDS = 0.05
_WARM_UP = 30
_PAUSE_SECONDS = 0.3
"""The pause before each statement, so that the previous statement's clean-up is not measured."""


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds of a start, of additions and removals, and milliseconds of a statement."""
    rounds, statements = (1, 10) if quick else (3, 40)
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service, Client(*service.address) as client:
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=300) as http:
            cluster = _Cluster(http)
            try:
                started = _timed(cluster.start)
                coordinator = cluster.coordinator()
                _statements(client, coordinator, statements, "SELECT 1, warm (goal 1.2 times the client's)")
                _external(folder / "guest", coordinator, statements)
                _nodes(cluster, rounds, started)
            finally:
                cluster.end()


def _external(folder: Path, coordinator: str, rounds: int) -> None:
    """Measure the statement on a coordinator that another service started."""
    external = {"presto_url": f"http://{coordinator}:{HTTP_PORT}"}
    with Service(folder) as service, Client(*service.address) as client:
        base_url, token = service.address
        body = {"label": "theirs", "provider": "external", "external": external}
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=300) as http:
            http.post("/clusters", json=body).raise_for_status()
        title = "SELECT 1 on an external cluster, warm (goal 1.2 times the client's)"
        _statements(client, coordinator, rounds, title, label="theirs")


def _statements(client: Client, coordinator: str, rounds: int, title: str, **fields: str) -> None:
    connection = prestodb.dbapi.connect(host=coordinator, port=HTTP_PORT, user="benchmark")

    def directly() -> None:
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        if cursor.fetchall() != [[1]]:
            raise RuntimeError("presto-python-client got something else")

    def command() -> None:
        if client.commands.run("PrestoCommand", query="SELECT 1", **fields).result().to_arrow().num_rows != 1:
            raise RuntimeError("the command got something else")

    def after_a_pause(work: Callable[[], None]) -> float:
        time.sleep(_PAUSE_SECONDS)
        return _timed(work)

    contestants = {
        "PrestoCommand": lambda: after_a_pause(command),
        "presto-python-client": lambda: after_a_pause(directly),
    }
    results = compete(contestants, rounds, warm_up=_WARM_UP)
    report.contest(title, "ms", results, "presto-python-client", report.milliseconds)


def _nodes(cluster: _Cluster, rounds: int, started: float) -> None:
    added, removed = [], []
    for _ in range(rounds):
        added.append(_timed(cluster.add))
        removed.append(_timed(cluster.remove))
    rows = [
        ["cluster of one worker started, a query worked", report.seconds(started), report.seconds(started), "1"],
        ["a node added, in use (goal 30 s)", report.seconds(median(added)), report.seconds(max(added)), str(rounds)],
        ["an idle node removed (goal 8 s)", report.seconds(median(removed)), report.seconds(max(removed)), str(rounds)],
    ]
    report.table("seconds", ["", "median", "max", "rounds"], rows)


class _Cluster:
    """The Presto cluster of the service."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def start(self) -> None:
        self._http.put("/clusters/presto/state", json={"state": "start"}).raise_for_status()
        self._until("UP")

    def end(self) -> None:
        self._http.put("/clusters/presto/state", json={"state": "terminate"})
        self._until("DOWN")

    def coordinator(self) -> str:
        nodes = self._state()["nodes"]
        return str(next(node["private_ip"] for node in nodes if node["role"] == "master"))

    def add(self) -> None:
        self._ended(self._http.post("/clusters/presto/nodes", json={"node_count": 1}))

    def remove(self) -> None:
        self._ended(self._http.delete("/clusters/presto/nodes"))

    def _state(self) -> dict[str, Any]:
        return dict(self._http.get("/clusters/presto/state").json())

    def _until(self, state: str) -> None:
        while self._state()["state"] != state:
            time.sleep(_LOOK_SECONDS)

    def _ended(self, answer: httpx.Response) -> dict[str, Any]:
        answer.raise_for_status()
        record = answer.json()
        while record["status"] in ("waiting", "running"):
            record = self._http.get(f"/commands/{record['id']}", params={"wait": 60}).json()
        if record["status"] != "done":
            raise RuntimeError(record["message"])
        return dict(record)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
