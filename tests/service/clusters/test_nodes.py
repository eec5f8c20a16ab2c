"""The rules of adding and removing nodes: what is refused, with which words, and which command is made."""

import pytest
import sqlalchemy as sa
from tests.service.clusters.scaled_world import ScaledWorld, new_worker

from svc_jupyter.api.access import Action, BuiltinGroup, Resource
from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.schema.audit import audit_entries


@pytest.fixture
async def scaled(new_world):
    return await ScaledWorld.of(new_world())


def _caller(scaled: ScaledWorld, *groups: BuiltinGroup, rights=()) -> Caller:
    by = scaled.world.by
    return Caller(by.user_id, by.account_id, by.email, frozenset(groups), 1, rights=dict.fromkeys(rights, "scalers"))


async def test_an_addition_is_a_command_that_waits_at_first(scaled):
    record = await scaled.nodes.add("default", 3, by=scaled.world.by)
    assert (record["command_type"], record["status"], record["label"]) == ("AddNodeCommand", "waiting", "default")
    assert (record["start_time"], record["started_at"]) == (None, None)
    assert record["command"] == {"cluster_id": 1, "node_count": 3}
    assert (await scaled.world.record(record["id"]))["command"] == record["command"]


async def test_more_nodes_than_the_maximum_are_accepted(scaled):
    assert (await scaled.nodes.add("1", 500, by=scaled.world.by))["status"] == "waiting"


async def test_a_removal_is_a_command_with_the_node_that_was_named(scaled):
    await scaled.grow(1)
    record = await scaled.nodes.remove("default", "ip-127-1-1-11", by=scaled.world.by)
    assert record["command_type"] == "RemoveNodeCommand"
    assert record["command"] == {"cluster_id": 1, "private_dns": "ip-127-1-1-11"}


async def test_both_are_in_the_audit_log(scaled):
    await scaled.grow(1)
    await scaled.nodes.add("default", 2, by=scaled.world.by)
    await scaled.nodes.remove("default", None, by=scaled.world.by)
    query = sa.select(audit_entries.c.action, audit_entries.c.object_id, audit_entries.c.detail)
    with scaled.world.database.begin() as connection:
        rows = connection.execute(query.order_by(audit_entries.c.id)).all()
    assert [(row.action, row.object_id) for row in rows] == [("add_node", "1"), ("remove_node", "1")]
    assert rows[0].detail["node_count"] == 2


async def test_an_unknown_cluster_is_reported(scaled):
    with pytest.raises(NotFound, match="there is no cluster nowhere"):
        await scaled.nodes.add("nowhere", 1, by=scaled.world.by)


async def test_a_cluster_that_is_not_up_is_reported_with_its_state(new_world):
    world = new_world()
    scaled = await ScaledWorld.of(world)
    cluster = await world.clusters.resolve(world.by.account_id, "default")
    await world.database.write(lambda connection: world.life_cycle.terminate(connection, cluster, "enough"))
    for call in (scaled.nodes.add("default", 1, by=world.by), scaled.nodes.remove("default", None, by=world.by)):
        with pytest.raises(StateConflict, match="cluster default is TERMINATING: nodes can only be added to and"):
            await call


async def test_nodes_of_a_spark_cluster_are_refused_with_the_reason(new_world):
    scaled = await ScaledWorld.of(new_world(), ClusterType.SPARK)
    for call in (
        scaled.nodes.add("default", 1, by=scaled.world.by),
        scaled.nodes.remove("default", None, by=scaled.world.by),
    ):
        with pytest.raises(Invalid, match="Node changes are not supported for Spark clusters"):
            await call


async def test_a_hadoop_cluster_keeps_its_minimum(scaled):
    with pytest.raises(StateConflict, match=r"has 2 workers and its minimum \(initial_nodes\) is 2"):
        await scaled.nodes.remove("default", "ip-127-1-1-11", by=scaled.world.by)


async def test_a_presto_cluster_loses_nodes_at_its_minimum(new_world):
    scaled = await ScaledWorld.of(new_world(), ClusterType.PRESTO)
    assert (await scaled.nodes.remove("default", None, by=scaled.world.by))["status"] == "waiting"


async def test_removals_under_way_count_towards_the_minimum(scaled):
    await scaled.grow(1)
    await scaled.nodes.remove("default", None, by=scaled.world.by)
    with pytest.raises(StateConflict, match="3 workers, 1 of them being removed, and its minimum"):
        await scaled.nodes.remove("default", None, by=scaled.world.by)


async def test_a_removal_that_was_cancelled_counts_no_more(scaled):
    await scaled.grow(1)
    first = await scaled.nodes.remove("default", "ip-127-1-1-12", by=scaled.world.by)
    await scaled.world.commands.cancel(first["id"], scaled.world.by)
    assert (await scaled.nodes.remove("default", "ip-127-1-1-12", by=scaled.world.by))["status"] == "waiting"


async def test_nodes_that_are_being_added_are_no_part_of_the_size_yet(scaled):
    (node,) = await scaled.world.instances.add_nodes(scaled.instance_id, [new_worker(13)], command_id=9)
    with pytest.raises(StateConflict, match="has 2 workers and its minimum"):
        await scaled.nodes.remove("default", None, by=scaled.world.by)
    with pytest.raises(StateConflict, match="is still being added by command 9"):
        await scaled.nodes.remove("default", node.private_dns, by=scaled.world.by)


async def test_an_unknown_node_is_reported_with_those_that_there_are(scaled):
    with pytest.raises(NotFound, match="cluster default has no node 'ip-1'; its workers are ip-127-1-1-11, ip-"):
        await scaled.nodes.remove("default", "ip-1", by=scaled.world.by)


async def test_the_coordinator_cannot_be_removed(scaled):
    await scaled.grow(2)
    with pytest.raises(Invalid, match="ip-127-1-1-1 is the coordinator of cluster default"):
        await scaled.nodes.remove("default", "ip-127-1-1-1", by=scaled.world.by)


async def test_a_node_is_removed_by_one_command_only(scaled):
    await scaled.grow(3)
    first = await scaled.nodes.remove("default", "ip-127-1-1-11", by=scaled.world.by)
    with pytest.raises(StateConflict, match=f"is already being removed by command {first['id']}"):
        await scaled.nodes.remove("default", "ip-127-1-1-11", by=scaled.world.by)


async def test_members_need_a_role_that_allows_it(scaled):
    with pytest.raises(Forbidden, match="permission to manage cluster default"):
        await scaled.nodes.add("default", 1, by=_caller(scaled, BuiltinGroup.USER))
    scaler = _caller(scaled, BuiltinGroup.USER, rights=[(Action.MANAGE, Resource.CLUSTER)])
    assert (await scaled.nodes.add("default", 1, by=scaler))["status"] == "waiting"


async def test_nobody_submits_them_as_commands(scaled):
    for kind in ("AddNodeCommand", "RemoveNodeCommand"):
        with pytest.raises(Invalid, match=f"{kind} could not be created: the service makes it when nodes"):
            await scaled.world.submit("echo", kind, node_count=1)
