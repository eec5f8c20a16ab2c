"""The processes of Spark's sessions. What forks them is a double here: Spark's own is tested in tests/integration."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.support.until import until

from svc_jupyter.service.runtimes.spark.driver import processes, reserve
from svc_jupyter.service.runtimes.spark.driver.processes import Ended
from svc_jupyter.service.runtimes.spark.driver.reserve import Reserve
from svc_jupyter.service.runtimes.spark.driver.statement import Language, Statement
from svc_jupyter.service.runtimes.spark.driver.zygote import Zygote

FORKING = """
import json, os, socket, sys, time

behaviour = os.environ["BEHAVIOUR"]
if behaviour == "loads for ever":
    time.sleep(60)
control = socket.socket(fileno=int(sys.argv[1]))
while True:
    data, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
    if not data:
        break
    request = json.loads(data)
    if "wait" in request:
        status = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        control.send(json.dumps({"status": status}).encode())
        continue
    pid = os.fork()
    if pid == 0:
        os.setsid()
        link = socket.socket(fileno=descriptors[0])
        if behaviour == "works":
            link.send(json.dumps({"jvm_session": str(request["number"]), "thread": 1}).encode() + b"\\n")
        while link.recv(1024):
            pass
        os._exit(0)
    os.close(descriptors[0])
    control.send(json.dumps({"pid": pid}).encode())
"""


class Forgetting:
    """A driver that keeps which of its sessions are over."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    async def forget(self, jvm_session: str) -> None:
        self.forgotten.append(jvm_session)


@pytest.fixture
def driver() -> Forgetting:
    return Forgetting()


@pytest.fixture
async def spares(driver: Forgetting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Reserve]:
    package = tmp_path / "svc_spark"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "zygote.py").write_text(FORKING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("BEHAVIOUR", "works")
    zygote = Zygote(sys.executable)
    yield Reserve(driver, zygote, tmp_path)  # type: ignore[arg-type]
    await zygote.end()


def processes_of(python: Path) -> list[int]:
    """Return the processes that run this Python."""
    found = psutil.process_iter(["cmdline"])
    return [each.pid for each in found if (each.info["cmdline"] or [""])[0] == str(python)]


async def test_a_process_that_was_killed_while_it_waited_is_not_used(spares: Reserve, driver: Forgetting) -> None:
    spare = await spares.prepare()
    assert not spare.has_ended
    os.kill(spare.pid, signal.SIGKILL)
    await until(lambda: spare.has_ended)
    taken = await spares.take()
    assert (taken.jvm_session, taken.has_ended) == ("2", False)
    assert driver.forgotten == ["1"]
    await taken.end(1.0)


async def test_a_statement_for_a_process_that_was_killed_says_how_it_ended(spares: Reserve, tmp_path: Path) -> None:
    process = await spares.take()
    os.kill(process.pid, signal.SIGKILL)
    await until(lambda: process.has_ended)
    statement = Statement("1", Language.SQL, "SELECT 1", str(tmp_path), str(tmp_path / "log"), "/")
    with pytest.raises(Ended, match=r"^its process was ended by signal 9$"):
        await process.run(statement, lambda _rows: None)


async def test_a_process_that_is_killed_with_a_question_unread_has_ended(spares: Reserve) -> None:
    process = await spares.take()
    os.kill(process.pid, signal.SIGSTOP)
    asking = asyncio.create_task(process.ask({}))
    await until(lambda: process._questions)
    os.kill(process.pid, signal.SIGKILL)
    await until(lambda: process.has_ended)
    with pytest.raises(Ended, match=r"^its process was ended by signal 9$"):
        await asking


@pytest.mark.parametrize("behaviour", ["loads for ever", "is silent"])
async def test_a_python_that_is_never_ready_is_given_up(
    behaviour: str, spares: Reserve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, other = spares.python, tmp_path / "python"
    other.symlink_to(sys.executable)
    monkeypatch.setattr(reserve, "_LOADING_SECONDS", 1.0)
    monkeypatch.setenv("BEHAVIOUR", behaviour)
    with pytest.raises(Ended, match=r"^its Python was not ready after 1 s$"):
        await spares.use(str(other))
    assert spares.python == before
    await until(lambda: not processes_of(other))
    taken = await spares.take()
    assert not taken.has_ended
    await taken.end(1.0)


async def test_a_process_that_never_reaches_the_driver_is_ended(
    driver: Forgetting, spares: Reserve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_READY_SECONDS", 0.3)
    monkeypatch.setenv("BEHAVIOUR", "is silent")
    zygote = Zygote(sys.executable)
    silent = Reserve(driver, zygote, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(Ended, match=r"^its process had not reached Spark's driver after 0 s$"):
        await silent.take()
    assert not psutil.Process(zygote._process.pid).children()
    await zygote.end()
