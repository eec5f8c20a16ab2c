"""New nodes of an instance: made once, and none is left where that fails. No engine runs on them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.daemon_engine import NodeAdditions
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, clusters


class Nodes:
    """An engine's part: what it was asked for, and how it answers."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.may_end = asyncio.Event()
        self.two_have_begun = asyncio.Event()
        self.brought_up: list[str] = []
        self.taken_back: list[int] = []

    async def bring_up(self, _instance: Instance, node: Node, _say: Say) -> None:
        self.brought_up.append(node.private_dns)
        if len(self.brought_up) == 2:
            self.two_have_begun.set()
        await self.may_end.wait()
        if self.failure is not None:
            raise self.failure

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        await asyncio.sleep(0)
        self.taken_back.append(command_id)


@pytest.fixture
def instances(settings: Settings, database: Database) -> Instances:
    return Instances(settings, database)


@pytest.fixture
def additions(settings: Settings, instances: Instances) -> NodeAdditions:
    return NodeAdditions(
        instances, {"local": LocalProvider(settings.model_copy(update={"local_max_nodes": 9}), _no_java)}
    )


@pytest.fixture
async def instance(database: Database, account_id: int, instances: Instances) -> Instance:
    """An instance without nodes, which is to start with two workers."""
    nodes = {"node_configuration": {"initial_nodes": 2, "max_nodes": 2}}
    stored, now = ClusterConfiguration.model_validate(nodes).model_dump(mode="json"), time.time()
    with database.begin() as connection:
        user = connection.execute(sa.select(sa.func.min(users.c.id))).scalar_one()
        cluster = {"account_id": account_id, "user_id": user, "created_at": now, "configuration": stored}
        cluster_id = connection.execute(
            sa.insert(clusters).values({**cluster, "state": "PENDING"}).returning(clusters.c.id)
        ).scalar_one()
        row = {"cluster_id": cluster_id, "state": "PENDING", "configuration": stored, "provider": "local"}
        instance_id = connection.execute(
            sa.insert(cluster_instances)
            .values({**row, "start_at": now, "last_used_at": now})
            .returning(cluster_instances.c.id)
        ).scalar_one()
    return await instances.get(instance_id)


@pytest.fixture
async def running(additions: NodeAdditions, instance: Instance) -> Instance:
    """The same with a coordinator and two workers."""
    return await additions.with_first_nodes(instance, lambda _line: None)


async def test_a_start_makes_what_an_earlier_one_has_not(additions: NodeAdditions, instance: Instance) -> None:
    said: list[str] = []
    whole = await additions.with_first_nodes(instance, said.append)
    assert whole.master is not None
    assert len(whole.workers) == 2
    assert await additions.with_first_nodes(whole, said.append) == whole
    assert said == ["making the coordinator", "making 2 workers"]


async def test_a_command_that_was_interrupted_goes_on_with_its_nodes(
    additions: NodeAdditions, instances: Instances, running: Instance
) -> None:
    nodes, said = Nodes(), list[str]()
    ways = {"command_id": 5, "bring_up": nodes.bring_up, "take_back": nodes.take_back}
    first = asyncio.create_task(additions.add(running, 2, said.append, **ways))
    try:
        async with asyncio.timeout(20):
            await nodes.two_have_begun.wait()
    finally:
        first.cancel()
    await asyncio.wait({first})
    assert nodes.taken_back == []  # that is the command's to decide

    nodes.may_end.set()
    await additions.add(running, 2, said.append, **ways)
    made = [node.private_dns for node in (await instances.get(running.id)).workers[2:]]
    assert sorted(nodes.brought_up) == sorted([*made, *made])
    assert said == ["making 2 machines", f"going on with {', '.join(made)}"]
    assert not [node for node in (await instances.get(running.id)).workers if node.claimed_by is not None]


async def test_two_commands_take_different_places(
    additions: NodeAdditions, instances: Instances, running: Instance
) -> None:
    nodes = Nodes()
    nodes.may_end.set()
    ways = {"bring_up": nodes.bring_up, "take_back": nodes.take_back}
    await asyncio.gather(
        *(additions.add(running, 2, lambda _line: None, command_id=number, **ways) for number in (5, 6))
    )
    addresses = [node.private_ip for node in (await instances.get(running.id)).workers]
    assert len(set(addresses)) == 6


async def test_a_failed_addition_is_reported_and_taken_back(additions: NodeAdditions, running: Instance) -> None:
    nodes, said = Nodes(ClusterFailure("its NodeManager ended")), list[str]()
    nodes.may_end.set()
    with pytest.raises(ClusterFailure, match="its NodeManager ended"):
        await additions.add(running, 1, said.append, command_id=5, bring_up=nodes.bring_up, take_back=nodes.take_back)
    assert nodes.taken_back == [5]
    assert said == ["making 1 machine", "its NodeManager ended"]


async def test_while_the_database_is_away_nothing_is_taken_back(additions: NodeAdditions, running: Instance) -> None:
    nodes = Nodes(DatabaseAway("the database is away"))
    nodes.may_end.set()
    with pytest.raises(DatabaseAway):
        await additions.add(
            running, 1, lambda _line: None, command_id=5, bring_up=nodes.bring_up, take_back=nodes.take_back
        )
    assert nodes.taken_back == []


async def _no_java() -> Path:
    raise NotImplementedError
