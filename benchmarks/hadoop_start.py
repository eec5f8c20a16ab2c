"""A Hadoop cluster from DOWN to UP: NameNode, DataNode, ResourceManager and two NodeManagers, and their resources.

Compared with the same daemons and settings, started as in tutorials: `namenode -format`, then HDFS, then YARN, waiting
for each, with Java's default options. UP means: both workers are RUNNING and HDFS has its DataNode. Memory is the
proportional set size of all five; processor time is the share of one core over ten idle seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from statistics import median

import httpx
import psutil

from benchmarks import report
from benchmarks.contests import Results
from benchmarks.processes import ProcessorTime, proportional
from benchmarks.service import Service
from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.application.engines import MADE_AT_INSTALL
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.processes.marks import environment_mark
from svc_jupyter.service.runtimes.hadoop.addresses import EXCLUDE_FILE, Addresses, Port
from svc_jupyter.service.runtimes.hadoop.configuration import POOLS_FILE, NodeLayout, node_sites
from svc_jupyter.service.runtimes.hadoop.daemons import small_files
from svc_jupyter.service.runtimes.hadoop.departure import exclude_file
from svc_jupyter.service.runtimes.hadoop.site_files import pools_file

_BLOCK = "127.241.9"
_LOOK_SECONDS = 0.02
_START_SECONDS = 240.0
_IDLE_SECONDS = 10.0


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds, memory and idle processor time of both ways."""
    rounds = 1 if quick else 3
    engines = Engines(default_engines_dir(), additions=MADE_AT_INSTALL)
    installed = asyncio.run(engines.ensure(Engine.HADOOP, print))
    java = asyncio.run(engines.java(print)).java
    ours, plain = _Figures(), _Figures()
    with Service(folder / "ours", SVC_ENGINES_DIR=str(default_engines_dir())) as service:
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=120) as http:
            for number in range(rounds):
                _ours(http, service.data_dir, ours)
                _plain(folder / f"plain-{number}", installed, java, plain)
    seconds = Results({"svc-jupyter": ours.seconds, "as in tutorials": plain.seconds})
    report.contest("DOWN to UP (goal 12 s)", "seconds", seconds, "as in tutorials", report.seconds)
    rows = [
        [name, report.megabytes(median(figures.memory)), f"{100 * median(figures.idle):.1f} %"]
        for name, figures in (("svc-jupyter", ours), ("as in tutorials", plain))
    ]
    report.table("UP and idle (goal 1,000 MB)", ["", "memory, MB", "of one core"], rows)


@dataclass
class _Figures:
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)

    def look(self, pids: Iterable[int]) -> None:
        """Record what idle daemons use."""
        pids = list(pids)
        before = {pid: ProcessorTime.of(pid) for pid in pids}
        time.sleep(_IDLE_SECONDS)
        self.idle.append(sum(ProcessorTime.of(pid).since(before[pid]).own for pid in pids) / _IDLE_SECONDS)
        self.memory.append(sum(map(proportional, pids)))


def _ours(http: httpx.Client, data_dir: Path, figures: _Figures) -> None:
    nodes = {"initial_nodes": 2, "max_nodes": 4}
    _wait(lambda: http.get("/clusters/default/state").json()["state"] == "DOWN")
    body = {"hadoop_settings": {"custom_config": ""}, "node_configuration": nodes}
    http.put("/clusters/default", json=body).raise_for_status()
    started = time.monotonic()
    http.put("/clusters/default/state", json={"state": "start"}).raise_for_status()
    _wait(lambda: http.get("/clusters/default/state").json()["state"] == "UP")
    figures.seconds.append(time.monotonic() - started)
    below = str(data_dir / "clusters")
    figures.look(p.pid for p in psutil.process_iter() if (environment_mark(p, INSTANCE_MARK) or "").startswith(below))
    http.put("/clusters/default/state", json={"state": "terminate"}).raise_for_status()
    _wait(lambda: http.get("/clusters/default/state").json()["state"] == "DOWN")


def _plain(folder: Path, installed: Installed, java: Path, figures: _Figures) -> None:
    by_hand = _ByHand(folder, installed, java)
    try:
        started = time.monotonic()
        by_hand.start()
        figures.seconds.append(time.monotonic() - started)
        figures.look(process.pid for process in by_hand.processes)
    finally:
        by_hand.end()


class _ByHand:
    """The daemons of one cluster, started one group after the other."""

    def __init__(self, folder: Path, installed: Installed, java: Path) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._libraries = installed.jars[0].parent
        self._java = java
        for number in (1, 11, 12):
            self._write_settings(number)

    def start(self) -> None:
        """Start all of them; return once both workers run."""
        name_node = "org.apache.hadoop.hdfs.server.namenode.NameNode"
        self._spawn(1, name_node, "-format", "-nonInteractive").wait(_START_SECONDS)
        self.processes.clear()
        self._spawn(1, name_node)
        self._spawn(1, "org.apache.hadoop.hdfs.server.datanode.DataNode")
        bean = "Hadoop:service=NameNode,name=FSNamesystemState"
        _wait(lambda: self._ask(Port.NAME_NODE_HTTP, f"jmx?qry={bean}", "beans", 0, "NumLiveDataNodes") == 1)
        self._spawn(1, "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager")
        for number in (11, 12):
            self._spawn(number, "org.apache.hadoop.yarn.server.nodemanager.NodeManager")
        figures = "ws/v1/cluster/metrics"
        _wait(lambda: self._ask(Port.RESOURCE_MANAGER_HTTP, figures, "clusterMetrics", "activeNodes") == 2)

    def end(self) -> None:
        """End all of them and delete their files."""
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self._folder)

    def _place(self, number: int) -> NodeLayout:
        return NodeLayout(f"{_BLOCK}.{number}", PurePosixPath(self._folder / str(number)))

    def _write_settings(self, number: int) -> None:
        place = self._place(number)
        # Otherwise the shuffle services of both workers would use the same port.
        own = {"hadoop_settings": {"custom_config": f"mapreduce.shuffle.port={13500 + number}"}}
        sites = node_sites(Addresses(f"{_BLOCK}.1"), place, ClusterConfiguration.model_validate(own))
        files = {f"conf/{name}": content for name, content in sites.items()} | small_files()
        files |= {str(POOLS_FILE): pools_file(None, None), str(EXCLUDE_FILE): exclude_file([]).encode()}
        for name, content in files.items():
            file = Path(place.folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def _spawn(self, number: int, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        folder = Path(self._place(number).folder)
        opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "net", "io", "nio")]
        logs = [f"-Dhadoop.log.dir={folder}", f"-Dhadoop.log.file={main.rpartition('.')[2]}.log"]
        command = [str(self._java), *opened, *logs, "-cp", f"{folder / 'conf'}:{self._libraries}/*", main, *arguments]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        with (folder / "output").open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**kept, "HADOOP_CONF_DIR": str(folder / "conf")},
            )
        self.processes.append(process)
        return process

    def _ask(self, port: int, path: str, *keys: str | int) -> object:
        try:
            with urllib.request.urlopen(f"http://{_BLOCK}.1:{port}/{path}", timeout=5) as answer:
                told = json.load(answer)
            for key in keys:
                told = told[key]
        except (OSError, ValueError, LookupError):
            return None
        return told


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {_START_SECONDS:.0f} s")
        time.sleep(_LOOK_SECONDS)
