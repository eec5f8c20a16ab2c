"""Digests, with a clock that is told."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from tests.service.notifications.clocks import Clock, eventually
from tests.service.notifications.hook_server import HookServer
from tests.service.notifications.mail_server import MailServer
from tests.service.notifications.schedule_rows import action_row

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.due_work import NOTIFY
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.schema.notifications import digest_entries
from svc_jupyter.service.schema.notifications import outbox as table
from svc_jupyter.service.schema.schedules import Schedule, schedules

Row = dict[str, Any]
AddChannel = Callable[..., int]
AddSchedule = Callable[..., Schedule]
Running = Callable[..., Awaitable[Notifications]]
PARIS = ZoneInfo("Europe/Paris")
DIGEST = {"is_digest": True, "digest_time_hour": 8, "digest_time_minute": 30, "notify_failure": True}


def paris(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=PARIS).timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock(paris("2026-11-21 12:00"))


@pytest.fixture
def gathering(hook_settings: Settings, database: Database, bus: Bus, secrets: SecretBox, clock: Clock) -> Notifications:
    """Notifications of a service that has not started yet."""
    return Notifications(hook_settings, database, bus, secrets, clock)


def end(database: Database, notifications: Notifications, schedule: Schedule, ended: str, **action: Any) -> None:
    """End an action at a time in Paris; its id comes from the time."""
    moment = paris(ended)
    values = {"id": int(moment), "nominal_time": moment - 60, "ended_at": moment, "schedule_id": schedule.id}
    with database.begin() as connection:
        notifications.on_action_end(connection, schedule, action_row(**values | action))


def edit(database: Database, notifications: Notifications, schedule: Schedule, **changes: Any) -> Schedule:
    """Change a schedule as its room does."""
    with database.begin() as connection:
        connection.execute(sa.update(schedules).where(schedules.c.id == schedule.id).values(**changes))
        notifications.on_schedule_change(connection, replace(schedule, **changes))
    return replace(schedule, **changes)


def rows(database: Database) -> list[Any]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(table).order_by(table.c.id)))


def gathered(database: Database) -> int:
    with database.connect() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(digest_entries)).scalar_one())


def advance(clock: Clock, bus: Bus, to: str) -> None:
    clock.now = paris(to)
    bus.announce(NOTIFY)


async def test_the_days_actions_are_reported_in_one_message_per_recipient(
    database: Database,
    mail_server: MailServer,
    mail_settings: Callable[..., Settings],
    hook_server: HookServer,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    await mail_server.start()
    notifications = await running(mail_settings(webhook_private_addresses=True))
    channel_ids = [add_channel("grace@example.org"), add_channel(hook_server.url())]
    schedule = add_schedule(**DIGEST, notify_success=True, can_notify=True, notification_channels=channel_ids)
    for hour, status in ((13, "done"), (14, "error"), (15, "cancelled"), (16, "not_found"), (17, "done")):
        end(database, notifications, schedule, f"2026-11-21 {hour}:00", status=status)
    assert rows(database) == []
    advance(clock, bus, "2026-11-22 08:29")
    assert gathered(database) == 4
    advance(clock, bus, "2026-11-22 08:30")
    await eventually(lambda: sum(row.sent_at is not None for row in rows(database)) == 3)

    (posted,) = hook_server.posted
    assert posted.body["event"] == "schedule.digest"
    assert (posted.body["failures"], posted.body["successes"]) == (2, 2)
    assert [action["status"] for action in posted.body["actions"]] == ["error", "not_found", "done", "done"]
    mails = {mail.recipients[0]: mail.message for mail in mail_server.received}
    assert {address: message["Subject"].strip() for address, message in mails.items()} == {
        "grace@example.org": "[svc-jupyter] Daily sales: 2 failed, 2 done (until 2026-11-22 08:30 CET)",
        "ada@example.org": "[svc-jupyter] Daily sales: 2 failed (until 2026-11-22 08:30 CET)",
    }
    assert gathered(database) == 0
    advance(clock, bus, "2026-11-23 08:30")  # nothing to tell
    end(database, notifications, schedule, "2026-11-23 09:00", status="cancelled")
    advance(clock, bus, "2026-11-24 08:30")
    await notifications.stop()
    assert len(rows(database)) == 3


async def test_a_service_that_was_down_shows_what_is_due_once_when_it_is_back(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    gathering: Notifications,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    schedule = add_schedule(**DIGEST, notification_channels=[add_channel(hook_server.url())])
    for day in (21, 22, 23):
        end(database, gathering, schedule, f"2026-11-{day} 14:00")
    clock.now = paris("2026-11-23 18:00")

    first = await running(hook_settings)
    await eventually(lambda: hook_server.posted)
    await first.stop()
    await running(hook_settings)
    advance(clock, bus, "2026-11-24 08:30")
    await eventually(lambda: len(hook_server.posted) == 2)

    assert [len(posted.body["actions"]) for posted in hook_server.posted] == [2, 1]
    assert [posted.body["due_at"] for posted in hook_server.posted] == ["2026-11-23T07:30:00Z", "2026-11-24T07:30:00Z"]


async def test_a_digest_keeps_its_hour_when_the_clocks_change(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    gathering: Notifications,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    at_half_past_two = DIGEST | {"digest_time_hour": 2}
    schedule = add_schedule(**at_half_past_two, notification_channels=[add_channel(hook_server.url())])
    clock.now = paris("2026-10-24 00:00")
    notifications = await running(hook_settings)
    for day in (24, 25, 26):
        end(database, notifications, schedule, f"2026-10-{day} 01:00")
        end(database, notifications, schedule, f"2026-10-{day} 23:00")
        # Each step up to the second half past two of the night in which the clocks go back.
        for minutes in range(0, 24 * 60, 30):
            clock.now = paris(f"2026-10-{day} 01:00") + minutes * 60
            bus.announce(NOTIFY)
        await eventually(lambda day=day: len(hook_server.posted) >= day - 23)
    await eventually(lambda: len(hook_server.posted) == 3)

    due = [posted.body["due_at"] for posted in hook_server.posted]
    assert due == ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    assert [len(posted.body["actions"]) for posted in hook_server.posted] == [1, 2, 2]


async def test_an_edit_of_the_hour_or_the_zone_takes_effect_for_what_is_gathered(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    notifications = await running(hook_settings)
    schedule = add_schedule(**DIGEST, notification_channels=[add_channel(hook_server.url())])
    end(database, notifications, schedule, "2026-11-21 11:00")
    schedule = edit(database, notifications, schedule, digest_time_hour=20, time_zone="America/New_York")
    advance(clock, bus, "2026-11-22 02:29")
    schedule = edit(database, notifications, schedule, digest_time_minute=31)
    advance(clock, bus, "2026-11-22 02:30")
    advance(clock, bus, "2026-11-22 02:31")
    await eventually(lambda: hook_server.posted)
    assert hook_server.posted[0].body["due_at"] == "2026-11-22T01:31:00Z"

    end(database, notifications, schedule, "2026-11-22 03:00")
    advance(clock, bus, "2026-11-22 03:30")
    schedule = edit(database, notifications, schedule, is_digest=False)  # what is gathered is told at once
    await eventually(lambda: len(hook_server.posted) == 2)
    end(database, notifications, schedule, "2026-11-22 04:00")
    await eventually(lambda: len(hook_server.posted) == 3)
    assert [posted.body["event"] for posted in hook_server.posted] == [
        "schedule.digest",
        "schedule.digest",
        "schedule.failure",
    ]


async def test_who_is_reported_is_decided_when_the_digest_is_due(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    gathering: Notifications,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    clock: Clock,
) -> None:
    schedule = add_schedule(**DIGEST, notify_success=True, notification_channels=[add_channel(hook_server.url("/old"))])
    for hour, status in ((13, "done"), (14, "error")):
        end(database, gathering, schedule, f"2026-11-21 {hour}:00", status=status)
    edit(
        database,
        gathering,
        schedule,
        notification_channels=[add_channel(hook_server.url("/new"))],
        notify_success=False,
    )
    clock.now = paris("2026-11-22 09:00")

    await running(hook_settings)
    await eventually(lambda: hook_server.posted)

    (posted,) = hook_server.posted
    assert (posted.path, posted.body["failures"], posted.body["successes"]) == ("/new", 1, 0)


async def test_an_end_that_is_written_after_its_digest_is_reported_in_the_next(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    notifications = await running(hook_settings)
    schedule = add_schedule(**DIGEST, notification_channels=[add_channel(hook_server.url())])
    end(database, notifications, schedule, "2026-11-21 14:00")
    advance(clock, bus, "2026-11-22 08:30")
    await eventually(lambda: hook_server.posted)

    end(database, notifications, schedule, "2026-11-22 08:29")
    end(database, notifications, schedule, "2026-11-22 09:00")
    advance(clock, bus, "2026-11-23 08:30")
    await eventually(lambda: len(hook_server.posted) == 2)

    assert [len(posted.body["actions"]) for posted in hook_server.posted] == [1, 2]


async def test_two_replicas_show_a_digest_once(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    gathering: Notifications,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    clock: Clock,
) -> None:
    channel = add_channel(hook_server.url())
    for number in range(10):
        schedule = add_schedule(id=100 + number, **DIGEST, notification_channels=[channel])
        for hour in (13, 14, 15):
            end(database, gathering, schedule, f"2026-11-21 {hour}:00", id=number * 100 + hour)
    clock.now = paris("2026-11-22 09:00")
    other = Database(hook_settings)
    other_bus = Bus(other)
    await other_bus.start()
    try:
        await running(hook_settings)
        second = await running(hook_settings, on=other, over=other_bus)
        await eventually(lambda: sum(row.sent_at is not None for row in rows(database)) == 10)
        await second.stop()
    finally:
        await other_bus.stop()
        other.close()

    assert sorted(posted.body["schedule_id"] for posted in hook_server.posted) == list(range(100, 110))
    assert {len(posted.body["actions"]) for posted in hook_server.posted} == {3}
    assert gathered(database) == 0


async def test_a_gathered_end_is_deleted_once_its_notification_is_switched_off(
    database: Database,
    hook_settings: Settings,
    hook_server: HookServer,
    gathering: Notifications,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    clock: Clock,
) -> None:
    schedule = add_schedule(**DIGEST, notification_channels=[add_channel(hook_server.url())])
    end(database, gathering, schedule, "2026-11-21 14:00")
    edit(database, gathering, schedule, notify_failure=False)
    clock.now = paris("2026-11-22 09:00")

    await running(hook_settings)
    await eventually(lambda: gathered(database) == 0)

    assert rows(database) == []
