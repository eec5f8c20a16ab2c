"""Pipelines from their creation to their end. Spark's place is taken by scripts: what it runs is not looked at here."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.conftest import end_commands_of
from tests.service.commands.scripted import Scripted

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.pipelines import Pipeline, PipelineCreate, PipelineStatus, PipelineUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.first_clusters import ensure_clusters
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.clusters.life_cycle import LifeCycle
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.notifications.channels import Channels
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.pipelines.pipelines import Pipelines
from svc_jupyter.service.pipelines.runs import PipelineRuns
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.audit import audit_entries
from svc_jupyter.service.schema.commands import commands as commands_table
from svc_jupyter.service.schema.notifications import channels, outbox

EVERY = list(PipelineStatus)
PAGE = Page(1, 100)
STREAM = "for n in $(seq 3000); do [ -s {folder}/end ] && exit $(cat {folder}/end); sleep 0.02; done"
"""Ends by itself after a minute, for a command that only begins when its test is over."""


class Streaming(Scripted):
    """Stands for Spark: a command that goes on until a file tells its exit code."""

    command_type = CommandType.SPARK

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        return {"cmdline": body["cmdline"]}


@dataclass
class World:
    settings: Settings
    database: Database
    pipelines: Pipelines
    runs: PipelineRuns
    commands: Commands
    runner: Runner
    kinds: dict[str, Any]
    by: Caller
    folder: Path

    async def make(self, **fields: Any) -> int:
        body = PipelineCreate.model_validate({"name": "orders", "code": "1", **fields})
        return (await self.pipelines.create(body, by=self.by)).data.id

    async def status(self, pipeline_id: int) -> tuple[str, str | None]:
        attributes = (await self.pipelines.get(pipeline_id, by=self.by)).data.attributes
        return attributes.status, attributes.pipeline_instance_status

    async def ended(self, pipeline: Pipeline, code: int) -> dict[str, Any]:
        """Let the run end with a code; return its command."""
        (self.folder / "end").write_text(str(code))
        command_id = pipeline.data.attributes.command_id
        assert command_id is not None
        return await self.commands.record_at_end(command_id, self.by, 20)


@pytest.fixture
async def world(settings: Settings, database: Database, account_id: int, tmp_path: Path) -> AsyncIterator[World]:
    settings = settings.model_copy(update={"kill_grace_seconds": 0.5})
    bus = Bus(database)
    secrets = SecretBox(settings.data_dir / "secret.key")
    notifications = Notifications(settings, database, bus, secrets)
    at_end: list[Any] = []
    gate = ClusterGate(database, bus, LifeCycle(settings, bus, {}, at_end))
    kinds = {"SparkCommand": Streaming(lambda _: STREAM.format(folder=tmp_path))}
    runner = Runner(settings, database, bus, kinds, gate=gate, at_end=at_end)
    intake = Intake(database, bus, kinds, gate)
    commands = Commands(settings, database, bus, kinds, runner, gate)
    runs = PipelineRuns(settings, database, intake, commands, kinds, gate, notifications)
    at_end.append(runs.on_command_end)
    with database.begin() as connection:
        ensure_clusters(connection, account_id)
        row = connection.execute(sa.select(users.c.id, users.c.email)).one()
    by = Caller(row.id, account_id, row.email, frozenset({BuiltinGroup.ADMIN}), token_id=1)
    await bus.start()
    await runner.start()
    yield World(settings, database, Pipelines(settings, database), runs, commands, runner, kinds, by, tmp_path)
    await runner.stop()
    await bus.stop()
    end_commands_of(settings.data_dir)


async def test_a_pipeline_is_started_paused_resumed_and_ends(world: World):
    pipeline_id = await world.make()
    assert await world.status(pipeline_id) == ("draft", None)
    started = await world.runs.start(pipeline_id, by=world.by)
    assert (started.data.attributes.status, started.data.attributes.runs) == ("active", 1)
    with pytest.raises(StateConflict, match=f"is active: command {started.data.attributes.command_id} runs it"):
        await world.runs.start(pipeline_id, by=world.by)
    paused = await world.runs.pause(pipeline_id, by=world.by)
    assert paused.data.attributes.pipeline_instance_status == "PAUSED"
    with pytest.raises(StateConflict, match="does not run: there is nothing to pause"):
        await world.runs.pause(pipeline_id, by=world.by)
    resumed = await world.runs.start(pipeline_id, by=world.by)
    assert resumed.data.attributes.runs == 2
    records = [await world.commands.get(run.data.attributes.command_id, world.by) for run in (started, resumed)]
    assert records[0]["command"] == records[1]["command"], "the same place keeps the progress of both"
    assert (await world.ended(resumed, 0))["status"] == "done"
    assert await world.status(pipeline_id) == ("active", "FINISHED")


async def test_a_run_has_the_code_of_its_start(world: World):
    pipeline_id = await world.make(code="print('one')")
    started = await world.runs.start(pipeline_id, by=world.by)
    await world.pipelines.update(pipeline_id, PipelineUpdate(code="print('two')"), by=world.by)
    record = await world.commands.get(started.data.attributes.command_id, world.by)
    file = Path(shlex.split(record["command"]["cmdline"])[-1])
    assert read(file) == ("print('one')", 0o600)
    assert record["timeout"] > 10 * 365 * 86_400


def read(file: Path) -> tuple[str, int]:
    """Return a file's text and who may do what to it."""
    return file.read_text(), file.stat().st_mode & 0o777


async def test_an_active_pipeline_is_neither_deleted_nor_archived(world: World):
    pipeline_id = await world.make()
    await world.runs.start(pipeline_id, by=world.by)
    for call in (world.pipelines.delete, world.pipelines.archive):
        with pytest.raises(StateConflict, match=f"once it is paused \\(PUT pipelines/{pipeline_id}/pause\\)"):
            await call(pipeline_id, by=world.by)
    await world.runs.pause(pipeline_id, by=world.by)
    await world.pipelines.archive(pipeline_id, by=world.by)
    assert await world.status(pipeline_id) == ("archive", "PAUSED")
    deleted = await world.pipelines.delete(pipeline_id, by=world.by)
    assert (deleted.data.id, deleted.data.attributes.status) == (pipeline_id, "deleted")
    assert not (world.pipelines._folder / str(pipeline_id)).exists()
    with pytest.raises(NotFound, match=f"there is no pipeline {pipeline_id}"):
        await world.pipelines.get(pipeline_id, by=world.by)


def channel_of(world: World, name: str = "on call") -> int:
    """Make a notification channel; return its id."""
    with world.database.begin() as connection:
        values = {
            "account_id": 1,
            "user_id": world.by.user_id,
            "name": name,
            "type": "webhook",
            "target": "https://…",
        }
        made = sa.insert(channels).values(**values, sealed_url="sealed", created_at=1.0).returning(channels.c.id)
        return int(connection.execute(made).scalar_one())


async def test_a_failure_is_red_and_reported_to_the_channels(world: World):
    channel_id = channel_of(world)
    pipeline_id = await world.make(notification_channels=[channel_id])
    started = await world.runs.start(pipeline_id, by=world.by)
    await world.ended(started, 3)
    attributes = (await world.pipelines.get(pipeline_id, by=world.by)).data.attributes
    assert attributes.pipeline_instance_status == "FAILED"
    assert attributes.health is not None
    assert (attributes.health.status, attributes.health.reason) == ("red", "exited with 3")
    with world.database.connect() as connection:
        told = connection.execute(sa.select(outbox.c.event, outbox.c.recipient)).all()
    assert told == [(f"command:{attributes.command_id}", str(channel_id))]


async def test_a_channel_that_a_pipeline_shows_its_failures_is_not_deleted(world: World):
    kept = Channels(world.settings, world.database, SecretBox(world.settings.data_dir / "secret.key"))
    channel_id, other = channel_of(world), channel_of(world, "nobody")
    pipeline_id = await world.make(notification_channels=[channel_id])
    await world.pipelines.archive(pipeline_id, by=world.by)
    with pytest.raises(StateConflict, match=f"is used by 1 pipeline\\(s\\): {pipeline_id} \\(orders\\); take it out"):
        kept.delete(channel_id, by=world.by)
    kept.delete(other, by=world.by)
    await world.pipelines.delete(pipeline_id, by=world.by)
    kept.delete(channel_id, by=world.by)


async def test_a_command_that_is_killed_leaves_its_pipeline_paused(world: World):
    pipeline_id = await world.make()
    started = await world.runs.start(pipeline_id, by=world.by)
    await world.commands.cancel(started.data.attributes.command_id, world.by)
    assert await world.status(pipeline_id) == ("active", "PAUSED")


async def test_a_start_that_spark_cannot_serve_leaves_the_pipeline_as_it_was(world: World):
    pipeline_id = await world.make(cluster_label="nowhere")
    with pytest.raises(Invalid, match="SparkCommand could not be created: no cluster has the label 'nowhere'"):
        await world.runs.start(pipeline_id, by=world.by)
    assert await world.status(pipeline_id) == ("draft", None)
    with world.database.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(commands_table)).scalar() == 0


async def test_lists_show_the_statuses_that_are_asked_for(world: World):
    first, second = await world.make(), await world.make(name="visits")
    await world.pipelines.archive(second, by=world.by)
    every = await world.pipelines.list(EVERY, PAGE, by=world.by)
    assert [item.id for item in every.data] == [second, first]
    drafts = await world.pipelines.list([PipelineStatus.DRAFT], PAGE, by=world.by)
    assert [item.id for item in drafts.data] == [first]
    assert "pipeline_instance_status" not in drafts.data[0].model_dump()
    page = await world.pipelines.list(EVERY, replace(PAGE, size=1), by=world.by)
    assert page.meta["next_page"] == 2


async def test_an_unknown_channel_is_refused(world: World):
    with pytest.raises(Invalid, match="there is no notification channel 99"):
        await world.make(notification_channels=[99])
    pipeline_id = await world.make()
    with pytest.raises(Invalid, match="there is no notification channel 99"):
        await world.pipelines.update(pipeline_id, PipelineUpdate(notification_channels=[99]), by=world.by)


async def test_outsiders_may_do_nothing_and_members_everything(world: World):
    pipeline_id = await world.make()
    member = replace(world.by, groups=frozenset({BuiltinGroup.USER}))
    outsider = replace(world.by, groups=frozenset())
    for call in (world.runs.start, world.runs.pause, world.pipelines.archive, world.pipelines.delete):
        with pytest.raises(Forbidden, match=f"permission to (update|delete) pipeline {pipeline_id}"):
            await call(pipeline_id, by=outsider)
    await world.pipelines.delete(pipeline_id, by=member)
    query = sa.select(audit_entries.c.action).where(audit_entries.c.resource == "pipeline").order_by(audit_entries.c.id)
    with world.database.connect() as connection:
        assert list(connection.execute(query).scalars()) == ["create", "delete"]
