"""The rules of schedules and actions, on both databases: edits, states, reruns, lists, and whose they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError
from tests.service.schedules.simulation import Simulation, instant
from tests.support.clusters import gate_of

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.schedules import RunAlert, ScheduleRecord, ScheduleSubmission, ScheduleUpdate
from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, ServiceError, StateConflict
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.schedules.actions import Actions
from svc_jupyter.service.schedules.records import ScheduleFilter
from svc_jupyter.service.schedules.schedules import Schedules
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.schedules import schedules

NOON = instant("2026-11-21 12:00")
HOUR = 3600.0
HOURLY = {
    "command_type": "ShellCommand",
    "command": {"inline": "true"},
    "frequency": 1,
    "time_unit": "hours",
    "start_time": "2026-11-21T12:00Z",
}
WAITS = {"files": [{"path": "landing/%Y-%m-%d-%H"}]}


class Room:
    """Schedules and actions as the routes ask for them, and a simulated ticker beside them."""

    def __init__(self, settings: Settings, database: Database, account_id: int) -> None:
        self.database = database
        # Its loops do not run; what it needs of a running service is the database.
        service = Service.of(settings)
        service.database.close()
        self.simulation = Simulation(database, account_id, duration=1e9)
        self.simulation.now = NOON
        kinds = service.parts[Schedules]._kinds
        notifications = service.parts[Notifications]
        notifications._clock = lambda: self.simulation.now
        commands = service.parts[Commands]
        gate = gate_of(settings, database, self.simulation.bus)
        self.schedules = Schedules(
            database,
            self.simulation.bus,
            commands,
            kinds,
            notifications,
            gate,
            lambda: self.simulation.now,
        )
        self.actions = Actions(database, commands, self.simulation.work, lambda: self.simulation.now)
        self.by = Caller(self.simulation.user_id, account_id, "admin@localhost", frozenset({BuiltinGroup.ADMIN}), 1)

    async def create(self, **fields: Any) -> int:
        body = ScheduleSubmission.model_validate(HOURLY | fields)
        return int((await self.schedules.create(body, by=self.by))["id"])

    async def put(self, schedule_id: int, **fields: Any) -> dict[str, Any]:
        return await self.schedules.edit(schedule_id, ScheduleUpdate.model_validate(fields), by=self.by)

    async def ask(self, schedule_id: int, status: str, **fields: Any) -> str:
        body = ScheduleUpdate.model_validate({"status": status, **fields})
        return await self.schedules.change_state(schedule_id, body, by=self.by)

    def pass_time(self, seconds: float) -> None:
        self.simulation.now += seconds
        self.simulation.settle()

    def begun(self, schedule_id: int) -> list[str]:
        """Return the nominal times of the actions that have a command."""
        found = self.simulation.actions(schedule_id)
        return [clock(action["nominal_time"]) for action in found if action["command_id"]]

    def end_all(self, status: CommandStatus = CommandStatus.DONE) -> None:
        for command_id in list(self.simulation.running):
            self.simulation.end_command(command_id, status)


def clock(seconds: float | None) -> str:
    return "never" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%d %H:%M")


@pytest.fixture
def room(settings: Settings, database: Database, account_id: int) -> Room:
    return Room(settings, database, account_id)


async def test_a_new_frequency_goes_on_from_now_and_leaves_what_was_behind(room: Room):
    schedule = await room.create()
    room.pass_time(2 * HOUR)
    edited = await room.put(schedule, frequency=20, time_unit="minutes")
    assert edited["next_materialized_time"] == "2026-11-21 14:20"
    assert (await room.put(schedule, cron_expression="5 * * * *"))["next_materialized_time"] == "2026-11-21 14:05"


async def test_missed_runs_follow_the_new_timetable_after_an_edit(room: Room):
    schedule = await room.create(start_time="2026-11-20T00:00Z")
    room.simulation.settle()  # one runs, twelve wait: up to midday of the 20th
    edited = await room.put(schedule, frequency=6)
    assert edited["next_materialized_time"] == "2026-11-20 18:00"


@pytest.mark.parametrize(
    ("before", "passed", "change", "following"),
    [
        # The end is moved: what is between, and was not over, comes.
        ({"end_time": "2026-11-21T13:00Z"}, 3, {"end_time": "2026-11-21T18:00Z"}, "21 13:00"),
        ({"end_time": "2026-11-21T20:00Z"}, 1, {"end_time": "2026-11-21T13:30Z"}, "never"),
        ({"end_time": "2026-11-21T20:00Z"}, 1, {"end_time": ""}, "21 14:00"),
        # The start is moved: nothing comes twice, and a start in the past is caught up on.
        ({"start_time": "2026-11-22T00:00Z"}, 0, {"start_time": "2026-11-21T09:00Z"}, "21 09:00"),
        ({}, 2, {"start_time": "2026-11-21T09:30Z"}, "21 14:30"),
        ({}, 2, {"start_time": "2026-11-23T00:00Z"}, "23 00:00"),
        # As the record shows it, the start is not a new one.
        ({"start_time": "2026-11-21T12:00:30Z"}, 0, {"start_time": "2026-11-21 12:00"}, "21 12:00"),
        # A new zone keeps the wall clock.
        ({"time_unit": "days"}, 1, {"time_zone": "Asia/Tokyo"}, "22 03:00"),
        # A cron expression has nothing to do with a start.
        ({"frequency": None, "cron_expression": "30 * * * *"}, 0, {"start_time": "2030-01-01 00:00"}, "21 12:30"),
        ({}, 0, {"name": "x", "concurrency": 3}, "21 13:00"),
        ({}, 0, {}, "21 13:00"),
    ],
)
async def test_where_an_edited_timetable_goes_on(
    room: Room, before: dict[str, Any], passed: int, change: dict[str, Any], following: str
):
    schedule = await room.create(concurrency=9, **before)
    room.pass_time(passed * HOUR)
    await room.put(schedule, **change)
    assert clock(room.simulation.schedule(schedule)["next_nominal"]) == following


async def test_an_edit_of_something_else_does_not_mind_that_the_end_has_passed(room: Room):
    schedule = await room.create(frequency=None, cron_expression="0 * * * *", end_time="2026-11-21T13:30Z")
    room.pass_time(3 * HOUR)
    assert room.begun(schedule) == ["21 13:00"]
    assert (await room.put(schedule, name="late"))["name"] == "late"
    room.end_all()
    room.simulation.settle()
    with pytest.raises(StateConflict, match="DONE and can no longer be changed"):
        await room.put(schedule, name="too late")


async def test_a_command_is_changed_without_its_retries_and_never_its_type(room: Room):
    schedule = await room.create(retry=2, retry_delay=7)
    edited = await room.put(schedule, command={"inline": "false"}, command_type="ShellCommand")
    assert (edited["retry"], edited["retry_delay"]) == (2, 7)
    with pytest.raises(Invalid, match="keeps its type, ShellCommand"):
        await room.put(schedule, command_type="DbTapQueryCommand", command={"query": "SELECT 1", "db_tap_id": 1})


async def test_alerts_stay_with_an_edit_that_does_not_name_them(room: Room):
    schedule = await room.create(due_by="08:00", longer_than=2.5, notification={"notify_failure": True})
    edited = await room.put(schedule, notification={}, name="other")
    assert (edited["due_by"], edited["longer_than"]) == ("08:00", 2.5)
    edited = await room.put(schedule, due_by="")
    assert (edited["due_by"], edited["longer_than"]) == (None, 2.5)
    edited = await room.put(schedule, longer_than=0)
    assert (edited["due_by"], edited["longer_than"]) == (None, None)


@pytest.mark.parametrize(
    "alert",
    [{"due_by": text} for text in ("24:00", "8:00", 800)]
    + [{"longer_than": number} for number in (0.9, 1001, -3, float("nan"))],
)
def test_an_alert_that_cannot_be_is_refused(alert: dict[str, Any]):
    with pytest.raises(ValidationError):
        ScheduleUpdate.model_validate(alert)


async def test_macros_of_sub_commands_may_build_on_those_of_the_schedule(room: Room):
    composite = {
        "command_type": "CompositeCommand",
        "command": {"sub_commands": [{"command_type": "ShellCommand", "inline": "$b$", "macros": [{"b": "a + 1"}]}]},
    }
    schedule = await room.create(**composite, macros=[{"a": "1"}])
    await room.put(schedule, **composite)
    with pytest.raises(Invalid, match="sub-command 1"):
        await room.create(**composite)


async def test_an_edit_of_the_macros_alone_is_tried_with_those_of_the_sub_commands(room: Room):
    parts = [{"command_type": "ShellCommand", "inline": "true"}, {"command_type": "ShellCommand", "inline": "$b$"}]
    parts[1]["macros"] = [{"b": "a.toUpperCase()"}]
    schedule = await room.create(
        command_type="CompositeCommand", command={"sub_commands": parts}, macros=[{"a": "'x'"}]
    )
    for macros in ([{"a": "1"}], [{"c": "'x'"}], []):
        with pytest.raises(Invalid, match=r"^sub-command 2 \(ShellCommand\): macro 'b': "):
            await room.put(schedule, macros=macros)
    assert (await room.put(schedule, macros=[{"a": "'y'"}]))["macros"] == [{"a": "'y'"}]
    assert (await room.put(schedule, time_zone="Asia/Tokyo"))["time_zone"] == "Asia/Tokyo"


async def test_two_edits_at_once_both_count(room: Room):
    schedule = await room.create(end_time="2026-11-25T00:00Z")
    changes = [{"start_time": "2026-11-24T00:00Z"}, {"name": "both"}, {"concurrency": 4}, {"frequency": 2}]
    await asyncio.gather(*(room.put(schedule, **change) for change in changes))
    row = room.simulation.schedule(schedule)
    assert (row["name"], row["concurrency"], row["frequency"]) == ("both", 4, 2)
    assert clock(row["next_nominal"]) == "24 00:00"
    outcomes = await asyncio.gather(
        room.put(schedule, start_time="2026-11-24T12:00Z"),
        room.put(schedule, end_time="2026-11-24T06:00Z"),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Invalid) for outcome in outcomes) == 1, outcomes


async def test_actions_wait_for_what_the_schedule_depends_on_when_they_begin(room: Room):
    schedule = await room.create(start_time="2026-11-21T09:00Z")
    room.simulation.settle()
    await room.put(schedule, dependency_info=WAITS)
    first, *others = room.simulation.actions(schedule)
    assert first["command_id"]
    assert {(action["status"], action["look_at"]) for action in others} == {("waiting", NOON)}
    room.end_all()
    room.simulation.settle()
    assert room.begun(schedule) == ["21 09:00"]
    await room.put(schedule, dependency_info={})
    room.simulation.settle()
    assert room.begun(schedule) == ["21 09:00", "21 10:00"]


async def test_a_suspended_schedule_does_not_give_up_and_a_resumed_one_counts_anew(room: Room):
    schedule = await room.create(dependency_info=WAITS, time_out=10)
    room.simulation.settle()
    await room.ask(schedule, "suspend")
    assert room.simulation.actions(schedule)[0]["look_at"] is None
    room.simulation.now += 30 * 60
    assert await room.ask(schedule, "resume") == "RUNNING"
    [action] = room.simulation.actions(schedule)
    row = room.simulation.schedule(schedule)
    assert (action["look_at"], row["resumed_at"]) == (room.simulation.now, room.simulation.now)
    # A shorter time_out holds for those that wait already, and is looked at now.
    room.simulation.now += 1
    await room.put(schedule, time_out=1)
    assert room.simulation.actions(schedule)[0]["look_at"] == room.simulation.now


async def test_a_rerun_that_is_about_to_begin_is_not_lost_to_a_suspension(room: Room):
    schedule = await room.create()
    room.simulation.settle()
    room.end_all()
    [action] = room.simulation.actions(schedule)
    again = await room.actions.rerun(action["id"], by=room.by)
    assert (again["rerun_number"], again["is_rerun_of"], again["status"]) == (1, action["id"], "submitted")
    with pytest.raises(StateConflict, match="still under way"):
        await room.actions.rerun(action["id"], by=room.by)
    await room.ask(schedule, "suspend")
    room.pass_time(5 * HOUR)
    assert room.begun(schedule) == ["21 12:00", "21 12:00"]


async def test_runs_missed_while_suspended_are_caught_up_on_or_dropped(room: Room):
    schedule = await room.create(concurrency=9)
    room.simulation.settle()
    await room.ask(schedule, "suspend")
    room.pass_time(3 * HOUR)
    await room.ask(schedule, "resume", no_catch_up=True)
    room.pass_time(HOUR)
    assert room.begun(schedule) == ["21 12:00", "21 16:00"]
    await room.ask(schedule, "suspend")
    room.pass_time(2 * HOUR)
    await room.ask(schedule, "resume")
    room.simulation.settle()
    assert room.begun(schedule)[2:] == ["21 17:00", "21 18:00"]


async def test_a_killed_schedule_leaves_nothing_waiting(room: Room):
    schedule = await room.create(start_time="2026-11-21T09:00Z", dependency_info=WAITS)
    room.simulation.settle()
    assert await room.ask(schedule, "kill") == "KILLED"
    found = room.simulation.actions(schedule)
    assert {(action["status"], action["done"], action["look_at"]) for action in found} == {("cancelled", True, None)}
    assert await room.ask(schedule, "kill") == "KILLED"
    row = room.simulation.schedule(schedule)
    assert (row["due_at"], row["next_nominal"]) == (None, None)
    for status in ("suspend", "resume"):
        with pytest.raises(StateConflict, match="is KILLED and cannot be"):
            await room.ask(schedule, status)
    with pytest.raises(StateConflict, match="was killed"):
        await room.actions.rerun(found[0]["id"], by=room.by)


async def test_the_runs_of_an_instance_are_listed_newest_first_with_few_queries(
    room: Room, count_statements: list[str]
):
    schedule = await room.create(start_time="2026-11-21T03:00Z", concurrency=10)
    room.simulation.settle()
    room.end_all()
    count_statements.clear()
    records, info = await room.actions.instances(schedule, Page(1, 5), by=room.by)
    assert [record["sequence_id"] for record in records] == [10, 9, 8, 7, 6]
    assert (info.next_page, info.previous_page) == (2, None)
    assert sum("SELECT" in statement for statement in count_statements) <= 2
    with pytest.raises(NotFound, match="no instance 11"):
        await room.actions.instances(schedule, Page(1, 5), by=room.by, sequence_id=11)
    with pytest.raises(NotFound, match=f"no instance {2**63 - 1}"):
        await room.actions.rerun_instance(schedule, 2**63 - 1, by=room.by)


async def test_all_schedules_are_listed_in_pieces_and_with_few_queries(room: Room, count_statements: list[str]):
    template = await room.create(name="many", notification={"notify_failure": True})
    with room.database.begin() as connection:
        row = dict(connection.execute(sa.select(schedules)).mappings().one())
        del row["id"]
        connection.execute(sa.insert(schedules), [row] * 450)
    count_statements.clear()
    pieces = [piece async for piece in await room.schedules.listing.all(ScheduleFilter(), by=room.by)]
    listed = json.loads(b"".join(pieces))
    ids = [record["id"] for record in listed["schedules"]]
    assert len(ids) == len(set(ids)) == 451
    assert ids == sorted(ids, reverse=True)
    assert listed["paging_info"] == {"page": 1, "per_page": 451, "next_page": None, "previous_page": None}
    assert {record["email_list"] for record in listed["schedules"]} == {"admin@localhost"}
    assert max(map(len, pieces)) < len(b"".join(pieces)) / 2
    assert len(count_statements) < 20
    count_statements.clear()
    records, _ = await room.schedules.listing.page(ScheduleFilter(name="man"), Page(1, 100), by=room.by)
    assert (len(records), records[0]["id"] > template) == (100, True)
    assert sum("SELECT" in statement for statement in count_statements) <= 4
    nothing = [piece async for piece in await room.schedules.listing.all(ScheduleFilter(name="none"), by=room.by)]
    assert json.loads(b"".join(nothing))["schedules"] == []


async def test_a_list_shows_how_the_newest_run_of_each_went(room: Room, count_statements: list[str]):
    idle = await room.create(start_time="2030-01-01T00:00Z")
    schedule = await room.create(start_time="2026-11-21T03:00Z", concurrency=10)
    room.simulation.settle()
    room.end_all()
    count_statements.clear()
    records, _ = await room.schedules.listing.page(ScheduleFilter(), Page(1, 10), by=room.by)
    assert sum("SELECT" in statement for statement in count_statements) <= 4
    newest, _ = await room.actions.list(Page(1, 1), by=room.by, schedule_id=schedule)
    told = {record["id"]: record["last_action"] for record in records}
    assert told[idle] is None
    assert told[schedule]["sequence_id"] == 10
    assert told[schedule] == {key: newest[0][key] for key in told[schedule]}


async def test_a_schedule_shows_the_alerts_of_its_runs(room: Room):
    usual, late = await room.create(), await room.create(due_by="12:30")
    room.pass_time(HOUR / 2)
    [action] = room.simulation.actions(late)
    alert = RunAlert(
        alert="late", action_id=action["id"], nominal_time="2026-11-21T12:00:00Z", since="2026-11-21T12:30:00Z"
    )
    listed, _ = await room.schedules.listing.page(ScheduleFilter(), Page(1, 10), by=room.by)
    alone = [await room.schedules.get(schedule, by=room.by) for schedule in (late, usual)]
    for records in (listed, alone):
        assert [ScheduleRecord.model_validate(record).alerts for record in records] == [[alert], []]


async def test_a_name_may_look_like_the_id_of_another(room: Room):
    first = await room.create(name="")
    other = await room.create(name=str(first))
    assert (await room.schedules.get(first, by=room.by))["name"] == str(first)
    assert (await room.schedules.get(other, by=room.by))["name"] == str(first)
    assert (await room.put(other, name=""))["name"] == str(other)


async def test_another_account_sees_nothing_of_it(room: Room):
    schedule = await room.create()
    room.simulation.settle()
    [action] = room.simulation.actions(schedule)
    stranger = replace(room.by, account_id=room.by.account_id + 1)
    asked: list[Callable[[Caller], Any]] = [
        lambda by: room.schedules.get(schedule, by=by),
        lambda by: room.schedules.edit(schedule, ScheduleUpdate(name="mine"), by=by),
        lambda by: room.schedules.change_state(schedule, ScheduleUpdate(status="kill"), by=by),
        lambda by: room.actions.list(Page(1, 10), by=by, schedule_id=schedule),
        lambda by: room.actions.instances(schedule, Page(1, 10), by=by),
        lambda by: room.actions.latest_command(schedule, 1, by=by),
        lambda by: room.actions.get(action["id"], by=by),
        lambda by: room.actions.kill(action["id"], by=by),
        lambda by: room.actions.rerun(action["id"], by=by),
        lambda by: room.actions.rerun_instance(schedule, 1, by=by),
    ]
    nobody = replace(room.by, groups=frozenset())
    for ask in asked:
        assert await _refusal(ask, stranger) is NotFound
        assert await _refusal(ask, nobody) is Forbidden
    assert (await room.schedules.listing.page(ScheduleFilter(), Page(1, 10), by=stranger))[0] == []
    assert (await room.actions.list(Page(1, 10), by=stranger))[0] == []


async def _refusal(ask: Callable[[Caller], Any], by: Caller) -> type[ServiceError] | None:
    try:
        await ask(by)
    except ServiceError as error:
        return type(error)
    return None


async def test_the_owner_who_was_disabled_meanwhile_begins_nothing(room: Room):
    schedule = await room.create(macros=[{"x": "1"}])
    [item] = room.simulation.step()
    with room.database.begin() as connection:
        connection.execute(sa.update(users).values(enabled=False))
        assert room.simulation.work.begin(connection, item, [{"x": 1}], NOON) is None
    [action] = room.simulation.actions(schedule)
    assert (action["status"], action["command_id"]) == (ActionStatus.ERROR, None)
    assert "disabled" in action["message"]
