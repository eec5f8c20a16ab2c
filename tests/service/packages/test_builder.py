"""Environments built by the real installer, swapped, kept for those who use them, and removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.service.packages.conftest import NewWorld, World, started
from tests.service.packages.local_index import source_package, waiting_for
from tests.support.until import until, written

from svc_jupyter.service.commands import queue
from svc_jupyter.service.packages import work_queue
from svc_jupyter.service.packages.python_packages import PythonPackages
from svc_jupyter.service.schema.packages import activities, environments

pytestmark = pytest.mark.all
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
NO_INDEX = {"UV_DEFAULT_INDEX": "http://someone:hunter2@127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
"""An index that does not answer: nothing listens there."""
_PROXIES = [name for proxy in ("http_proxy", "https_proxy", "all_proxy") for name in (proxy, proxy.upper())]
NO_NETWORK = {**dict.fromkeys(_PROXIES, "http://127.0.0.1:9"), "NO_PROXY": "", "no_proxy": "", "UV_HTTP_RETRIES": "0"}
"""A way to the usual index that does not lead there."""


async def attached(world: World, environment_id: int) -> int:
    """Attach an environment to a new cluster; return the cluster's id."""
    cluster_id = world.cluster()
    world.environments.attach(environment_id, cluster_id, by=world.admin)
    assert (await world.ended(environment_id)).status == "success"
    return cluster_id


def version_in(python: Path, package: str) -> str:
    program = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


async def test_packages_are_added_and_gone_back_to(world: World):
    environment_id = world.create(packages=["six==1.16.0"])
    first = await world.ended(environment_id)
    assert first.status == "success", first.message
    assert world.packages(environment_id) == ["six==1.16.0"]
    world.add(environment_id, "six==1.17.0", "toolz==1.0.0")
    added = await world.ended(environment_id)
    assert added.message is not None
    assert added.message.startswith("toolz 1.0.0 added, six 1.16.0 → 1.17.0")
    world.restore(environment_id, first.id)
    restored = await world.ended(environment_id)
    assert (restored.status, restored.lock) == ("success", first.lock)
    assert world.packages(environment_id) == ["six==1.16.0"]
    assert [row.status for row in world.history(environment_id)] == ["success"] * 3


@on_sqlite
async def test_a_change_that_fails_changes_nothing_and_says_why(world: World):
    environment_id = world.create(packages=["six==1.16.0"])
    first = await world.ended(environment_id)
    world.add(environment_id, "six==99")
    failed = await world.ended(environment_id)
    assert (failed.action, failed.status, failed.lock) == ("add", "failed", [])
    assert "six" in str(failed.message)
    assert world.packages(environment_id) == ["six==1.16.0"]
    assert world.environments.get(environment_id, by=world.admin).package_id == first.id
    await until(lambda: world.folders() == {f"{first.id}-1"})


@on_sqlite
async def test_a_package_that_does_not_build_fails_in_the_words_of_its_build(new_world: NewWorld, tmp_path: Path):
    source_package(tmp_path / "index", "svcbroken", "raise SystemExit('no compiler for the moon')")
    world = await started(new_world(PythonPackages({**os.environ, "UV_FIND_LINKS": str(tmp_path / "index")})))
    environment_id = world.create(packages=["svcbroken"])
    failed = await world.ended(environment_id)
    assert failed.status == "failed"
    assert "no compiler for the moon" in str(failed.message)
    await until(lambda: world.folders() == set())


@on_sqlite
async def test_going_back_needs_no_index(new_world: NewWorld):
    online = await started(new_world())
    environment_id = online.create(packages=["six==1.16.0"])
    first = await online.ended(environment_id)
    assert first.status == "success", first.message
    await online.builder.stop()
    offline = await started(new_world(PythonPackages({**os.environ, **NO_NETWORK})))
    offline.restore(environment_id, first.id)
    restored = await offline.ended(environment_id)
    assert restored.status == "success", restored.message


@on_sqlite
async def test_going_back_in_vain_changes_nothing_and_is_a_row_of_its_own(new_world: NewWorld, tmp_path: Path):
    online = await started(new_world())
    environment_id = online.create(packages=["six==1.16.0"])
    first = await online.ended(environment_id)
    online.add(environment_id, "six==1.17.0")
    second = await online.ended(environment_id)
    assert (first.status, second.status) == ("success", "success")
    await online.builder.stop()
    without_cache = {**os.environ, **NO_NETWORK, "UV_CACHE_DIR": str(tmp_path / "empty")}
    offline = await started(new_world(PythonPackages(without_cache)))
    offline.restore(environment_id, first.id)
    failed = await offline.ended(environment_id)
    assert (failed.action, failed.status, failed.lock) == ("restore", "failed", [])
    assert [row.id for row in offline.history(environment_id)] == [first.id, second.id, failed.id]
    assert offline.environments.get(environment_id, by=offline.admin).package_id == second.id
    assert offline.packages(environment_id) == ["six==1.17.0"]
    await until(lambda: offline.folders() == {f"{second.id}-1"})


@on_sqlite
async def test_the_password_of_an_index_is_in_no_message(new_world: NewWorld):
    world = await started(new_world(PythonPackages({**os.environ, **NO_INDEX})))
    failed = await world.ended(world.create())
    assert failed.status == "failed"
    assert "127.0.0.1:9/simple" in str(failed.message)
    assert "hunter2" not in str(failed.message)


@on_sqlite
async def test_whoever_began_with_a_version_keeps_it_until_the_end(world: World):
    environment_id = world.create(packages=["six==1.16.0"])
    await world.ended(environment_id)
    cluster_id = await attached(world, environment_id)
    command_id, instance_id = world.command(), world.instance(cluster_id)
    of_command = await world.attached.of_cluster(cluster_id, command_id=command_id)
    of_instance = await world.attached.of_cluster(cluster_id, instance_id=instance_id)
    assert of_command is not None
    assert of_command == of_instance
    world.add(environment_id, "six==1.17.0")
    swapped = await world.ended(environment_id)
    later = await world.attached.of_cluster(cluster_id, command_id=world.command())
    assert later is not None
    assert later.package_id == swapped.id
    assert version_in(of_command.python, "six") == "1.16.0"
    assert version_in(later.python, "six") == "1.17.0"
    world.command_ends(command_id)
    world.add(environment_id, "six==1.16.0")
    await world.ended(environment_id)
    assert of_command.python.exists(), "the cluster's instance still runs with it"
    world.instance_ends(instance_id)
    await until(lambda: not of_command.folder.exists())
    assert later.python.exists()


async def test_a_deleted_environment_goes_with_the_last_that_uses_it(world: World):
    environment_id = world.create()
    await world.ended(environment_id)
    cluster_id = await attached(world, environment_id)
    command_id = world.command()
    used = await world.attached.of_cluster(cluster_id, command_id=command_id)
    assert used is not None
    world.environments.detach(environment_id, by=world.admin)
    await world.ended(environment_id)
    assert await world.attached.of_cluster(cluster_id, command_id=command_id) is None
    world.environments.delete(environment_id, by=world.admin)
    assert used.python.exists()
    world.command_ends(command_id)
    await until(lambda: not used.folder.exists())
    count = sa.select(sa.func.count()).select_from(environments)
    await until(lambda: world.scalar(count) == 0)


@on_sqlite
async def test_a_build_ends_with_its_environment(new_world: NewWorld, tmp_path: Path):
    begun, never = tmp_path / "begun", tmp_path / "never"
    source_package(tmp_path / "index", "svcslow", waiting_for(never, begun))
    world = await started(new_world(PythonPackages({**os.environ, "UV_FIND_LINKS": str(tmp_path / "index")})))
    environment_id = world.create(packages=["svcslow"])
    await written(begun)
    world.environments.delete(environment_id, by=world.admin)
    pid = int(begun.read_text())
    await until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid))
    await until(lambda: world.folders() == set())


async def test_activities_of_one_environment_are_taken_one_after_the_other(new_world: NewWorld):
    here, there = new_world(), new_world()
    for world in (here, there):
        await world.database.write(partial(queue.register, replica=world.replica, lease_until=2e9))
    first, second = here.create(), here.create("another")
    here.add(first, "six")
    claims = [
        world.database.write(partial(work_queue.claim, replica=world.replica, now=1.0)) for world in [here, there] * 2
    ]
    taken = [work for work in await asyncio.gather(*claims) if work is not None]
    assert sorted((work.environment_id, work.action) for work in taken) == [(first, "create"), (second, "create")]


async def test_an_interrupted_build_is_retried_and_fails_after_three_attempts(new_world: NewWorld):
    gone, world = new_world(), new_world()
    environment_id = gone.create()
    for attempt in (1, 2, 3):
        work = await gone.database.write(partial(work_queue.claim, replica=gone.replica, now=1.0))
        assert work is not None
        assert (work.attempt, work.was_interrupted_too_often) == (attempt, False)
    await started(world)
    failed = await world.ended(environment_id)
    assert failed.status == "failed"
    assert "time and again" in str(failed.message)


@on_sqlite
async def test_a_service_that_stops_leaves_its_work_to_the_next(idle: World):
    environment_id = idle.create()
    await idle.database.write(partial(work_queue.claim, replica=idle.replica, now=1.0))
    await idle.database.write(partial(work_queue.give_back, replica=idle.replica))
    (row,) = idle.history(environment_id)
    assert row.status == "waiting"
    assert idle.scalar(sa.select(activities.c.attempts)) == 0


@on_sqlite
@pytest.mark.parametrize("version", ["2.7", "3.99"])
async def test_a_python_that_is_not_there_fails_with_its_name(new_world: NewWorld, version: str):
    world = await started(new_world(PythonPackages({**os.environ, "UV_PYTHON_DOWNLOADS": "never"})))
    environment_id = world.create(python_version=version)
    failed = await world.ended(environment_id)
    assert failed.status == "failed"
    assert version in str(failed.message)


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
