"""Making nodes on this machine and taking them back."""

from __future__ import annotations

import asyncio

import psutil
import pytest
from tests.service.clusters.providers.conftest import instance_with
from tests.support.until import until

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers import local
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK, NODE_MARK, Daemon, ProviderFailure
from svc_jupyter.service.ground.settings import Settings


async def test_nodes_lie_in_a_block_of_their_own(provider: LocalProvider, instance: Instance, settings: Settings):
    (master,) = await provider.make(instance, NodeRole.MASTER, 1)
    workers = await provider.make(instance_with(settings, [master]), NodeRole.WORKER, 2)
    block = master.private_ip.removesuffix(".1")
    assert [worker.private_ip for worker in workers] == [f"{block}.11", f"{block}.12"]
    assert workers[0].private_dns == workers[0].hostname == "ip-" + f"{block}.11".replace(".", "-")
    assert workers[0].details["memory_mb"] >= 1536


async def test_two_additions_at_once_make_different_nodes(
    provider: LocalProvider, instance: Instance, settings: Settings
):
    (master,) = await provider.make(instance, NodeRole.MASTER, 1)
    known = instance_with(settings, [master])
    made = await asyncio.gather(*(provider.make(known, NodeRole.WORKER, 3) for _ in range(4)))
    assert len({node.private_dns for nodes in made for node in nodes}) == 12


async def test_more_workers_than_allowed_are_refused_and_none_is_made(
    provider: LocalProvider, instance: Instance, settings: Settings
):
    made = list(await provider.make(instance, NodeRole.MASTER, 1))
    with pytest.raises(ProviderFailure, match=r"21 workers are more than this machine can carry \(20\).*LOCAL_MAX"):
        await provider.make(instance_with(settings, made), NodeRole.WORKER, 21)
    assert [folder.name for folder in (instance.folder / "nodes").iterdir()] == [made[0].private_dns]


async def test_nodes_that_memory_has_no_room_for_are_refused(
    provider: LocalProvider, instance: Instance, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local, "COORDINATOR_BYTES", psutil.virtual_memory().total)
    with pytest.raises(ProviderFailure, match=r"MB of memory, and .* MB are free on this machine"):
        await provider.make(instance, NodeRole.MASTER, 1)
    assert not instance.folder.exists()


async def test_a_disk_without_room_is_reported_before_anything_is_made(settings: Settings, instance: Instance):
    full = settings.model_copy(update={"min_free_disk_bytes": 2**60})
    with pytest.raises(ProviderFailure, match=r"the disk of .* is full"):
        await LocalProvider(full, lambda: asyncio.sleep(0)).make(instance, NodeRole.MASTER, 1)
    assert not instance.folder.exists()


async def test_nodes_that_a_killed_service_never_wrote_down_are_taken_back(
    provider: LocalProvider, instance: Instance, settings: Settings
):
    (master,) = await provider.make(instance, NodeRole.MASTER, 1)
    known = instance_with(settings, [master])
    (forgotten,) = await provider.make(known, NodeRole.WORKER, 1)
    row = instance_with(settings, [master, forgotten]).workers[0]
    await provider.machine(known, row).start(Daemon("sleeper", ["sleep", "1000"]))

    later = LocalProvider(settings, lambda: asyncio.sleep(0))
    (made,) = await later.make(known, NodeRole.WORKER, 1)
    assert not list(marked(NODE_MARK, instance.folder / "nodes" / forgotten.private_dns)) or made == forgotten
    assert {folder.name for folder in (instance.folder / "nodes").iterdir()} == {
        master.private_dns,
        made.private_dns,
    }


async def test_releasing_a_node_ends_what_runs_there_and_nothing_else(
    provider: LocalProvider, instance: Instance, settings: Settings
):
    made = list(await provider.make(instance, NodeRole.MASTER, 1))
    made += await provider.make(instance_with(settings, made), NodeRole.WORKER, 1)
    known = instance_with(settings, made)
    for node in known.nodes:
        escaping = "setsid sleep 1000 & sleep 1000"
        await provider.machine(known, node).start(Daemon("sleeper", ["sh", "-c", escaping]))
    master, worker = known.nodes
    await until(lambda: len(list(marked(NODE_MARK, instance.folder / "nodes" / worker.private_dns))) == 3)

    await provider.release(known, [worker])
    await provider.release(known, [worker])
    assert not list(marked(NODE_MARK, instance.folder / "nodes" / worker.private_dns))
    assert not (instance.folder / "nodes" / worker.private_dns).exists()
    assert (await provider.machine(known, master).daemons())[0].is_running

    await provider.sweep(known)
    assert not list(marked(INSTANCE_MARK, instance.folder))
    assert not instance.folder.exists() or not list(instance.folder.iterdir())
