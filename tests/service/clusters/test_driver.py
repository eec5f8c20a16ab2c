"""The life of a cluster: started, kept up, ended; by one service after the other."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial

import psutil
import pytest
from tests.service.clusters.world import NewWorld, World, until_true
from tests.support.until import until

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters import reconciler
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import ProviderFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
UP, DOWN, PENDING = ClusterState.UP, ClusterState.DOWN, ClusterState.PENDING


async def test_a_cluster_is_started_and_terminated_to_the_last_process(world: World):
    assert await world.clusters.change_state("default", "start", by=world.by) == "Starting cluster with id 1."
    instance = await world.reaches(UP)
    state = await world.state()
    assert [node["role"] for node in state["nodes"]] == ["master", "worker", "worker"]
    assert {node["status"] for node in state["nodes"]} == {"RUNNING"}
    pids = await world.engine.pids(instance)
    assert len(pids) == 3
    await world.clusters.change_state("default", "terminate", by=world.by)
    await world.reaches(DOWN)
    state = await world.state()
    assert state["terminate_reason"] == "cluster default was terminated by admin@localhost"
    assert state["nodes"] == []
    assert state["down_at"] is not None
    assert not any(is_alive(pid) for pid in pids)
    assert os.listdir(instance.folder) == []


async def test_a_start_that_fails_leaves_nothing_and_says_why(world: World):
    world.engine.start_failure = ClusterFailure("port 8088 of 127.0.0.1 is taken by program 7")
    await world.clusters.change_state("default", "start", by=world.by)
    await until(lambda: world.engine.starts)
    instance = await world.reaches(DOWN)
    reason = "cluster default could not be started: port 8088 of 127.0.0.1 is taken by program 7"
    assert (await world.state())["terminate_reason"] == reason
    assert await world.engine.pids(instance) == set()
    assert os.listdir(instance.folder) == []


async def test_a_termination_ends_a_start_under_way(world: World):
    world.engine.may_start.clear()
    await world.clusters.change_state("default", "start", by=world.by)
    await world.until_state(lambda state: state["message"] == "3 nodes wait")
    await world.clusters.change_state("default", "terminate", by=world.by)
    instance = await world.reaches(DOWN)
    assert await world.engine.pids(instance) == set()


async def test_another_service_goes_on_with_a_start_and_finds_running_daemons_again(world: World, new_world: NewWorld):
    world.engine.may_start.clear()
    await world.clusters.change_state("default", "start", by=world.by)
    await world.until_state(lambda state: state["message"] == "3 nodes wait")
    before = await world.engine.pids(await world.reaches(PENDING))
    await world.stop()
    second: World = new_world()
    await second.start()
    assert await second.engine.pids(await second.reaches(UP)) == before
    await second.stop()
    third: World = new_world()
    await third.start()
    assert await third.engine.pids(await third.reaches(UP)) == before
    await until(lambda: third.engine.supervised)
    assert third.engine.starts == 0


async def test_a_stop_that_comes_while_the_work_of_a_former_state_ends_stops(world: World, monkeypatch):
    ending, may_end = asyncio.Event(), asyncio.Event()

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            await may_end.wait()

    monkeypatch.setattr(world.engine.may_start, "wait", slow_to_end)
    await world.clusters.change_state("default", "start", by=world.by)
    await world.until_state(lambda state: state["message"] == "3 nodes wait")
    instance = await world.reaches(PENDING)
    await world.database.write(partial(world.life_cycle.up, instance_id=instance.id))
    await ending.wait()
    async with asyncio.timeout(15):
        await world.driver.stop()
    may_end.set()


async def test_another_service_ends_what_was_being_ended(world: World, new_world: NewWorld):
    await world.clusters.change_state("default", "start", by=world.by)
    pids = await world.engine.pids(await world.reaches(UP))
    await world.stop()
    with world.database.begin() as connection:
        cluster = await world.clusters.resolve(1, "default")
        world.life_cycle.terminate(connection, cluster, "told to")
    second: World = new_world()
    await second.start()
    await second.reaches(DOWN)
    assert not any(is_alive(pid) for pid in pids)


async def test_a_cluster_that_cannot_recover_is_terminated_with_the_reason(world: World):
    await world.clusters.change_state("default", "start", by=world.by)
    await world.reaches(UP)
    world.engine.supervise_failure = ClusterFailure("the coordinator's data is gone")
    await world.reaches(DOWN)
    assert (await world.state())["terminate_reason"] == (
        "cluster default was terminated: the coordinator's data is gone"
    )


async def test_a_failing_look_is_taken_again_and_a_dead_daemon_started_again(world: World):
    await world.clusters.change_state("default", "start", by=world.by)
    instance = await world.reaches(UP)
    world.engine.supervise_failure = ProviderFailure("the machine does not answer")
    looks = world.engine.supervised
    await until(lambda: world.engine.supervised > looks + 1)
    world.engine.supervise_failure = ValueError("a mistake")
    looks = world.engine.supervised
    await until(lambda: world.engine.supervised > looks + 1)
    world.engine.supervise_failure = None
    victim = min(await world.engine.pids(instance))
    os.kill(victim, signal.SIGKILL)
    await until_true(lambda: has_others(world, instance, victim))
    assert (await world.state())["state"] == UP


async def test_processes_of_an_instance_that_is_over_are_swept_when_a_service_starts(world: World, new_world: NewWorld):
    world.engine.terminate_failure = ClusterFailure("a daemon does not end")
    await world.clusters.change_state("default", "start", by=world.by)
    instance = await world.reaches(UP)
    pids = await world.engine.pids(instance)
    await world.stop()
    # As after a crash of the machine's disk: the row is over, the processes are not.
    with world.database.begin() as connection:
        world.life_cycle.terminate(connection, await world.clusters.resolve(1, "default"), "told to")
        world.life_cycle.down(connection, instance.id)
    second: World = new_world()
    await second.start()
    await until(lambda: not any(is_alive(pid) for pid in pids))
    await until(lambda: not os.listdir(instance.folder))


async def test_a_termination_whose_engine_fails_ends_all_the_same(world: World):
    world.engine.terminate_failure = ClusterFailure("a daemon does not end")
    await world.clusters.change_state("default", "start", by=world.by)
    pids = await world.engine.pids(await world.reaches(UP))
    await world.clusters.change_state("default", "terminate", by=world.by)
    await world.reaches(DOWN)
    assert not any(is_alive(pid) for pid in pids)


async def test_a_termination_that_never_succeeds_gives_up_with_the_reason_and_is_swept_later(
    world: World, new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reconciler, "_ENDING_SECONDS", 0.5)
    tries: list[Instance] = []

    async def sweep(instance: Instance) -> None:
        tries.append(instance)
        raise ModuleNotFoundError("no module for this provider")

    await world.clusters.change_state("default", "start", by=world.by)
    pids = await world.engine.pids(await world.reaches(UP))
    world.engine.terminate_failure = ModuleNotFoundError("no module for this provider")
    monkeypatch.setattr(world.provider, "sweep", sweep)
    await world.clusters.change_state("default", "terminate", by=world.by)
    await world.reaches(DOWN)
    state = await world.state()
    assert state["message"] == (
        "not all of it could be ended, which is tried again every 5 minutes: an error of the service itself "
        "(ModuleNotFoundError); its log has the details"
    )
    assert tries
    assert all(is_alive(pid) for pid in pids)
    await world.stop()
    second: World = new_world()
    await second.start()
    await until(lambda: not any(is_alive(pid) for pid in pids))
    await second.until_state(lambda state: state["message"] is None)


async def test_a_cluster_ends_when_nothing_ran_on_it_for_its_time(new_world: NewWorld):
    world: World = new_world(idle_cluster_seconds=0.6)
    await world.start()
    world.engine.busy = True
    await world.clusters.change_state("default", "start", by=world.by)
    await world.reaches(UP)
    looks = world.engine.supervised
    await until(lambda: world.engine.supervised > looks + 1)  # a second and more
    assert (await world.state())["state"] == UP
    world.engine.busy = False
    await world.reaches(DOWN)
    assert (await world.state())["terminate_reason"].startswith("cluster default was terminated: nothing ran on it for")


async def has_others(world: World, instance: Instance, victim: int) -> bool:
    return len(await world.engine.pids(instance) - {victim}) == 3


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
