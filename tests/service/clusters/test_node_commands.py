"""Node commands from their claim to their end, with an engine that only writes rows."""

import pytest
from tests.service.clusters.scaled_world import NO_ROOM, ScaledWorld
from tests.support.until import until

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
async def scaled(new_world):
    scaled = await ScaledWorld.of(new_world())
    await scaled.run()
    return scaled


async def _says(scaled: ScaledWorld, command: dict, text: str) -> None:
    log = await scaled.world.log_of(command["id"])
    await until(lambda: log.exists() and text in log.read_text())


async def _restart(scaled: ScaledWorld, new_world) -> ScaledWorld:
    """Stop the service and begin another one on the same rows and folders."""
    await scaled.world.stop()
    world = new_world()
    again = await _again(scaled, world)
    again.engine.may_go_on.set()
    await again.run()
    return again


async def _again(scaled: ScaledWorld, world) -> ScaledWorld:
    begin, ScaledWorld.begin = ScaledWorld.begin, lambda _self: _nothing()
    try:
        again = await ScaledWorld.of(world)
    finally:
        ScaledWorld.begin = begin
    again.instance_id = scaled.instance_id
    return again


async def _nothing() -> None: ...


async def test_nodes_are_added(scaled):
    record = await scaled.nodes.add("default", 2, by=scaled.world.by)
    ended = await scaled.world.end_of(record["id"])
    assert (ended["status"], ended["progress"], ended["message"]) == ("done", 100, "2 nodes added")
    assert len(await scaled.workers()) == 4


async def test_an_addition_of_nodes_that_fails_ends_in_error_with_the_reason(scaled):
    scaled.engine.failure = NO_ROOM
    record = await scaled.nodes.add("default", 2, by=scaled.world.by)
    ended = await scaled.world.end_of(record["id"])
    assert (ended["status"], ended["message"]) == ("error", "there is no room on this machine")


async def test_an_addition_that_is_cancelled_is_taken_back(scaled):
    scaled.engine.may_go_on.clear()
    record = await scaled.nodes.add("default", 2, by=scaled.world.by)
    await _says(scaled, record, "made")
    await scaled.world.commands.cancel(record["id"], scaled.world.by)
    assert (await scaled.world.record(record["id"]))["status"] == "cancelled"
    assert len(await scaled.workers()) == 2
    await _says(scaled, record, "taken back")


async def test_an_addition_goes_on_with_its_nodes_after_a_restart(scaled, new_world):
    scaled.engine.may_go_on.clear()
    record = await scaled.nodes.add("default", 2, by=scaled.world.by)
    await _says(scaled, record, "made")
    again = await _restart(scaled, new_world)
    assert (await again.world.end_of(record["id"]))["status"] == "done"
    assert len(await again.workers()) == 4
    assert scaled.engine.done == []
    assert again.engine.done == [("added", 2)]


async def test_a_node_is_removed_the_best_one_where_none_is_named(scaled):
    await scaled.grow(2)
    named = await scaled.nodes.remove("default", "ip-127-1-1-11", by=scaled.world.by)
    any_other = await scaled.nodes.remove("default", None, by=scaled.world.by)
    assert (await scaled.world.end_of(named["id"]))["message"] == "ip-127-1-1-11 removed"
    assert (await scaled.world.end_of(any_other["id"]))["message"] == "ip-127-1-1-14 removed"
    assert await scaled.workers() == ["ip-127-1-1-12", "ip-127-1-1-13"]


async def test_a_removal_that_is_cancelled_puts_the_node_back(scaled):
    await scaled.grow(1)
    scaled.engine.may_go_on.clear()
    record = await scaled.nodes.remove("default", None, by=scaled.world.by)
    await _says(scaled, record, "decommissioning")
    assert await scaled.claims() == {record["id"]}
    await scaled.world.commands.cancel(record["id"], scaled.world.by)
    assert scaled.engine.done == [("put back", "ip-127-1-1-13")]
    assert await scaled.claims() == set()


@pytest.mark.parametrize("failure", [NO_ROOM, RuntimeError("a bug")])
async def test_a_removal_that_fails_puts_the_node_back(scaled, failure):
    await scaled.grow(1)
    scaled.engine.failure = failure
    record = await scaled.nodes.remove("default", None, by=scaled.world.by)
    assert (await scaled.world.end_of(record["id"]))["status"] == "error"
    assert scaled.engine.done == [("put back", "ip-127-1-1-13")]


async def test_a_removal_goes_on_with_its_node_after_a_restart(scaled, new_world):
    await scaled.grow(2)
    scaled.engine.may_go_on.clear()
    record = await scaled.nodes.remove("default", None, by=scaled.world.by)
    await _says(scaled, record, "decommissioning")
    again = await _restart(scaled, new_world)
    assert (await again.world.end_of(record["id"]))["status"] == "done"
    assert again.engine.done == [("removed", "ip-127-1-1-14")]
    assert len(await again.workers()) == 3


async def test_a_removal_whose_node_went_before_the_restart_takes_no_other(scaled, new_world):
    await scaled.grow(2)
    scaled.engine.may_go_on.clear()
    record = await scaled.nodes.remove("default", None, by=scaled.world.by)
    await _says(scaled, record, "decommissioning")
    await scaled.world.stop()
    gone = (await scaled.world.instances.get(scaled.instance_id)).workers[-1]
    await scaled.world.instances.drop_nodes([gone.id])
    again = await _again(scaled, new_world())
    await again.run()
    ended = await again.world.end_of(record["id"])
    assert (ended["status"], ended["message"]) == ("done", f"{gone.private_dns} removed")
    assert len(await again.workers()) == 3


async def test_a_node_that_another_command_took_meanwhile_is_reported(scaled):
    await scaled.grow(2)
    scaled.engine.may_go_on.clear()
    first = await scaled.nodes.remove("default", None, by=scaled.world.by)
    await _says(scaled, first, "decommissioning")
    scaled.engine.may_go_on.set()
    await scaled.world.end_of(first["id"])
    with pytest.raises(Exception, match="has no node 'ip-127-1-1-14'"):
        await scaled.nodes.remove("default", "ip-127-1-1-14", by=scaled.world.by)
