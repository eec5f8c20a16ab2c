"""A group-by on all 336,776 flights and a script of four jobs, locally and on YARN, compared with Pig's own program.

The command is timed from its submission over HTTP to its typed rows. Its job time is the script's time in its Java
process; the difference is the service's overhead. `pig -x local` starts a new Java process with Pig's own settings,
like a local installation of Pig. Processor seconds are those of the Java process, including its start unless it is
warm.

On YARN the cluster is UP with two workers and has run a script before. `pig -x mapreduce` starts a new Java with the
same cluster's addresses, and with Pig's and Hadoop's own settings for nearly everything else.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

import httpx
import psutil

from benchmarks import report
from benchmarks.cluster import running_cluster
from benchmarks.contests import compete
from benchmarks.service import Service
from svc_jupyter.api.paths import ARROW_STREAM
from svc_jupyter.cli.demo.build import build
from svc_jupyter.service.application.engines import MADE_AT_INSTALL
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.installs.engine import Engine, class_path
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.configuration import NodeLayout, wiring
from svc_jupyter.service.runtimes.hadoop.site_files import site_file

FLIGHTS = """f = LOAD 'flights/flights.csv' USING PigStorage(',') AS (year:int, month:int, day:int, dep_time:int,
    sched_dep_time:int, dep_delay:double, arr_time:int, sched_arr_time:int, arr_delay:double, carrier:chararray,
    flight:int, tailnum:chararray, origin:chararray, dest:chararray);
"""
GROUP_BY = f"""{FLIGHTS}g = GROUP f BY carrier;
s = FOREACH g GENERATE group AS carrier, COUNT(f) AS flights, AVG(f.dep_delay) AS delay;
DUMP s;
"""
FOUR_JOBS = f"""{FLIGHTS}g = GROUP f BY (carrier, dest);
s = FOREACH g GENERATE FLATTEN(group) AS (carrier, dest), COUNT(f) AS flights;
h = GROUP s BY carrier;
t = FOREACH h GENERATE group AS carrier, COUNT(s) AS places, MAX(s.flights) AS most;
o = ORDER t BY most DESC;
DUMP o;
"""
COLD = "pig -x local"
WARM = "PigCommand, warm"
COLD_ON_YARN = "pig -x mapreduce"
ON_YARN = "PigCommand on YARN"
PROPERTIES = "pig.properties"
_LOOK_SECONDS = 0.01
_IDLE_SHARE = 0.1
"""A Java process that uses less of a processor than this has warmed up."""


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds on the wall and of processors."""
    rounds = 2 if quick else 7
    engines = Engines(default_engines_dir(), additions=MADE_AT_INSTALL)
    jars = asyncio.run(engines.ensure(Engine.PIG, print)).jars
    java = asyncio.run(engines.java(print)).java
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service:
        storage = service.data_dir / "storage"
        build(storage, print)
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=150) as http:
            pig = _Pig(http, service.data_dir, [str(java), "-cp", class_path(jars)], storage)
            pig.command(GROUP_BY)
            for title, script in (("Group-by on all flights", GROUP_BY), ("Four jobs", FOUR_JOBS)):
                _contest(title, pig, script, rounds)
            with running_cluster(http, 2) as coordinator:
                yarn = _OnYarn(pig, service.data_dir, coordinator)
                for title, script, bar in (("Group-by", GROUP_BY, 13), ("Four jobs", FOUR_JOBS, 30)):
                    contestants = {ON_YARN: partial(yarn.command, script), COLD_ON_YARN: partial(yarn.cold, script)}
                    results = compete(contestants, 1 if quick else 3)
                    report.contest(f"{title} on YARN (at most {bar} s)", "seconds", results, ON_YARN, report.seconds)


def _contest(title: str, pig: _Pig, script: str, rounds: int) -> None:
    processors: dict[str, list[float]] = {WARM: [], COLD: []}

    def timed(name: str, measure: Callable[[str], tuple[float, float]]) -> Callable[[], float]:
        def once() -> float:
            seconds, of_processors = measure(script)
            processors[name].append(of_processors)
            return seconds

        return once

    results = compete({WARM: timed(WARM, pig.command), COLD: timed(COLD, pig.cold)}, rounds)
    report.contest(title, "seconds", results, WARM, report.seconds)
    rows = []
    for name, values in processors.items():
        kept = sorted(values[1:])
        rows.append([name, report.seconds(kept[0]), report.seconds(kept[len(kept) // 2])])
    report.table("Seconds of processors", ["", "min", "median"], rows)
    shares = sorted(pig.shares[1:])
    report.table(
        "The command beside the script's own job time in the same Java",
        ["", "min", "median", "max"],
        [["command ÷ job", *(f"{share:.2f}" for share in (shares[0], shares[len(shares) // 2], shares[-1]))]],
    )
    pig.shares.clear()


class _Pig:
    """Runs scripts both ways."""

    def __init__(self, http: httpx.Client, data_dir: Path, java: list[str], storage: Path) -> None:
        self._http = http
        self._data_dir = data_dir
        self._java = java
        self._storage = storage
        self.shares: list[float] = []

    def command(self, script: str) -> tuple[float, float]:
        """Run a script as a command in a warm Java process; return its wall and processor seconds."""
        self._wait_until_warm()
        used = _Used(self._warm())
        began = time.perf_counter()
        body = {"command_type": "PigCommand", "latin_statements": script}
        record = self._http.post("/commands", json=body, params={"wait": 60}).json()
        while record["status"] in ("waiting", "running"):
            record = self._http.get(f"/commands/{record['id']}", params={"wait": 60}).json()
        rows = self._http.get(f"/commands/{record['id']}/results", headers={"Accept": ARROW_STREAM})
        seconds = time.perf_counter() - began
        if rows.status_code != 200:
            raise RuntimeError(rows.text)
        attempt = next((self._data_dir / "commands" / str(record["id"] // 1000)).glob(f"{record['id']}-*")) / "1"
        self.shares.append(seconds / json.loads((attempt / "result.json").read_text())["seconds"])
        return seconds, used.seconds()

    def cold(self, script: str, mode: str = "local", conf: Path | None = None) -> tuple[float, float]:
        """Run a script with Pig's own program; return its wall and processor seconds.

        `conf` is the folder of the cluster's addresses.
        """
        file = self._storage / "script.pig"
        file.write_text(script)
        began = time.perf_counter()
        java, option, jars = self._java
        class_path = jars if conf is None else f"{jars}:{conf}"
        settings = [] if conf is None else ["-P", str(conf / PROPERTIES)]
        command = [java, option, class_path, "org.apache.pig.Main", *settings, "-x", mode, str(file)]
        process = subprocess.Popen(
            command, cwd=self._storage, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        if process.returncode:
            raise RuntimeError(f"pig ended with {process.returncode}")
        return seconds, usage.ru_utime + usage.ru_stime

    def needed_on_yarn(self) -> str:
        """Return the settings that Pig 0.18 requires on Hadoop 3.5 and Java 17, however it is started."""
        (jar,) = (jar for jar in self._java[-1].split(":") if "/commons-collections-3" in jar)
        return f"pig.additional.jars={jar}\npig.gc.default.params=-XX:+UseSerialGC\nmapreduce.job.working.dir=/\n"

    def _warm(self) -> psutil.Process | None:
        """Return the Java process that waits for a script."""
        running = str(self._data_dir / "pig" / "running")
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if any(argument.startswith(running) for argument in process.cmdline()):
                    return process
        return None

    def _wait_until_warm(self) -> None:
        java = self._warm()
        if java is not None:
            while java.cpu_percent(0.5) / 100 > _IDLE_SHARE:
                pass


class _OnYarn:
    """Scripts on a running cluster, both ways."""

    def __init__(self, pig: _Pig, data_dir: Path, coordinator: str) -> None:
        """Write the settings that Pig's own program needs, and run a script."""
        self._pig = pig
        self._data_dir = data_dir
        self._conf = data_dir / "pig-conf"
        self._conf.mkdir(exist_ok=True)
        needed = wiring(Addresses(coordinator), NodeLayout("127.0.0.1", PurePosixPath(self._conf)))
        for name, settings in needed.items():
            (self._conf / name).write_bytes(site_file(settings))
        (self._conf / PROPERTIES).write_text(self._pig.needed_on_yarn())
        self.command(GROUP_BY)

    def command(self, script: str) -> float:
        """Run a script as a command in a warm Java process; return its seconds."""
        return self._pig.command(script)[0]

    def cold(self, script: str) -> float:
        """Run a script with Pig's own program; return its seconds. Its relative paths would be in HDFS."""
        storage = self._data_dir / "storage"
        whole = script.replace("LOAD '", f"LOAD '{storage.as_uri()}/")
        return self._pig.cold(whole, "mapreduce", self._conf)[0]


class _Used:
    """Processor time of a process from now until its end, sampled often enough to miss little."""

    def __init__(self, process: psutil.Process | None) -> None:
        self._process = process
        self._before = self._last = _processors(process)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def seconds(self) -> float:
        """Return the seconds once the process has ended."""
        self._thread.join()
        return self._last - self._before

    def _look(self) -> None:
        while (now := _processors(self._process)) > 0:
            self._last = now
            time.sleep(_LOOK_SECONDS)


def _processors(process: psutil.Process | None) -> float:
    """Return the processor seconds of a process; 0 once it is gone."""
    try:
        if process is None or process.status() == psutil.STATUS_ZOMBIE:
            return 0.0
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
