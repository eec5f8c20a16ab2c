"""Alerts: runs that have not ended by their time, and runs that take longer than usual."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from tests.service.notifications.clocks import Clock, eventually
from tests.service.notifications.hook_server import HookServer
from tests.service.notifications.schedule_rows import action_row

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.notifications.rendering import notice_of
from svc_jupyter.service.notifications.webhooks import webhook_body
from svc_jupyter.service.schema.notifications import outbox as table
from svc_jupyter.service.schema.schedules import Schedule, actions

AddRun = Callable[..., int]
AddSchedule = Callable[..., Schedule]
Running = Callable[..., Awaitable[Notifications]]


def paris(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo("Europe/Paris")).timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock(paris("2026-11-21 07:59"))


@pytest.fixture
def add_alerting(add_schedule: AddSchedule) -> AddSchedule:
    """Stores a schedule that was created in time for its runs."""
    return lambda **values: add_schedule(**{"created_at": paris("2026-11-01 12:00")} | values)


@pytest.fixture
def add_run(database: Database, ended_command: Callable[..., dict[str, Any]]) -> AddRun:
    """Stores a run of a schedule and returns its id: one that goes on, unless it has a `took` in seconds."""
    numbers: Iterator[int] = iter(range(1, 1000))

    def add_run(schedule: Schedule, nominal: str, started: str | None, took: float | None = None, **values: Any) -> int:
        number = next(numbers)
        status = values.pop("status", "running" if took is None else "done")
        command_id = None
        if started is not None:
            begun = paris(started)
            end = None if took is None else begun + took
            command_id = ended_command(status=status, start_time=begun, end_time=end, can_notify=False)["id"]
        row = action_row(
            id=number,
            schedule_id=schedule.id,
            sequence_id=number,
            nominal_time=paris(nominal),
            status="submitted" if took is None and command_id is not None else status,
            message=None,
            command_id=command_id,
            done=took is not None,
            ended_at=None if took is None or started is None else paris(started) + took,
            **values,
        )
        with database.begin() as connection:
            connection.execute(sa.insert(actions).values(**asdict(row)))
        return number

    return add_run


def events(database: Database) -> list[str]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(table.c.event).order_by(table.c.id)).scalars())


def contents(database: Database) -> list[dict[str, Any]]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(table.c.content).order_by(table.c.id)).scalars())


async def look(notifications: Notifications, clock: Clock, moment: str) -> None:
    clock.now = paris(moment)
    await notifications._alerts._round()


@pytest.fixture
def watching(hook_settings: Settings, database: Database, bus: Bus, secrets: SecretBox, clock: Clock) -> Notifications:
    """Notifications that look when they are asked to, and send nothing."""
    return Notifications(hook_settings, database, bus, secrets, clock)


async def test_a_run_that_has_not_ended_by_its_time_is_posted_once_and_the_earliest_stands_for_all(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: Callable[..., int],
    add_alerting: AddSchedule,
    add_run: AddRun,
    running: Running,
    clock: Clock,
) -> None:
    schedule = add_alerting(due_by="08:00", notification_channels=[add_channel(hook_server.url())])
    add_run(schedule, "2026-11-21 03:00", None, status="waiting")
    first = add_run(schedule, "2026-11-21 02:00", "2026-11-21 02:01")
    notifications = await running(hook_settings)
    await look(notifications, clock, "2026-11-21 07:59")
    assert events(database) == []

    for moment in ("2026-11-21 08:00", "2026-11-21 08:01", "2026-11-22 07:59"):
        await look(notifications, clock, moment)
    assert events(database) == [f"late:{schedule.id}:{int(paris('2026-11-21 08:00'))}"]
    await eventually(lambda: hook_server.posted)
    (posted,) = hook_server.posted
    assert posted.body["text"] == "Daily sales is late: still running, due by 2026-11-21 08:00 CET"
    assert {name: posted.body[name] for name in ("event", "action_id", "status", "started_at", "due_at")} == {
        "event": "schedule.late",
        "action_id": first,
        "status": "running",
        "started_at": "2026-11-21T01:01:00Z",
        "due_at": "2026-11-21T07:00:00Z",
    }


async def test_a_run_that_waits_has_not_started(
    database: Database, watching: Notifications, clock: Clock, add_alerting: AddSchedule, add_run: AddRun, add_channel
) -> None:
    hook = add_channel("https://hooks.example.org/x")
    add_run(add_alerting(due_by="08:00", notification_channels=[hook]), "2026-11-21 02:00", None, status="waiting")
    await look(watching, clock, "2026-11-21 08:10")
    (content,) = contents(database)
    notice = notice_of(content, public_url=None)
    assert notice.subject == (
        "[svc-jupyter] Daily sales is late: not started, due by 2026-11-21 08:00 CET (2026-11-21 02:00 CET)"
    )
    assert "Started:      not yet" in notice.text
    assert "Due by:       2026-11-21 08:00 CET (Europe/Paris)" in notice.text


async def test_runs_that_nobody_waits_for_are_not_late(
    database: Database, watching: Notifications, clock: Clock, add_alerting: AddSchedule, add_run: AddRun, add_channel
) -> None:
    settings = {"due_by": "08:00", "notification_channels": [add_channel("https://hooks.example.org/x")]}
    usual = add_alerting(id=11, **settings)
    ended = add_run(usual, "2026-11-21 02:00", "2026-11-21 02:01", 60)
    add_run(usual, "2026-11-20 02:00", "2026-11-21 07:00", rerun_number=1, is_rerun_of=ended)
    add_run(usual, "2026-11-21 08:00", "2026-11-21 08:00")  # due tomorrow
    add_run(add_alerting(id=12, created_at=paris("2026-11-21 08:05"), **settings), "2026-11-21 02:00", None)
    add_run(add_alerting(id=13, resumed_at=paris("2026-11-21 08:05"), **settings), "2026-11-21 02:00", None)
    add_run(add_alerting(id=14, status="SUSPENDED", **settings), "2026-11-21 02:00", None)
    add_run(add_alerting(id=15, **settings | {"due_by": None}), "2026-11-21 02:00", None)
    await look(watching, clock, "2026-11-21 08:10")
    assert events(database) == []
    await look(watching, clock, "2026-11-22 08:00")
    assert events(database) == [f"late:11:{int(paris('2026-11-22 08:00'))}"]


async def test_a_run_that_takes_a_multiple_of_the_median_is_reported_from_then_on(
    database: Database, watching: Notifications, clock: Clock, add_alerting: AddSchedule, add_run: AddRun, add_channel
) -> None:
    hook = add_channel("https://hooks.example.org/x")
    schedule = add_alerting(longer_than=3.0, notification_channels=[hook])
    for day, took in ((14, 9), (15, 10.6), (16, 400)):
        add_run(schedule, f"2026-11-{day} 02:00", f"2026-11-{day} 02:00", took)
    add_run(schedule, "2026-11-17 02:00", "2026-11-17 02:00", 1, status="error")
    long = add_run(schedule, "2026-11-21 08:00", "2026-11-21 08:00")
    await look(watching, clock, "2026-11-21 08:00:31")
    assert events(database) == []
    assert await watching._alerts._next_time() == pytest.approx(paris("2026-11-21 08:00:31") + 0.8, abs=0.001)
    for moment in ("2026-11-21 08:00:32", "2026-11-21 09:00"):
        await look(watching, clock, moment)
    assert events(database) == [f"long:{long}"]
    notice = notice_of(contents(database)[0], public_url=None)
    assert notice.subject == "[svc-jupyter] Daily sales takes longer than usual (2026-11-21 08:00 CET)"
    assert "Usual:          11 s, the median of the last runs that are done" in notice.text
    assert "Reported after: 32 s, 3 times the usual" in notice.text
    shortest = notice_of(contents(database)[0] | {"median": 1.0}, public_url=None)
    assert "Usual:          1 s, the median" in shortest.text
    assert "Reported after: 3 s, 3 times the usual" in shortest.text
    body = webhook_body(contents(database)[0], delivery_id="1.1", public_url=None)
    assert (body["event"], body["median_seconds"], body["longer_than"]) == (
        "schedule.long",
        pytest.approx(10.6, abs=0.001),
        3,
    )
    assert (body["started_at"], body["ended_at"]) == ("2026-11-21T07:00:00Z", None)


async def test_two_runs_are_not_enough_for_what_is_usual(
    database: Database, watching: Notifications, clock: Clock, add_alerting: AddSchedule, add_run: AddRun, add_channel
) -> None:
    hook = add_channel("https://hooks.example.org/x")
    schedule = add_alerting(longer_than=3.0, notification_channels=[hook])
    for day in (14, 15):
        add_run(schedule, f"2026-11-{day} 02:00", f"2026-11-{day} 02:00", 10)
    add_run(schedule, "2026-11-21 02:00", "2026-11-21 02:00")
    await look(watching, clock, "2026-11-21 09:00")
    assert events(database) == []


def test_a_list_shows_the_alerts_of_runs_under_way_from_when_they_hold(
    database: Database, watching: Notifications, clock: Clock, add_alerting: AddSchedule, add_run: AddRun
) -> None:
    schedule = add_alerting(id=11, due_by="08:00", longer_than=3.0)
    others = [add_alerting(id=12), add_alerting(id=13, due_by="08:00"), add_alerting(id=14, due_by="08:00")]
    for day in (14, 15, 16):
        add_run(schedule, f"2026-11-{day} 02:00", f"2026-11-{day} 02:00", 600)
    first = add_run(schedule, "2026-11-21 02:00", "2026-11-21 07:40")
    add_run(schedule, "2026-11-21 03:00", None, status="waiting")
    add_run(others[0], "2026-11-21 02:00", None)
    add_run(others[1], "2026-11-21 02:00", None)

    def alerts(moment: str) -> dict[int, list[dict[str, Any]]]:
        clock.now = paris(moment)
        with database.connect() as connection:
            return watching.open_alerts(connection, [schedule, *others])

    late = {"alert": "late", "nominal_time": "2026-11-21T01:00:00Z", "since": "2026-11-21T07:00:00Z"}
    long = {"alert": "long", "nominal_time": "2026-11-21T01:00:00Z", "since": "2026-11-21T07:10:00Z"}
    assert alerts("2026-11-21 07:59:59") == {}
    late_ones = {11: [late | {"action_id": first}], 13: [late | {"action_id": first + 3}]}
    assert alerts("2026-11-21 08:00") == late_ones
    assert alerts("2026-11-21 08:10")[11] == [late | {"action_id": first}, long | {"action_id": first}]
    with database.begin() as connection:
        connection.execute(sa.update(actions).where(actions.c.id == first).values(done=True))
    assert alerts("2026-11-21 08:10")[11] == [late | {"action_id": first + 1, "nominal_time": "2026-11-21T02:00:00Z"}]


def test_a_run_that_ends_before_somebody_looked_is_reported_then_and_a_cancelled_one_is_not(
    database: Database, watching: Notifications, add_alerting: AddSchedule, add_run: AddRun, add_channel
) -> None:
    hook = add_channel("https://hooks.example.org/x")
    schedule = add_alerting(due_by="08:00", longer_than=3.0, notification_channels=[hook])
    for day, took in ((14, 9), (15, 10), (16, 400)):
        add_run(schedule, f"2026-11-{day} 02:00", f"2026-11-{day} 02:00", took)

    def end(number: int, **values: Any) -> None:
        with database.begin() as connection:
            row = connection.execute(sa.select(actions).where(actions.c.id == number)).mappings().one()
            watching.on_action_end(connection, schedule, action_row(**{**row, "done": True, **values}))

    end(
        add_run(schedule, "2026-11-20 02:00", "2026-11-21 08:01"),
        status="cancelled",
        ended_at=paris("2026-11-21 09:00"),
    )
    assert events(database) == []
    end(add_run(schedule, "2026-11-21 02:00", "2026-11-21 02:00"), status="done", ended_at=paris("2026-11-21 02:00:29"))
    assert events(database) == []
    late = add_run(schedule, "2026-11-20 03:00", "2026-11-21 08:01", 30)  # its own time is not among the usual ones
    end(late)
    assert events(database) == [f"late:{schedule.id}:{int(paris('2026-11-20 08:00'))}", f"long:{late}"]
    assert [notice_of(content, public_url=None).subject for content in contents(database)] == [
        "[svc-jupyter] Daily sales was late: due by 2026-11-20 08:00 CET (2026-11-20 03:00 CET)",
        "[svc-jupyter] Daily sales took longer than usual (2026-11-20 03:00 CET)",
    ]
    missing = add_run(schedule, "2026-11-18 03:00", None, status="waiting")
    end(missing, status="not_found", ended_at=paris("2026-11-18 13:00"))
    assert "Started:      never" in notice_of(contents(database)[-1], public_url=None).text


async def test_without_channels_the_owner_is_reported_it_and_with_can_notify_both(
    database: Database,
    mail_settings: Callable[..., Settings],
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
    add_alerting: AddSchedule,
    add_run: AddRun,
    add_channel: Callable[..., int],
) -> None:
    watching = Notifications(mail_settings(), database, bus, secrets, clock)
    team = add_channel("grace@example.org")
    for number, wishes in enumerate(
        ({}, {"notification_channels": [team]}, {"notification_channels": [team], "can_notify": True}), start=11
    ):
        add_run(add_alerting(id=number, due_by="08:00", **wishes), "2026-11-21 02:00", None)
    await look(watching, clock, "2026-11-21 08:00")
    with database.connect() as connection:
        rows = connection.execute(sa.select(table.c.event, table.c.recipient).order_by(table.c.id)).all()
    assert [(row.event.split(":")[1], row.recipient) for row in rows] == [
        ("11", "ada@example.org"),
        ("12", "grace@example.org"),
        ("13", "grace@example.org"),
        ("13", "ada@example.org"),
    ]


async def test_a_schedule_that_gets_an_alert_is_looked_at(
    database: Database,
    hook_settings: Settings,
    add_channel: Callable[..., int],
    add_alerting: AddSchedule,
    add_run: AddRun,
    running: Running,
    clock: Clock,
) -> None:
    schedule = add_alerting(notification_channels=[add_channel("http://127.0.0.1:1/x")])
    add_run(schedule, "2026-11-21 02:00", None)
    clock.now = paris("2026-11-21 09:00")
    notifications = await running(hook_settings)
    assert await notifications._alerts._next_time() is None
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE schedules SET due_by = '08:00'"))
        notifications.on_schedule_change(connection, replace(schedule, due_by="08:00"))
    await eventually(lambda: events(database))
