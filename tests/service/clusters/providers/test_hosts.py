"""Taking hosts of an inventory for nodes and giving them back, over real SSH servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.service.clusters.providers.hosts_world import HostsWorld
from tests.support.ssh_host import SshHosts, ssh_hosts
from tests.support.until import until

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.providers.provider import Daemon, ProviderFailure

ESCAPING = Daemon("sleeper", ["sh", "-c", "setsid sleep 1000 & sleep 1000"])


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    with ssh_hosts(tmp_path_factory.mktemp("hosts"), "front", "one", "two") as hosts:
        hosts.write_inventory(front={"roles": ["master"]}, two={"labels": ["nightly"]})
        yield hosts


@pytest.fixture
async def world(tmp_path: Path, hosts: SshHosts) -> AsyncIterator[HostsWorld]:
    world = HostsWorld.of(tmp_path / "data", hosts.inventory)
    yield world
    await world.close()
    assert not _left(hosts)


def _left(hosts: SshHosts) -> list[str]:
    """What is on the hosts for clusters."""
    found = [file for host in hosts.hosts.values() for file in (host.folder / "nodes", host.folder / "claim")]
    claims = [str(file) for file in found if file.is_file()]
    return claims + [str(entry) for folder in found if folder.is_dir() for entry in folder.iterdir()]


def _touched(file: Path) -> Path:
    file.touch()
    return file


async def test_nodes_are_hosts_of_their_role_and_label_with_what_they_have(world: HostsWorld, hosts: SshHosts):
    instance = await world.take(await world.started("nightly"), NodeRole.MASTER, 1)
    instance = await world.take(instance, NodeRole.WORKER, 2)
    master, *workers = instance.nodes
    assert (master.private_dns, master.private_ip) == ("front", hosts["front"].address)
    assert [worker.private_dns for worker in workers] == ["two", "one"]  # the one that others cannot use goes first
    assert master.details["memory_mb"] == 1536
    assert master.details["cores"] >= 1
    assert master.details["architecture"]
    assert Path(master.details["folder"]).is_relative_to(hosts["front"].folder)


async def test_too_few_hosts_are_reported_with_how_many_are_free_and_none_is_taken(world: HostsWorld, hosts: SshHosts):
    instance = await world.take(await world.started("nightly"), NodeRole.MASTER, 1)
    with pytest.raises(
        ProviderFailure, match=r"no hosts for 3 more workers: 2 of the inventory's 2 that suit are free"
    ):
        await world.provider.make(instance, NodeRole.WORKER, 3)
    assert len(_left(hosts)) == 2
    assert len(await world.provider.make(instance, NodeRole.WORKER, 2)) == 2


async def test_two_clusters_never_share_a_host(world: HostsWorld):
    first = await world.take(await world.started(), NodeRole.WORKER, 1)
    second = await world.started()
    with pytest.raises(ProviderFailure, match=rf"0 of .* 1 .* are free \(one: cluster {first.cluster_id} has it\)"):
        await world.provider.make(second, NodeRole.WORKER, 1)
    with pytest.raises(ProviderFailure, match=r"one: cluster .* has it"):
        await (await world.again()).make(second, NodeRole.WORKER, 1)


async def test_two_services_with_the_same_inventory_never_share_a_host(
    world: HostsWorld, hosts: SshHosts, tmp_path: Path
):
    instance = await world.take(await world.started(), NodeRole.WORKER, 1)
    other = HostsWorld.of(tmp_path / "other", hosts.inventory)
    try:
        with pytest.raises(ProviderFailure, match=rf"one: it is taken: .*/claim there says .*{instance.folder}"):
            await other.provider.make(await other.started(), NodeRole.WORKER, 1)
        await world.provider.release(instance, instance.nodes)
        assert await other.provider.make(await other.started(), NodeRole.WORKER, 1)
    finally:
        await other.close()


async def test_a_node_that_a_killed_service_did_not_record_is_made_again(world: HostsWorld, hosts: SshHosts):
    instance = await world.started()
    (forgotten,) = await world.provider.make(instance, NodeRole.WORKER, 1)
    half = _touched(Path(str(forgotten.details["folder"]), "half"))
    await world.again()
    instance = await world.take(instance, NodeRole.WORKER, 1)
    assert instance.nodes[0].private_dns == "one"
    assert await asyncio.to_thread(half.parent.is_dir)
    assert not await asyncio.to_thread(half.exists)


async def test_processes_left_by_an_instance_are_ended_before_the_next_instance_gets_the_host(
    world: HostsWorld, hosts: SshHosts
):
    instance = await world.take(await world.started(), NodeRole.WORKER, 1)
    await world.machine(instance).start(ESCAPING)
    await world.over(instance)
    later = await world.take(await world.started(), NodeRole.WORKER, 1)
    assert later.nodes[0].private_dns == "one"
    assert not hosts["one"].processes()


async def test_releasing_a_host_ends_what_runs_there_and_nothing_else(world: HostsWorld, hosts: SshHosts):
    instance = await world.take(await world.started(), NodeRole.MASTER, 1)
    instance = await world.take(instance, NodeRole.WORKER, 1)
    master, worker = instance.nodes
    for node in instance.nodes:
        await world.machine(instance, node).start(ESCAPING)
    await until(lambda: sum(process.name() == "sleep" for process in hosts["one"].processes()) == 2)
    await world.provider.release(instance, [worker])
    await world.provider.release(instance, [worker])
    assert not hosts["one"].processes()
    assert not [entry for entry in _left(hosts) if "/one/" in entry]
    assert (await world.machine(instance, master).daemons())[0].is_running


async def test_a_host_that_is_away_is_passed_over_and_one_in_use_is_reported_until_it_was_swept(
    world: HostsWorld, hosts: SshHosts
):
    instance = await world.take(await world.started(), NodeRole.WORKER, 1)
    await world.machine(instance).start(ESCAPING)
    hosts["one"].down()
    hosts["two"].down()
    try:
        with pytest.raises(ProviderFailure, match=r"two: host two .* cannot be reached"):
            await world.provider.make(await world.started("nightly"), NodeRole.WORKER, 1)
        with pytest.raises(ProviderFailure, match=r"host one .* cannot be reached"):
            await world.provider.release(instance, instance.nodes)
        with pytest.raises(ProviderFailure, match=r"host one .* cannot be reached") as failure:
            await world.provider.sweep(instance)
        assert "two" not in failure.value.message  # it never had it
        over = await world.over(instance)
        assert over.state is ClusterState.DOWN
        with pytest.raises(ProviderFailure, match=r"host one .* cannot be reached"):
            await world.provider.sweep(over)
    finally:
        hosts["one"].up()
        hosts["two"].up()
    assert hosts["one"].processes()
    await (await world.again()).sweep(over)
    assert not hosts["one"].processes()


async def test_a_host_that_left_the_inventory_while_it_is_in_use_is_reported(world: HostsWorld, hosts: SshHosts):
    instance = await world.take(await world.started(), NodeRole.WORKER, 1)
    text = hosts.inventory.read_text()
    hosts.inventory.write_text(text.replace("[hosts.one]", "[hosts.renamed]"))
    try:
        with pytest.raises(ProviderFailure, match="host one is no longer in the inventory: put it back"):
            await world.machine(instance).daemons()
    finally:
        hosts.inventory.write_text(text)
