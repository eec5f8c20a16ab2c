"""Who is told of an action's end, by which way, and how often."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs
from tests.service.notifications.clocks import NOON, Clock, eventually
from tests.service.notifications.hook_server import HookServer
from tests.service.notifications.mail_server import MailServer
from tests.service.notifications.schedule_rows import action_row

from svc_jupyter.service.commands.rows import command_root
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.due_work import NOTIFY
from svc_jupyter.service.notifications.notifications import NO_SERVER, Notifications
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.notifications import channels
from svc_jupyter.service.schema.notifications import outbox as table
from svc_jupyter.service.schema.schedules import Schedule

Row = dict[str, Any]
AddChannel = Callable[..., int]
AddSchedule = Callable[..., Schedule]
Running = Callable[..., Awaitable[Notifications]]
MailSettings = Callable[..., Settings]
SECRET = "T0-secret-B0"


@pytest.fixture
def noting(
    mail_settings: MailSettings, database: Database, bus: Bus, secrets: SecretBox, clock: Clock
) -> Notifications:
    """Notifications of a service with a mail server; they note, and send nothing."""
    return Notifications(mail_settings(webhook_private_addresses=True), database, bus, secrets, clock)


def end(database: Database, notifications: Notifications, schedule: Schedule, **action: Any) -> None:
    """Do what ends an action does."""
    with database.begin() as connection:
        notifications.on_action_end(connection, schedule, action_row(schedule_id=schedule.id, **action))


def rows(database: Database) -> list[Any]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(table).order_by(table.c.id)))


def told(database: Database) -> list[str]:
    return [f"{row.medium} {row.recipient}" for row in rows(database)]


def sent(database: Database) -> int:
    return sum(row.sent_at is not None for row in rows(database))


OWNER = "email ada@example.org"


def test_the_owner_is_reported_what_the_schedule_asks_for(
    database: Database, noting: Notifications, add_schedule: AddSchedule
) -> None:
    cases = [
        ([], ["error", "not_found", "done", "cancelled"], []),
        (["can_notify"], ["error", "not_found", "done", "cancelled"], ["error", "not_found"]),
        (["notify_failure"], ["error", "not_found", "done", "cancelled"], ["error", "not_found"]),
        (["notify_success"], ["error", "not_found", "done", "cancelled"], ["done"]),
        (["can_notify", "notify_failure", "notify_success"], ["error", "done", "cancelled"], ["error", "done"]),
    ]
    for number, (wishes, statuses, expected) in enumerate(cases, start=1):
        schedule = add_schedule(id=number, **dict.fromkeys(wishes, True))
        before = len(rows(database))
        for order, status in enumerate(statuses):
            end(database, noting, schedule, id=number * 10 + order, status=status)
        new = rows(database)[before:]
        assert [row.content["action"]["status"] for row in new] == expected, wishes
        assert {f"{row.medium} {row.recipient}" for row in new} <= {OWNER}


def test_listed_channels_are_reported_instead_of_the_owner_and_no_address_twice(
    database: Database, noting: Notifications, add_channel: AddChannel, add_schedule: AddSchedule
) -> None:
    team = add_channel("grace@example.org, ADA@example.org")
    night = add_channel("GRACE@example.org, kay@example.org")
    hook = add_channel(f"https://hooks.example.org/{SECRET}")
    channel_ids = [team, night, hook]
    team_schedule = add_schedule(id=6, notify_failure=True, notification_channels=channel_ids)
    both = add_schedule(id=7, notify_failure=True, can_notify=True, notification_channels=channel_ids)

    end(database, noting, team_schedule)
    for _ in range(2):  # the same end again is not a second one
        end(database, noting, both, id=34)

    everybody = ["email grace@example.org", "email ADA@example.org", "email kay@example.org", f"webhook {hook}"]
    assert told(database) == everybody * 2
    assert [row.event for row in rows(database)] == ["action:33"] * 4 + ["action:34"] * 4
    assert SECRET not in str(rows(database))


def test_channels_that_are_gone_or_of_another_account_leave_the_owner(
    database: Database, noting: Notifications, add_schedule: AddSchedule
) -> None:
    end(database, noting, add_schedule(notify_failure=True, notification_channels=[98, 99]))

    assert told(database) == [OWNER]


def test_a_disabled_owner_is_reported_nothing_and_the_channels_go_on(
    database: Database, noting: Notifications, user_id: int, add_channel: AddChannel, add_schedule: AddSchedule
) -> None:
    schedule = add_schedule(
        can_notify=True, notify_failure=True, notification_channels=[add_channel("kay@example.org")]
    )
    with database.begin() as connection:
        connection.execute(sa.update(users).where(users.c.id == user_id).values(enabled=False))

    end(database, noting, schedule)

    assert told(database) == ["email kay@example.org"]


def test_an_end_that_is_rolled_back_is_not_reported(
    database: Database, noting: Notifications, add_schedule: AddSchedule
) -> None:
    schedule = add_schedule(can_notify=True, is_digest=True)
    with database.begin() as connection, connection.begin_nested() as savepoint:
        noting.on_action_end(connection, schedule, action_row())
        noting.on_action_end(connection, replace(schedule, is_digest=False), action_row())
        savepoint.rollback()

    assert rows(database) == []


def test_the_addresses_of_a_schedule_are_those_its_messages_go_to(
    database: Database, noting: Notifications, add_channel: AddChannel, add_schedule: AddSchedule
) -> None:
    team, hook = add_channel("grace@example.org, kay@example.org"), add_channel("https://hooks.example.org/x")
    schedule = add_schedule()
    cases: list[tuple[Row, list[str]]] = [
        ({}, []),
        ({"notification_channels": [team]}, []),
        ({"can_notify": True}, ["ada@example.org"]),
        ({"notify_success": True}, ["ada@example.org"]),
        ({"notify_failure": True, "notification_channels": [team, hook]}, ["grace@example.org", "kay@example.org"]),
        ({"notify_failure": True, "notification_channels": [hook]}, []),
        (
            {"can_notify": True, "notify_success": True, "notification_channels": [team]},
            ["grace@example.org", "kay@example.org", "ada@example.org"],
        ),
    ]
    with database.connect() as connection:
        for wishes, expected in cases:
            assert noting.recipients(connection, replace(schedule, **wishes)) == expected


async def test_a_failure_reaches_mailboxes_and_webhooks(
    database: Database,
    mail_server: MailServer,
    mail_settings: MailSettings,
    hook_server: HookServer,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
) -> None:
    await mail_server.start()
    settings = mail_settings(public_url="https://svc.example.org", webhook_private_addresses=True)
    notifications = await running(settings)
    channel_ids = [add_channel("grace@example.org"), add_channel(hook_server.url(f"/{SECRET}"))]
    schedule = add_schedule(notify_failure=True, notification_channels=channel_ids)

    with capture_logs() as logs:
        end(database, notifications, schedule)
        await eventually(lambda: sent(database) == 2)

    (mail,) = mail_server.received
    assert mail.recipients == ["grace@example.org"]
    assert mail.message["Subject"] == "[svc-jupyter] Daily sales failed (2030-03-17 18:46:40 CET)"
    (posted,) = hook_server.posted
    assert posted.headers["X-Delivery-Id"] == posted.body["delivery_id"]
    assert posted.headers["X-Event"] == posted.body["event"] == "schedule.failure"
    assert (posted.body["schedule_id"], posted.body["action_id"], posted.body["message"]) == (5, 33, "exit code 7")
    assert SECRET not in str(logs) + str(rows(database))


async def test_a_webhook_that_fails_twice_is_reported_at_the_third_time_under_the_same_id(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    hook_server.answers = [(503, {}), (429, {"Retry-After": "600"})]
    schedule = add_schedule(notify_failure=True, notification_channels=[add_channel(hook_server.url(f"/{SECRET}"))])
    notifications = await running(hook_settings)

    end(database, notifications, schedule)
    await eventually(lambda: rows(database)[0].last_error)
    assert (rows(database)[0].last_error, rows(database)[0].next_attempt_at) == ("127.0.0.1 answered 503", NOON + 60)
    clock.now += 60
    bus.announce(NOTIFY)
    await eventually(lambda: "429" in str(rows(database)[0].last_error))
    assert rows(database)[0].next_attempt_at == NOON + 60 + 600
    await notifications.stop()  # and the service starts again before its time
    await running(hook_settings)
    clock.now += 600
    bus.announce(NOTIFY)
    await eventually(lambda: sent(database) == 1)

    assert len(hook_server.posted) == 3
    assert len({posted.body["delivery_id"] for posted in hook_server.posted}) == 1
    assert rows(database)[0].attempts == 3


@pytest.mark.parametrize("status", [400, 404, 302])
async def test_a_webhook_that_refuses_is_not_asked_again(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    status: int,
) -> None:
    hook_server.answers = [(status, {"Location": "/elsewhere"})]
    schedule = add_schedule(notify_failure=True, notification_channels=[add_channel(hook_server.url(f"/{SECRET}"))])
    notifications = await running(hook_settings)

    with capture_logs() as logs:
        end(database, notifications, schedule)
        await eventually(lambda: rows(database)[0].last_error)

    (row,) = rows(database)
    assert (row.attempts, row.next_attempt_at, row.sent_at) == (1, None, None)
    assert f"answered {status}" in row.last_error
    assert [entry["event"] for entry in logs] == ["notification_given_up"]
    assert SECRET not in str(logs) + row.last_error


async def test_an_edit_takes_effect_for_what_waits_and_a_deleted_channel_gets_nothing(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    secrets: SecretBox,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
    free_port: int,
) -> None:
    wrong, gone = add_channel(f"http://127.0.0.1:{free_port}/wrong"), add_channel(f"http://127.0.0.1:{free_port}/gone")
    notifications = await running(hook_settings)
    end(database, notifications, add_schedule(notify_failure=True, notification_channels=[wrong, gone]))
    await eventually(lambda: all(row.last_error for row in rows(database)))

    with database.begin() as connection:
        sealed = secrets.seal(hook_server.url("/right"))
        connection.execute(sa.update(channels).where(channels.c.id == wrong).values(sealed_url=sealed))
        connection.execute(sa.delete(channels).where(channels.c.id == gone))
    clock.now += 60
    bus.announce(NOTIFY)
    await eventually(lambda: sent(database) == 1 and rows(database)[1].next_attempt_at is None)

    assert [posted.path for posted in hook_server.posted] == ["/right"]
    assert rows(database)[1].last_error == f"notification channel {gone} was deleted"


async def test_a_slow_or_dead_webhook_delays_its_own_channel_only(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    free_port: int,
    clock: Clock,
) -> None:
    slow = HookServer(holds=True)
    slow.start()
    try:
        dead_channel = add_channel(f"http://127.0.0.1:{free_port}/")
        channel_ids = [add_channel(slow.url()), dead_channel, add_channel(hook_server.url())]
        schedule = add_schedule(notify_failure=True, notification_channels=channel_ids)
        notifications = await running(hook_settings)

        for number in range(20):
            end(database, notifications, schedule, id=100 + number)
        await eventually(lambda: len(hook_server.posted) == 20)
        await eventually(lambda: slow.posted)

        assert len(slow.posted) == 1  # one after the other, and the first is under way
        tried = [row.attempts for row in rows(database) if row.recipient == str(dead_channel)]
        assert sum(tried) == 1  # it is left alone for a while, whatever waits for it
        slow.go_on.set()
        await eventually(lambda: len(slow.posted) == 20)
        assert [posted.body["action_id"] for posted in slow.posted] == list(range(100, 120))
        await eventually(lambda: sent(database) == 40)
    finally:
        slow.stop()


async def test_a_mail_server_that_is_silent_does_not_hold_up_webhooks_nor_the_reverse(
    database: Database,
    mail_server: MailServer,
    mail_settings: MailSettings,
    hook_server: HookServer,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
) -> None:
    await mail_server.start()
    mail_server.holds_at = "DATA"
    hook_server.holds = True
    notifications = await running(mail_settings(webhook_private_addresses=True))
    mails, hook = add_channel("grace@example.org"), add_channel(hook_server.url())

    end(database, notifications, add_schedule(id=6, can_notify=True))
    await eventually(lambda: mail_server.is_silent)
    hook_server.go_on.set()
    end(database, notifications, add_schedule(id=7, notify_failure=True, notification_channels=[hook]), id=34)
    await eventually(lambda: sent(database) == 1)
    assert len(hook_server.posted) == 1

    hook_server.go_on.clear()
    end(database, notifications, add_schedule(id=8, notify_failure=True, notification_channels=[hook]), id=35)
    await eventually(lambda: len(hook_server.posted) == 2)
    mail_server.go_on.set()
    end(database, notifications, add_schedule(id=9, notify_failure=True, notification_channels=[mails]), id=36)
    await eventually(lambda: len(mail_server.received) == 2)
    hook_server.go_on.set()
    await eventually(lambda: sent(database) == 4)


async def test_two_replicas_post_each_message_once(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
) -> None:
    channel_ids = [add_channel(hook_server.url(f"/{number}")) for number in range(3)]
    schedule = add_schedule(notify_failure=True, notification_channels=channel_ids)
    other = Database(hook_settings)
    other_bus = Bus(other)
    await other_bus.start()
    try:
        first = await running(hook_settings)
        second = await running(hook_settings, on=other, over=other_bus)
        for number in range(20):
            end(*((database, first) if number % 2 else (other, second)), schedule, id=100 + number)
        await eventually(lambda: sent(database) == 60)
        await second.stop()
    finally:
        await other_bus.stop()
        other.close()

    ids = [posted.body["delivery_id"] for posted in hook_server.posted]
    assert len(ids) == len(set(ids)) == 60
    assert {row.attempts for row in rows(database)} == {1}


async def test_a_stop_lets_the_post_under_way_be_marked(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
) -> None:
    hook_server.holds = True
    schedule = add_schedule(notify_failure=True, notification_channels=[add_channel(hook_server.url())])
    notifications = await running(hook_settings)
    for number in range(3):
        end(database, notifications, schedule, id=100 + number)
    await eventually(lambda: hook_server.posted)

    stopping = asyncio.create_task(notifications.stop())
    await asyncio.sleep(0)
    hook_server.go_on.set()
    await stopping

    assert sent(database) == len(hook_server.posted) == 1
    assert [row.attempts for row in rows(database)] == [1, 0, 0]


async def test_a_webhook_to_this_machine_is_refused_where_a_team_shares_the_service(
    database: Database,
    hook_server: HookServer,
    settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
) -> None:
    assert not settings.addresses_may_be_private
    assert settings.model_copy(update={"embedded": True}).addresses_may_be_private
    assert not settings.model_copy(
        update={"embedded": True, "webhook_private_addresses": False}
    ).addresses_may_be_private
    notifications = await running(settings)

    channel = add_channel(hook_server.url(f"/{SECRET}"))
    end(database, notifications, add_schedule(notify_failure=True, notification_channels=[channel]))
    await eventually(lambda: rows(database)[0].last_error)

    (row,) = rows(database)
    assert "SVC_WEBHOOK_PRIVATE_ADDRESSES" in row.last_error
    assert row.next_attempt_at is None
    assert hook_server.posted == []


async def test_a_url_that_cannot_be_opened_waits_for_its_key(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    channel = add_channel(hook_server.url())
    key_file = hook_settings.data_dir / "secret.key"
    key = key_file.read_bytes()
    key_file.unlink()
    SecretBox(key_file).seal("a key of its own")
    notifications = Notifications(hook_settings, database, bus, SecretBox(key_file), clock)
    await notifications.start()
    try:
        end(database, notifications, add_schedule(notify_failure=True, notification_channels=[channel]))
        await eventually(lambda: rows(database)[0].last_error)
    finally:
        await notifications.stop()
    assert "secret.key" in rows(database)[0].last_error

    key_file.write_bytes(key)
    clock.now += 60
    await running(hook_settings)
    await eventually(lambda: sent(database) == 1)


async def test_without_a_mail_server_the_log_of_the_command_says_so_and_webhooks_go_on(
    database: Database,
    hook_server: HookServer,
    hook_settings: Settings,
    add_channel: AddChannel,
    add_schedule: AddSchedule,
    ended_command: Callable[..., dict[str, Any]],
    running: Running,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    notifications = await running(hook_settings)
    schedule = add_schedule(
        can_notify=True, notify_failure=True, notification_channels=[add_channel(hook_server.url())]
    )
    command = ended_command(id=17)
    folder = command_root(hook_settings.commands_dir, command["id"], command["folder_key"])
    folder.mkdir(parents=True)

    with capture_logs() as logs:
        end(database, notifications, schedule)
        end(database, notifications, schedule, id=34, status="not_found", command_id=None)
        await eventually(lambda: sent(database) == 2)

    assert {row.medium for row in rows(database)} == {"webhook"}
    assert (folder / "log").read_text() == f"{NO_SERVER}\n"
    assert [entry["event"] for entry in logs if entry["log_level"] == "warning"] == ["notifications_off"]
