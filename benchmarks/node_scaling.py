"""Adding and removing nodes of a running Hadoop cluster, and reading its health, compared with the same by hand.

By hand: `RMAdminCLI` (what `yarn rmadmin` starts) after writing the exclude file, and one curl per address with a part
of the health. A node is added when it is RUNNING, and removed when its command has ended and its machine is released;
by hand it is removed when YARN has decommissioned it, without cleaning up its processes and folders.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from benchmarks import report
from benchmarks.contests import Results
from benchmarks.service import Service
from svc_jupyter.service.application.engines import MADE_AT_INSTALL
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.installs.engine import Engine, class_path
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.runtimes.hadoop.addresses import EXCLUDE_FILE, Port
from svc_jupyter.service.runtimes.hadoop.departure import exclude_file

_LOOK_SECONDS = 0.02
_FRESH_SECONDS = 1.05
"""After this time the service reads the health again."""
_EXCLUDED = """<?xml version="1.0"?>
<hosts><host><name>{address}</name><timeout>3600</timeout></host></hosts>
"""
_BY_HAND = (
    (Port.RESOURCE_MANAGER_HTTP, "ws/v1/cluster/metrics"),
    (Port.RESOURCE_MANAGER_HTTP, "jmx?qry=java.lang:type=Memory"),
    (Port.NAME_NODE_HTTP, "jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"),
    (Port.NAME_NODE_HTTP, "jmx?qry=java.lang:type=Memory"),
)


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds of additions and removals, and milliseconds of a look at the health."""
    rounds = 2 if quick else 5
    engines = Engines(default_engines_dir(), additions=MADE_AT_INSTALL)
    jars = asyncio.run(engines.ensure(Engine.HADOOP, print)).jars
    java = asyncio.run(engines.java(print)).java
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service:
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=120) as http:
            cluster = _Cluster(http, service.data_dir, (str(java), class_path(jars)))
            try:
                cluster.start()
                _report(cluster, rounds)
            finally:
                cluster.end()


def _report(cluster: _Cluster, rounds: int) -> None:
    added, removed, by_hand, fresh, shared, curl, cli = ([] for _ in range(7))
    for _ in range(rounds):
        added.append(_timed(cluster.add))
        removed.append(_timed(cluster.remove))
        cluster.add()
        by_hand.append(_timed(cluster.remove_by_hand))
        cluster.tidy_up()
        time.sleep(_FRESH_SECONDS)
        fresh.append(_timed(cluster.health))
        shared.append(_timed(cluster.health))
        curl.append(_timed(cluster.health_by_hand))
        cli.append(_timed(cluster.refresh_by_hand))
    one_by_one = [
        ["a node added, RUNNING (goal 8 s)", report.seconds(median(added)), report.seconds(max(added)), str(rounds)]
    ]
    report.table("seconds", ["", "median", "max", "rounds"], one_by_one)
    removals = Results({"the service": removed, "by hand": by_hand})
    report.contest("An idle node removed (goal 2 s)", "seconds", removals, "by hand", report.seconds)
    looks = Results({"a fresh look": fresh, "a shared look": shared, "curl, 4 addresses": curl})
    report.contest("Health (goal 50 ms)", "ms", looks, "curl, 4 addresses", report.milliseconds)
    report.table("RMAdminCLI -refreshNodes alone", ["", "median, s"], [["a JVM", report.seconds(median(cli))]])


@dataclass
class _Cluster:
    """The default cluster of the service, UP on Hadoop."""

    http: httpx.Client
    data_dir: Path
    programs: tuple[str, str]
    """Java and Hadoop's class path."""
    last: str = ""

    def start(self) -> None:
        body: dict[str, Any] = {"hadoop_settings": {"custom_config": ""}, "enable_ganglia_monitoring": True}
        body["node_configuration"] = {"initial_nodes": 1, "max_nodes": 4}
        self.http.put("/clusters/default", json=body).raise_for_status()
        self.http.put("/clusters/default/state", json={"state": "start"}).raise_for_status()
        self._until(lambda: self._state()["state"] == "UP")

    def end(self) -> None:
        self.http.put("/clusters/default/state", json={"state": "terminate"})
        self._until(lambda: self._state()["state"] == "DOWN")

    def add(self) -> None:
        before = self._workers()
        self._ended(self.http.post("/clusters/default/nodes", json={"node_count": 1}))
        self.last = next(iter(self._workers().keys() - before.keys()))

    def remove(self) -> None:
        self._ended(self.http.delete("/clusters/default/nodes", params={"private_dns": self.last}))

    def remove_by_hand(self) -> None:
        self._exclude(_EXCLUDED.format(address=self._workers()[self.last]))
        self._administer("-refreshNodes", "-g", "3600", "-client")

    def tidy_up(self) -> None:
        """Release the machine that was left behind."""
        self._exclude(exclude_file([]))
        self.remove()

    def health(self) -> None:
        self.http.get("/clusters/default/live_cluster_health").raise_for_status()

    def health_by_hand(self) -> None:
        for port, path in _BY_HAND:
            url = f"http://{self._master()['private_ip']}:{port}/{path}"
            subprocess.run(["curl", "-sf", url], check=True, capture_output=True)

    def refresh_by_hand(self) -> None:
        self._administer("-refreshNodes", "-g", "3600", "-server")

    def _administer(self, *arguments: str) -> None:
        java, jars = self.programs
        command = [
            java,
            "-cp",
            f"{jars}:{self._node_folder() / 'conf'}",
            "org.apache.hadoop.yarn.client.cli.RMAdminCLI",
        ]
        subprocess.run([*command, *arguments], check=True, capture_output=True, env=dict(os.environ))

    def _exclude(self, text: str) -> None:
        (self._node_folder() / EXCLUDE_FILE).write_text(text)

    def _node_folder(self) -> Path:
        (found,) = (self.data_dir / "clusters").glob(f"*/*/nodes/{self._master()['private_dns']}")
        return found

    def _state(self) -> dict[str, Any]:
        return dict(self.http.get("/clusters/default/state").json())

    def _master(self) -> dict[str, Any]:
        return next(node for node in self._state()["nodes"] if node["role"] == "master")

    def _workers(self) -> dict[str, str]:
        return {node["private_dns"]: node["private_ip"] for node in self._state()["nodes"] if node["role"] == "worker"}

    def _ended(self, answer: httpx.Response) -> None:
        answer.raise_for_status()
        record = answer.json()
        while record["status"] in ("waiting", "running"):
            record = self.http.get(f"/commands/{record['id']}", params={"wait": 60}).json()
        if record["status"] != "done":
            raise RuntimeError(record["message"])

    def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            time.sleep(_LOOK_SECONDS)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
