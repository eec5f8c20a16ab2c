"""Daemons on a node of this machine: started once, found again, ended."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.service.clusters.providers.conftest import instance_with
from tests.support.until import until, written

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers import daemon_process
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.local_machine import LocalMachine
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import NODE_MARK, Daemon, DaemonState, ProviderFailure
from svc_jupyter.service.ground.settings import Settings

SLEEPER = Daemon("sleeper", ["sleep", "1000"])


@pytest.fixture
async def machine(provider: LocalProvider, instance: Instance, settings: Settings) -> LocalMachine:
    made = list(await provider.make(instance, NodeRole.MASTER, 1))
    known = instance_with(settings, made)
    return provider.machine(known, known.nodes[0])


async def only(machine: LocalMachine) -> DaemonState:
    (state,) = await machine.daemons()
    return state


async def begun(machine: LocalMachine) -> DaemonState:
    """Wait until the daemon is its program, and can be known by its mark; return its state."""
    state = await only(machine)
    await until(lambda: psutil.Process(state.pid).cmdline() == list(SLEEPER.argv))
    return state


async def ended(machine: LocalMachine) -> DaemonState:
    """Wait until the daemon has ended; return its state."""
    async with asyncio.timeout(10):
        while (state := await only(machine)).is_running:  # noqa: ASYNC110  it happens in another process
            await asyncio.sleep(0.01)
    return state


async def test_a_daemon_that_runs_is_not_started_a_second_time(machine: LocalMachine):
    await machine.start(SLEEPER)
    first = (await only(machine)).pid
    await begun(machine)
    await asyncio.gather(*(machine.start(SLEEPER) for _ in range(5)))
    assert (await only(machine)).pid == first
    assert [process.pid for process in marked(NODE_MARK, Path(machine.folder))] == [first]


async def test_a_file_that_several_write_at_once_is_one_of_theirs(machine: LocalMachine):
    texts = [bytes([letter]) * 100_000 for letter in b"abcdefgh"]
    for _ in range(10):
        await asyncio.gather(*(machine.write({"conf/nodes": text}) for text in texts))
    conf = Path(machine.folder / "conf")
    assert (conf / "nodes").read_bytes() in texts
    assert os.listdir(conf) == ["nodes"]


async def test_a_daemon_goes_on_and_is_found_again_after_the_service_was_killed(machine: LocalMachine, tmp_path: Path):
    program = """
import asyncio, os, signal, sys
from pathlib import Path
from svc_jupyter.service.clusters.providers.local_machine import LocalMachine
from svc_jupyter.service.clusters.providers.local_machine import ProcessorUse
from svc_jupyter.service.clusters.providers.provider import Daemon
folder = Path(sys.argv[1])
machine = LocalMachine(folder.parent.parent, folder, None, ProcessorUse())
asyncio.run(machine.start(Daemon("sleeper", ["sleep", "1000"])))
os.kill(os.getpid(), signal.SIGKILL)
"""
    service = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program, str(machine.folder)], timeout=60)
    assert service.returncode == -signal.SIGKILL
    found = await only(machine)
    assert found.is_running
    await machine.stop("sleeper", 1)
    assert await machine.daemons() == []
    await until(lambda: not list(marked(NODE_MARK, Path(machine.folder))))


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
async def test_the_exit_code_of_a_daemon_is_known(machine: LocalMachine, script: str, code: int):
    await machine.start(Daemon("short", ["sh", "-c", f"echo why >&2; {script}"]))
    assert await ended(machine) == DaemonState("short", exit_code=code)
    assert await machine.tail("short") == "why\n"
    await machine.start(Daemon("short", ["sleep", "1000"]))
    assert (await only(machine)).is_running


async def test_another_process_with_the_number_of_a_dead_daemon_is_not_it(machine: LocalMachine):
    await machine.start(SLEEPER)
    state = await only(machine)
    assert state.pid
    os.kill(state.pid, signal.SIGKILL)
    await ended(machine)
    folder = Path(machine.folder) / "daemons" / "sleeper"
    (folder / "rc").unlink()
    (folder / "pid").write_text(f"{os.getpid()}\n")
    assert not (await only(machine)).is_running


async def test_a_daemon_is_known_whatever_the_wall_clock_was_set_to(
    machine: LocalMachine, monkeypatch: pytest.MonkeyPatch
):
    """Also in the instant in which it becomes its program and has no environment to be read."""
    await machine.start(SLEEPER)
    told = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: told(process) + 10)
    monkeypatch.setattr(psutil.Process, "environ", lambda _process: {})
    assert (await only(machine)).is_running


async def test_a_daemon_whose_number_was_damaged_is_found_by_its_mark(machine: LocalMachine):
    await machine.start(SLEEPER)
    state = await begun(machine)
    pid = Path(machine.folder) / "daemons" / "sleeper" / "pid"

    async def found(text: bytes) -> DaemonState:
        pid.write_bytes(text)
        return await only(machine)

    damaged = (b"no number\n", b"\xff\n", b"0\n", b"1 2\n")
    assert {text: await found(text) for text in damaged} == dict.fromkeys(damaged, state)
    await machine.stop("sleeper", 1)
    await until(lambda: not list(marked(NODE_MARK, Path(machine.folder))))


async def test_a_dead_daemon_whose_number_was_damaged_is_started_again(machine: LocalMachine):
    await machine.start(SLEEPER)
    state = await only(machine)
    assert state.pid
    os.kill(state.pid, signal.SIGKILL)
    await ended(machine)
    folder = Path(machine.folder) / "daemons" / "sleeper"
    (folder / "rc").unlink()
    (folder / "pid").write_bytes(b"no number\n")
    assert not (await only(machine)).is_running
    await machine.start(SLEEPER)
    assert (await only(machine)).is_running


async def test_a_daemon_of_an_earlier_version_is_found_by_its_number_and_mark(machine: LocalMachine):
    await machine.start(SLEEPER)
    state = await begun(machine)
    (Path(machine.folder) / "daemons" / "sleeper" / "pid").write_text(f"{state.pid}\n")
    assert await only(machine) == state


async def test_a_daemon_that_ignores_the_first_signal_is_killed(machine: LocalMachine, tmp_path: Path):
    ready = tmp_path / "ready"
    await machine.start(Daemon("stubborn", ["sh", "-c", f"trap '' TERM; echo 1 >{ready}; while :; do sleep 0.1; done"]))
    await written(ready)
    await machine.stop("stubborn", 0.1)
    await until(lambda: not list(marked(NODE_MARK, Path(machine.folder))))


async def test_nothing_of_the_services_own_settings_and_secrets_reaches_a_daemon(
    machine: LocalMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("SVC_DATABASE_URL", "postgresql://me:secret@db/x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    told = tmp_path / "told"
    await machine.start(Daemon("teller", ["sh", "-c", f"env >{told}.draft; mv {told}.draft {told}"], {"MINE": "yes"}))
    text = (await written(told)).read_text()
    assert "secret" not in text
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert {"MINE", "PATH", "SVC_CLUSTER_INSTANCE", "SVC_CLUSTER_NODE", "SVC_CLUSTER_DAEMON"} <= names
    assert {name for name in names if name.startswith("SVC_")} <= {
        "SVC_CLUSTER_INSTANCE",
        "SVC_CLUSTER_NODE",
        "SVC_CLUSTER_DAEMON",
    }


async def test_a_chatty_daemon_does_not_fill_the_disk(machine: LocalMachine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daemon_process, "_MOST_BYTES", 50_000)
    monkeypatch.setattr(daemon_process, "_KEPT_BYTES", 1_000)
    await machine.start(Daemon("chatty", ["sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i >&2; done"]))
    output = Path(machine.folder) / "logs" / "chatty.err"
    await until(lambda: output.exists() and output.stat().st_size > 60_000)
    await machine.stop("chatty", 1)
    last = output.read_text().splitlines()[-1]
    (Path(machine.folder) / "daemons" / "chatty").mkdir()
    await machine.daemons()
    assert output.stat().st_size <= 1_000
    assert output.read_text().splitlines()[-1] == last


async def test_a_program_runs_to_its_end_with_its_output_in_the_log(machine: LocalMachine, tmp_path: Path):
    log = tmp_path / "log"
    code = await machine.run(["sh", "-c", "echo out; echo err >&2; pwd; exit 4"], environment={}, log=log)
    assert code == 4
    assert log.read_text() == f"out\nerr\n{machine.folder}\n"


async def test_a_program_that_is_cancelled_is_ended(machine: LocalMachine, tmp_path: Path):
    script = "sleep 1000 & echo begun; wait"
    running = asyncio.create_task(machine.run(["sh", "-c", script], environment={}, log=tmp_path / "log"))
    await written(tmp_path / "log")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: not list(marked(NODE_MARK, Path(machine.folder))))


async def test_a_file_is_whole_or_not_there(machine: LocalMachine):
    await machine.write({"conf/a.xml": b"first"})
    await machine.write({"conf/a.xml": b"second", "conf/deep/b": b"other"})
    assert (Path(machine.folder) / "conf" / "a.xml").read_bytes() == b"second"
    assert {file.name for file in (Path(machine.folder) / "conf").iterdir()} == {"a.xml", "deep"}


async def test_a_folder_that_cannot_be_written_is_reported(machine: LocalMachine):
    (Path(machine.folder) / "conf").write_text("in the way")
    with pytest.raises(ProviderFailure, match=r"File exists|Not a directory"):
        await machine.write({"conf/a.xml": b"first"})


async def test_the_load_of_a_busy_node_is_seen(machine: LocalMachine):
    await machine.start(Daemon("busy", ["sh", "-c", "while :; do :; done"]))
    async with asyncio.timeout(20):
        while (load := await machine.load())["cpu_percent"] < 1:  # noqa: ASYNC110  it happens elsewhere
            await asyncio.sleep(0.1)
    assert load["cpu_percent"] <= 100
    assert 0 < load["disk_percent"] <= 100
