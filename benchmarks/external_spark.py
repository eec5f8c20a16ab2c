"""A warm `SELECT 1` on HiveServer2 and on Spark Connect that others run, compared with bare clients of the same server.

A plain Spark serves both, started by its own scripts. The command is submitted with the service's Python client and
measured until its rows arrive. Beside it are sessions of HiveServer2's protocol, and pyspark's own client, each with a
session that is kept, and with one per statement, as a command has. They take turns, each after a pause.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.support.plain_spark import PlainSpark

from benchmarks import report
from benchmarks.contests import compete
from benchmarks.service import Service
from svc_jupyter.client import Client
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.installs import connect_client
from svc_jupyter.service.runtimes.hive_server.client import Session
from svc_jupyter.service.runtimes.hive_server.endpoint import Endpoint

_ONE = "SELECT 1 AS x"
_PAUSE_SECONDS = 0.3
_CHILD = """
import sys, time
from pyspark.sql.connect.session import SparkSession
def session():
    return SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").create()
kept = session()
for line in sys.stdin:
    started = time.perf_counter()
    spark = kept if line.strip() == "kept" else session()
    assert spark.sql(sys.argv[2]).toArrow().num_rows == 1
    print(time.perf_counter() - started, flush=True)
    if spark is not kept:
        spark.client.release_session()
"""


def run(folder: Path, *, quick: bool) -> None:
    """Print milliseconds of a statement."""
    rounds, warm_up = (10, 10) if quick else (40, 30)
    theirs = PlainSpark(folder / "theirs")
    try:
        theirs.start()
        settings = {"SVC_ENGINES_DIR": str(default_engines_dir())}
        with Service(folder / "service", **settings) as service, Client(*service.address) as client:
            _attach(service, theirs)
            _hive(client, theirs, rounds, warm_up)
            _connect(client, theirs, folder / "statements.py", rounds, warm_up)
    finally:
        theirs.kill()


def _attach(service: Service, theirs: PlainSpark) -> None:
    base_url, token = service.address
    authority = theirs.authority.cert_pem.bytes().decode()
    lake = {"hiveserver2": f"hive2://127.0.0.1:{theirs.hive_port}/;ssl=true", "tls_ca": authority}
    clusters = {"lake": lake, "connect": {"spark_connect": f"sc://127.0.0.1:{theirs.connect_port}"}}
    with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=300) as http:
        for label, external in clusters.items():
            http.post(
                "/clusters", json={"label": label, "provider": "external", "external": external}
            ).raise_for_status()


def _hive(client: Client, theirs: PlainSpark, rounds: int, warm_up: int) -> None:
    authority = theirs.authority.cert_pem.bytes().decode()
    endpoint = Endpoint("127.0.0.1", theirs.hive_port, "ann", is_sasl=True, is_encrypted=True, tls_ca=authority)
    with Session(endpoint) as kept:

        def in_kept() -> float:
            started = time.perf_counter()
            _select(kept)
            return time.perf_counter() - started

        def in_new() -> float:
            started = time.perf_counter()
            with Session(endpoint) as session:
                _select(session)
            return time.perf_counter() - started

        contestants = {
            "HiveCommand": _command(client, "HiveCommand", "lake"),
            "a session per statement": _after_a_pause(in_new),
            "a kept session": _after_a_pause(in_kept),
        }
        results = compete(contestants, rounds, warm_up=warm_up)
    title = "SELECT 1 on a HiveServer2 of others, warm"
    report.contest(title, "ms", results, "a session per statement", report.milliseconds)


def _select(session: Session) -> None:
    operation = session.execute(_ONE)
    while not session.status(operation).state.is_over:
        pass
    if len(session.fetch(operation, 10)[0][0]) != 1:
        raise RuntimeError("the session got something else")
    session.finish(operation)


def _connect(client: Client, theirs: PlainSpark, program: Path, rounds: int, warm_up: int) -> None:
    program.write_text(_CHILD)
    with _pyspark(program, theirs.connect_port) as ask:
        contestants = {
            "SqlCommand": _command(client, "SqlCommand", "connect"),
            "pyspark, a session per statement": _after_a_pause(lambda: ask("new")),
            "pyspark, a kept session": _after_a_pause(lambda: ask("kept")),
        }
        results = compete(contestants, rounds, warm_up=warm_up)
    title = "SELECT 1 on a Spark Connect of others, warm (goal 1.1 times pyspark's)"
    report.contest(title, "ms", results, "pyspark, a session per statement", report.milliseconds)


def _command(client: Client, kind: str, label: str) -> Callable[[], float]:
    def measure() -> float:
        started = time.perf_counter()
        if client.commands.run(kind, query=_ONE, label=label).result().to_arrow().num_rows != 1:
            raise RuntimeError("the command got something else")
        return time.perf_counter() - started

    return _after_a_pause(measure)


def _after_a_pause(measure: Callable[[], float]) -> Callable[[], float]:
    def paused() -> float:
        time.sleep(_PAUSE_SECONDS)
        return measure()

    return paused


@contextmanager
def _pyspark(program: Path, port: int) -> Iterator[Callable[[str], float]]:
    """Yield what asks pyspark's own client, in a process of its own, for the seconds of a statement."""
    environment = {**os.environ, "PYTHONPATH": str(connect_client.folder(default_engines_dir()))}
    child = subprocess.Popen(
        [sys.executable, str(program), str(port), _ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout = child.stdin, child.stdout

    def ask(how: str) -> float:
        stdin.write(f"{how}\n")
        stdin.flush()
        return float(stdout.readline())

    try:
        yield ask
    finally:
        child.communicate(timeout=60)
