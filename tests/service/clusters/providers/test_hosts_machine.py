"""A node on a host reached by SSH: a real server on a loopback address, a real shell, real processes."""

# ruff: noqa: ASYNC240  the files are small, and nothing else goes on in these tests

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncssh
import psutil
import pytest
from tests.service.clusters.providers.hosts_world import HostsWorld
from tests.support.processes import is_over
from tests.support.ssh_host import SshHosts, ssh_hosts
from tests.support.until import until, written

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers import hosts_machine
from svc_jupyter.service.clusters.providers.hosts_machine import HostMachine
from svc_jupyter.service.clusters.providers.provider import Daemon, ProviderFailure


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    with ssh_hosts(tmp_path_factory.mktemp("hosts"), "one") as hosts:
        yield hosts


@pytest.fixture
async def world(tmp_path: Path, hosts: SshHosts) -> AsyncIterator[HostsWorld]:
    world = HostsWorld.of(tmp_path / "data", hosts.inventory)
    yield world
    await world.close()
    assert not hosts["one"].processes()


@pytest.fixture
async def instance(world: HostsWorld) -> Instance:
    return await world.take(await world.started(), NodeRole.MASTER, 1)


@pytest.fixture
def machine(world: HostsWorld, instance: Instance) -> HostMachine:
    return world.machine(instance)


async def test_a_daemon_is_started_once_and_outlives_the_connection_and_the_service(
    world: HostsWorld, instance: Instance, machine: HostMachine
):
    await machine.start(Daemon("sleeper", ["sleep", "1000"]))
    await machine.start(Daemon("sleeper", ["sleep", "1000"]))
    (state,) = await machine.daemons()
    assert state.is_running
    shell = psutil.Process(state.pid).parent()
    await until(lambda: [process.name() for process in shell.children(recursive=True)] == ["sleep"])

    later = (await world.again()).machine(instance, instance.nodes[0])
    assert await later.daemons() == [state]
    assert os.getsid(state.pid) == state.pid


async def test_how_a_daemon_ended_is_reported_with_what_it_wrote(machine: HostMachine):
    await machine.start(Daemon("failing", ["sh", "-c", "echo out; echo 'no such disk' >&2; exit 7"]))
    await machine.start(Daemon("killed", ["sh", "-c", "kill -9 $$"]))

    async def codes() -> bool:
        return [state.exit_code for state in await machine.daemons()] == [7, 137]

    deadline = time.monotonic() + 20
    while not await codes():
        assert time.monotonic() < deadline, await machine.daemons()
    assert await machine.tail("failing") == "no such disk\n"
    await machine.start(Daemon("failing", ["sleep", "1000"]))
    assert [state.is_running for state in await machine.daemons()] == [True, False]


async def test_a_program_that_is_not_there_ends_at_once_and_says_so(machine: HostMachine):
    await machine.start(Daemon("missing", ["/no/such/program"]))
    while (await machine.daemons())[0].exit_code is None:  # noqa: ASYNC110  each look is a round trip
        await asyncio.sleep(0)
    assert (await machine.daemons())[0].exit_code == 127
    assert "/no/such/program" in await machine.tail("missing")


async def test_a_number_that_is_another_process_now_is_not_the_daemon(machine: HostMachine):
    await machine.start(Daemon("sleeper", ["sleep", "1000"]))
    Path(machine.folder, "daemons", "sleeper", "pid").write_text(f"{os.getpid()}\n")
    assert not (await machine.daemons())[0].is_running
    await machine.stop("sleeper", 0)
    assert await machine.daemons() == []


def leaders_below(process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that it began and that have a session of their own by now."""
    return [child for child in process.children() if os.getsid(child.pid) == child.pid]


async def test_a_stop_ends_what_ignores_it_and_leaves_what_has_a_session_of_its_own(
    machine: HostMachine, tmp_path: Path
):
    stubborn = f"setsid sleep 1000 & trap '' TERM; echo 1 >{tmp_path}/ready; while :; do sleep 0.1; done"
    await machine.start(Daemon("stubborn", ["sh", "-c", stubborn]))
    (state,) = await machine.daemons()
    process = psutil.Process(state.pid)
    await written(tmp_path / "ready")
    await until(lambda: leaders_below(process))
    (escaped,) = leaders_below(process)
    await machine.stop("stubborn", 0.2)
    await machine.stop("stubborn", 0.2)
    await until(lambda: is_over(process.pid))
    assert escaped.is_running()
    assert await machine.daemons() == []


OVERTAKEN = """#!/bin/sh
for folder; do :; done
[ -e "$folder/pid" ] || exec "{rm}" "$@"
"{rm}" -rf "$folder"/*
echo 7 >"$folder/rc"
echo "$folder" >>"{removed}"
exec rmdir "$folder"
"""
"""`rm`, but a daemon's exit code is written into the daemon's folder between its emptying and its removal."""


@pytest.fixture
def removed(hosts: SshHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that lists the daemons' folders whose removal on the host was overtaken."""
    program, removed = tmp_path / "bin" / "rm", tmp_path / "removed"
    program.parent.mkdir()
    program.write_text(OVERTAKEN.format(rm=shutil.which("rm"), removed=removed))
    program.chmod(0o755)
    hosts["one"].down()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        hosts["one"].up()
    yield removed
    hosts["one"].down()
    hosts["one"].up()


async def test_an_exit_code_that_is_written_meanwhile_is_not_in_the_way_and_not_the_next_daemon_s(
    removed: Path, machine: HostMachine
):
    await machine.start(Daemon("late", ["sleep", "1000"]))
    await machine.stop("late", 5)
    assert await machine.daemons() == []
    assert len(removed.read_text().splitlines()) == 1

    await machine.start(Daemon("late", ["true"]))
    await written(Path(machine.folder, "daemons", "late", "rc"))
    await machine.start(Daemon("late", ["sleep", "1000"]))
    assert [state.is_running for state in await machine.daemons()] == [True]
    assert len(removed.read_text().splitlines()) == 2


async def test_files_are_written_whole_for_the_owner_alone(machine: HostMachine):
    await machine.write({"conf/a.xml": b"<a/>", "conf/webapps/x/web.xml": b"w", "top": b"1"})
    await machine.write({"conf/a.xml": b"<b/>"})
    folder = Path(machine.folder)
    assert (folder / "conf/a.xml").read_bytes() == b"<b/>"
    assert (folder / "conf/webapps/x/web.xml").read_bytes() == b"w"
    assert (folder / "conf/a.xml").stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in folder.iterdir()) == ["conf", "top"]


async def test_a_run_gives_its_output_and_code_and_what_it_leaves_running_does_not_hold_it(
    machine: HostMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SVC_SMTP_PASSWORD", "hidden")
    log = tmp_path / "log"
    log.write_text("before\n")
    script = 'sleep 1000 & echo "$GREETING $PWD"; env | grep -c SVC_SMTP; echo problem >&2; exit 5'
    assert await machine.run(["sh", "-c", script], environment={"GREETING": "it's"}, log=log) == 5
    assert log.read_text() == f"before\nit's {machine.folder}\n0\nproblem\n"


async def test_a_cancelled_run_ends_with_all_it_started_and_its_output_is_kept(
    machine: HostMachine, tmp_path: Path, hosts: SshHosts
):
    log = tmp_path / "log"
    script = "echo begun; setsid sleep 1000 & sleep 1000"
    running = asyncio.create_task(machine.run(["sh", "-c", script], environment={}, log=log))
    await until(lambda: sum(process.name() == "sleep" for process in hosts["one"].processes()) == 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not hosts["one"].processes()
    assert log.read_text().startswith("begun\n")  # the shell may tell of its own end


async def test_an_engine_is_copied_once_by_what_it_holds(machine: HostMachine, hosts: SshHosts, tmp_path: Path):
    jars = [tmp_path / "lib" / "a.jar", tmp_path / "lib" / "b.jar", tmp_path / "own" / "c.jar"]
    for jar in jars:
        jar.parent.mkdir(exist_ok=True)
        jar.write_bytes(jar.name.encode() * 500_000)
    places = (await asyncio.gather(*(machine.engine("hadoop", jars) for _ in range(3))))[0]
    assert [Path(place).read_bytes() for place in places] == [jar.read_bytes() for jar in jars]
    assert places[0].parent == places[1].parent != places[2].parent
    number = Path(places[0]).stat().st_ino
    assert await machine.engine("hadoop", jars) == places
    assert Path(places[0]).stat().st_ino == number

    jars[1].write_bytes(b"newer")
    newer = await machine.engine("hadoop", jars)
    assert Path(newer[1]).read_bytes() == b"newer"
    assert Path(places[1]).read_bytes() != b"newer"
    assert len(list((hosts["one"].folder / "engines").iterdir())) == 2


async def test_the_inventory_says_which_java_and_a_wrong_one_is_reported(
    machine: HostMachine, hosts: SshHosts, tmp_path: Path
):
    java = tmp_path / "java-8"
    (java / "bin").mkdir(parents=True)
    lines = "java.version = 1.8.0_402\njava.home = /j\njava.vm.name = a\njava.vm.version = b\njava.vm.vendor = c"
    (java / "bin" / "java").write_text(f"#!/bin/sh\necho '{lines}'\n")
    (java / "bin" / "java").chmod(0o755)
    hosts.write_inventory(one={"java": str(java)})
    with pytest.raises(ProviderFailure, match=rf"host one has no Java 17 or 21 \({java}/bin/java is 1.8.0_402\)"):
        await machine.java()
    hosts.write_inventory(one={"java": str(tmp_path / "nothing")})
    with pytest.raises(ProviderFailure, match=r"none in .*/nothing of the inventory"):
        await machine.java()
    hosts.write_inventory()


async def test_the_load_is_the_hosts(machine: HostMachine):
    load = await machine.load()
    assert 0 <= load["cpu_percent"] <= 100
    assert 0 < load["disk_percent"] < 100


async def test_outputs_that_grow_too_long_keep_their_end(machine: HostMachine):
    await machine.start(Daemon("talker", ["sleep", "1000"]))
    file = Path(machine.folder, "logs", "talker.err")
    file.write_bytes(b"x" * (8 * 2**20) + b"the end\n")
    await machine.daemons()
    assert file.stat().st_size == 2**20
    assert await machine.tail("talker", 8) == "the end\n"


async def test_a_host_that_is_cut_off_is_reported_and_found_again_with_its_daemons(
    machine: HostMachine, hosts: SshHosts
):
    await machine.start(Daemon("sleeper", ["sleep", "1000"]))
    (state,) = await machine.daemons()
    host = hosts["one"]
    host.down()
    with pytest.raises(ProviderFailure, match=rf"host one \({host.address}:2222\) cannot be reached"):
        await machine.daemons()
    host.up()
    deadline = time.monotonic() + 20
    while True:
        try:
            assert await machine.daemons() == [state]
            break
        except ProviderFailure:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def test_a_host_that_stops_answering_is_lost_after_a_while(
    machine: HostMachine, hosts: SshHosts, monkeypatch: pytest.MonkeyPatch
):
    await machine.daemons()
    monkeypatch.setattr(hosts_machine, "LOOK_SECONDS", 0.3)
    hosts["one"].freeze()
    try:
        with pytest.raises(ProviderFailure, match=r"cannot be reached: no answer within 0.3 s"):
            await machine.daemons()
    finally:
        hosts["one"].down()
        hosts["one"].up()
    monkeypatch.undo()
    deadline = time.monotonic() + 20
    while True:
        try:
            assert await machine.daemons() == []
            break
        except ProviderFailure:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("known", ["", "[{address}]:2222 {other}\n"])
async def test_a_host_whose_key_is_not_the_known_one_is_not_used(hosts: SshHosts, tmp_path: Path, known: str):
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    (tmp_path / "known_hosts").write_text(known.format(address=hosts["one"].address, other=other))
    inventory = tmp_path / "inventory.toml"
    text = hosts.inventory.read_text().replace('"id_ed25519"', f'"{hosts["one"].keys}/id_ed25519"')
    inventory.write_text(text)
    world = HostsWorld.of(tmp_path / "data", inventory)
    try:
        with pytest.raises(ProviderFailure, match=r"its host key is not the one in .*known_hosts, or none is there"):
            await world.provider.make(await world.started(), NodeRole.MASTER, 1)
    finally:
        await world.provider.close()
        world.database.close()


async def test_a_key_that_the_host_does_not_know_is_reported(hosts: SshHosts, tmp_path: Path):
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(tmp_path / "stranger"))
    inventory = tmp_path / "inventory.toml"
    text = hosts.inventory.read_text().replace('"id_ed25519"', '"stranger"')
    inventory.write_text(text.replace('"known_hosts"', f'"{hosts["one"].keys}/known_hosts"'))
    world = HostsWorld.of(tmp_path / "data", inventory)
    try:
        with pytest.raises(ProviderFailure, match=r"it does not let tester in with the key .*/stranger"):
            await world.provider.make(await world.started(), NodeRole.MASTER, 1)
    finally:
        await world.provider.close()
        world.database.close()


async def test_nothing_that_is_sent_stands_in_the_list_of_processes(machine: HostMachine, hosts: SshHosts):
    await machine.start(Daemon("sleeper", ["sleep", "1000"], {"TOKEN": "sesame"}))
    (state,) = await machine.daemons()
    assert psutil.Process(state.pid).environ()["TOKEN"] == "sesame"
    lines = [" ".join(process.cmdline()) for process in hosts["one"].processes()]
    assert not [line for line in lines if "sesame" in line]
    os.kill(state.pid, signal.SIGKILL)
