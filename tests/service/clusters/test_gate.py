"""Commands and the clusters that they need: waiting, starting, ending with them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.clusters.world import World, until_true
from tests.support.until import until

from svc_jupyter.api.access import BuiltinGroup, Resource
from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access import policy_versions
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.policy_book import NO_POLICIES, entries_of
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.commands.children import find_child
from svc_jupyter.service.commands.history import HistoryFilter
from svc_jupyter.service.ground.errors import Forbidden, Invalid
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.audit import audit_entries

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
UP, DOWN = ClusterState.UP, ClusterState.DOWN
DENIED = [{"access": "deny", "condition": {"service_users": [7]}, "action": ["read"]}]


async def test_a_command_starts_its_cluster_waits_for_it_and_runs_there(world: World):
    world.engine.may_start.clear()
    record = await world.submit("echo done")
    assert (record["status"], (await world.state())["state"]) == ("waiting", "PENDING")
    await world.says(record["id"], "starting cluster default (")
    await world.says(record["id"], " s): 3 nodes wait")
    assert (await world.record(record["id"]))["throttled"] is False
    log = await world.log_of(record["id"])
    await until(lambda: log.exists() and "its cluster: 3 nodes wait" in log.read_text())
    (shown,), _ = await world.commands.history(world.by, HistoryFilter(now=datetime.now(UTC)), Page(1, 10))
    assert shown["message"].startswith("starting cluster default (")
    world.engine.may_start.set()
    assert (await world.end_of(record["id"]))["status"] == "done"
    task = world.kinds["HadoopCommand"].tasks[-1]
    assert (task.cluster_id, task.label) == (1, None)
    assert (await world.end_of((await world.submit("echo again", label="default"))["id"]))["status"] == "done"
    assert world.engine.starts == 1
    with world.database.connect() as connection:
        entry = connection.execute(sa.select(audit_entries)).mappings().one()
    assert (entry["action"], entry["user_id"], entry["detail"]) == ("start", world.by.user_id, {"for_a_command": True})


async def test_commands_that_need_no_cluster_neither_wait_nor_start_it(world: World):
    for fields in ({"kind": "ShellCommand"}, {"kind": "ShellCommand", "label": "default"}, {"label": "default"}):
        record = await world.submit("echo local", **fields)
        assert (await world.end_of(record["id"]))["status"] == "done"
    assert (await world.state())["state"] == DOWN


async def test_a_command_behind_one_that_waits_for_its_cluster_begins(world: World):
    world.engine.may_start.clear()
    waiting = await world.submit("echo late")
    shell = await world.submit("echo at once", kind="ShellCommand")
    assert (await world.end_of(shell["id"]))["status"] == "done"
    assert (await world.record(waiting["id"]))["status"] == "waiting"


async def test_a_command_that_waits_for_its_cluster_can_be_cancelled(world: World):
    world.engine.may_start.clear()
    record = await world.submit("echo never")
    assert (await world.commands.cancel(record["id"], world.by)).succeeded
    assert (await world.record(record["id"]))["status"] == "cancelled"


async def test_a_start_that_fails_ends_those_who_wait_with_its_reason(world: World):
    world.engine.start_failure = ClusterFailure("no memory is left")
    record = await world.end_of((await world.submit("echo never"))["id"])
    reason = "cluster default could not be started: no memory is left"
    assert (record["status"], record["message"], record["start_time"]) == ("error", reason, None)
    assert record["id"] in world.ended


async def test_a_termination_ends_what_runs_and_what_waits(world: World, tmp_path: Path):
    running = await world.submit(f"touch {tmp_path}/begun; sleep 1000", retry=2)
    await until((tmp_path / "begun").exists)
    world.settings.running_limit = 1  # the next one waits
    waiting = await world.submit("echo never")
    await world.clusters.change_state("default", "terminate", by=world.by)
    reason = "cluster default was terminated by admin@localhost"
    for record in (await world.end_of(running["id"]), await world.end_of(waiting["id"])):
        assert (record["status"], record["message"]) == ("error", reason)
    assert len((await world.record(running["id"]))["attempts"]) == 1
    await world.reaches(DOWN)


async def test_a_command_submitted_while_its_cluster_ends_starts_it_again(world: World, tmp_path: Path):
    stubborn = await world.submit(f"trap '' TERM; touch {tmp_path}/begun; while :; do sleep 0.05; done")
    await until((tmp_path / "begun").exists)
    await world.clusters.change_state("default", "terminate", by=world.by)
    record = await world.submit("echo done")
    assert record["status"] == "waiting"
    if (await world.state())["state"] == "TERMINATING":
        waiting = (await world.record(record["id"]))["message"]
        assert waiting == "waiting until cluster default has ended; then it is started again"
    assert (await world.end_of(record["id"]))["status"] == "done"
    assert (await world.end_of(stubborn["id"]))["status"] == "error"
    assert world.engine.starts == 2


async def test_a_sub_command_waits_until_its_cluster_is_up(world: World):
    world.engine.may_start.clear()
    parts = [
        {"command_type": "ShellCommand", "inline": "echo 1"},
        {"command_type": "HadoopCommand", "inline": "echo 2"},
    ]
    body = {"command_type": "CompositeCommand", "sub_commands": parts, "label": "default"}
    composite = await world.intake.submit(body, world.by)
    await world.says(composite["id"], "sub-command 2 (HadoopCommand) waits until its cluster is UP")
    with world.database.connect() as connection:
        assert find_child(connection, composite["id"], 2) is None
    world.engine.may_start.set()
    assert (await world.end_of(composite["id"]))["status"] == "done"
    with world.database.connect() as connection:
        child = find_child(connection, composite["id"], 2)
    assert child is not None
    assert (child.cluster_id, child.status) == (1, "done")


async def test_a_composite_that_waits_for_a_cluster_ends_with_its_start_or_when_it_is_cancelled(world: World):
    world.engine.may_start.clear()
    parts = [{"command_type": "HadoopCommand", "inline": "echo 1"}]
    body = {"command_type": "CompositeCommand", "sub_commands": parts}
    first = await world.intake.submit(body, world.by)
    await world.says(first["id"], "waits until its cluster is UP")
    assert (await world.commands.cancel(first["id"], world.by)).succeeded
    second = await world.intake.submit(body, world.by)
    await world.says(second["id"], "waits until its cluster is UP")
    await world.reaches(ClusterState.PENDING)
    await world.clusters.change_state("default", "terminate", by=world.by)
    record = await world.end_of(second["id"])
    reason = "sub-command 1 of 1 could not begin: cluster default was terminated by admin@localhost"
    assert (record["status"], record["message"]) == ("error", reason)


async def test_labels_and_types_that_do_not_fit_are_refused(world: World):
    await create(world, label="etl")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"label": "nowhere"}, "HadoopCommand could not be created: no cluster has the label 'nowhere'; there are: "),
        ({"label": "nowhere", "kind": "ShellCommand"}, "ShellCommand could not be created: no cluster has the label"),
        ({"label": "1"}, "no cluster has the label '1'"),
        ({"kind": "SparkCommand"}, "label: there is no Spark cluster"),
        ({"kind": "SparkCommand", "label": "etl"}, "cluster etl runs Hadoop; this needs Spark"),
    ]
    for fields, reason in cases:
        with pytest.raises(Invalid) as refused:
            await world.submit("echo never", **fields)
        assert reason in refused.value.message
    assert "default, etl" in await refusal(world, label="nowhere")
    await create(world, label="ml", hadoop_settings={"use_spark": True})
    assert await refusal(world, kind="SparkCommand") == (
        "SparkCommand could not be created: Spark clusters are not supported yet"
    )
    await create(world, label="ml2", hadoop_settings={"use_spark": True})
    assert "there are 2 Spark clusters" in await refusal(world, kind="SparkCommand")


async def test_a_policy_of_the_cluster_keeps_a_user_from_running_there(world: World):
    book = NO_POLICIES.with_changes(1, {(Resource.CLUSTER, 1): entries_of(DENIED)})
    user = Caller(7, 1, "u@example.com", frozenset({BuiltinGroup.USER}), token_id=1, policies=book)
    for kind, label in (("HadoopCommand", None), ("ShellCommand", "default")):
        with pytest.raises(Forbidden, match="permission to read cluster 1"):
            await world.intake.submit({"command_type": kind, "inline": "echo", "label": label}, user)
    free = Caller(8, 1, "v@example.com", frozenset(), token_id=1, policies=book)
    body = {"command_type": "HadoopCommand", "inline": "echo local"}
    assert await world.clusters.gate.cluster_for(world.kinds["HadoopCommand"], None, body, free) is None


async def test_the_cluster_of_a_scheduled_command_is_found_when_it_is_run(world: World):
    kind, gate = world.kinds["HadoopCommand"], world.clusters.gate
    row = {
        "account_id": 1,
        "user_id": world.by.user_id,
        "edited_by": None,
        "label": None,
        "command": {"inline": "echo"},
    }
    with world.database.begin() as connection:
        assert gate.place(connection, kind, row) == 1
        assert gate.place(connection, kind, {**row, "command": {"inline": "echo local"}}) is None
        assert gate.place(connection, world.kinds["ShellCommand"], {**row, "label": "gone"}) is None
        with pytest.raises(Invalid, match="no cluster has the label 'gone'; there are: default"):
            gate.place(connection, kind, {**row, "label": "gone"})


async def test_the_policy_of_a_cluster_counts_for_the_owner_of_a_schedule(world: World, user_id: int):
    gate, kind = world.clusters.gate, world.kinds["HadoopCommand"]
    row = {"account_id": 1, "user_id": user_id, "edited_by": None, "label": None, "command": {"inline": "echo"}}
    policy = [{"access": "deny", "condition": {"service_users": [user_id]}, "action": ["all"]}]
    with world.database.begin() as connection:
        assert gate.place(connection, kind, row) == 1
        policy_versions.put(connection, world.by, SourceType.CLUSTER, 1, policy, 1.0)
        with pytest.raises(Invalid, match="its owner may not use cluster default: entry 1 of the object's policy"):
            gate.place(connection, kind, row)


async def test_work_keeps_a_cluster_from_being_idle(world: World, tmp_path: Path):
    record = await world.submit(f"until [ -e {tmp_path}/go ]; do sleep 0.02; done")
    await world.reaches(UP)
    world.settings.idle_cluster_seconds = 0.4
    looks = world.engine.supervised

    async def looked() -> bool:
        return world.engine.supervised > looks + 1

    await until_true(looked)
    assert (await world.state())["state"] == UP
    (tmp_path / "go").touch()
    assert (await world.end_of(record["id"]))["status"] == "done"


async def refusal(world: World, **fields: Any) -> str:
    with pytest.raises(Invalid) as refused:
        await world.submit("echo never", **fields)
    return refused.value.message


async def create(world: World, **fields: Any) -> dict[str, Any]:
    return await world.clusters.create(ClusterConfiguration.model_validate(fields), by=world.by)
