import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from structlog.testing import capture_logs
from tests.service.notifications.clocks import NOON, Clock, eventually
from tests.service.notifications.mail_server import PASSWORD, USER, MailServer

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.commands.rows import CommandRow, command_root
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.due_work import NOTIFY
from svc_jupyter.service.notifications.notifications import NO_SERVER, Notifications
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.notifications import outbox as table

Command = dict[str, Any]
EndedCommand = Callable[..., Command]
MailSettings = Callable[..., Settings]
Running = Callable[..., Awaitable[Notifications]]


def tell(database: Database, notifications: Notifications, command: Command) -> None:
    """Do what ends a command does."""
    with database.begin() as connection:
        notifications.on_command_end(connection, CommandRow(**command))


def rows(database: Database) -> list[Any]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(table).order_by(table.c.id)))


def sent(database: Database) -> int:
    return sum(row.sent_at is not None for row in rows(database))


async def test_a_user_is_told_of_the_end_of_a_command(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    settings = mail_settings(public_url="https://svc.example.org", smtp_sender="Data <data@example.org>")
    notifications = await running(settings)
    command = ended_command(name="Daily sales", status="error", message="exit code 7")

    tell(database, notifications, command)
    await eventually(lambda: sent(database) == 1)

    (received,) = mail_server.received
    assert (received.sender, received.recipients) == ("data@example.org", ["ada@example.org"])
    assert received.message["To"] == "ada@example.org"
    assert received.message["Subject"] == f"[svc-jupyter] Daily sales failed (command {command['id']})"
    text, html = received.message.get_body(("plain",)), received.message.get_body(("html",))
    assert text is not None
    assert html is not None
    for body in (text.get_content(), html.get_content()):
        assert "exit code 7" in body
        assert f"https://svc.example.org/api/v1.2/commands/{command['id']}/logs" in body


async def test_the_channels_of_a_pipeline_are_told_of_a_run_that_failed(
    database: Database,
    account_id: int,
    user_id: int,
    ended_command: EndedCommand,
    add_channel: Callable[..., int],
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    notifications = await running(mail_settings(public_url="https://svc.example.org"))
    command = ended_command(command_type="SparkCommand", status="error", message="the source of query n is gone")
    channels = [add_channel("grace@example.org, kay@example.org")]
    pipeline = {"id": 5, "name": "Orders", "account_id": account_id, "user_id": user_id}

    with database.begin() as connection:
        notifications.on_pipeline_failure(connection, {**pipeline, "notification_channels": channels}, command)
    await eventually(lambda: sent(database) == 2)

    assert sorted(received.recipients[0] for received in mail_server.received) == [
        "grace@example.org",
        "kay@example.org",
    ]
    message = mail_server.received[0].message
    assert message["Subject"] == f"[svc-jupyter] Pipeline Orders failed (command {command['id']})"
    text = message.get_body(("plain",))
    assert text is not None
    for part in (
        "the source of query n is gone",
        "%svc_pipeline start 5",
        "https://svc.example.org/api/v1.2/pipelines/5",
    ):
        assert part in text.get_content()


@pytest.mark.usefixtures("trusted")
async def test_a_user_is_reported_over_an_encrypted_connection_with_login(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    server_context: ssl.SSLContext,
) -> None:
    await mail_server.start(tls="starttls", context=server_context, login=True)
    settings = mail_settings(smtp_security="starttls", smtp_user=USER, smtp_password=SecretStr(PASSWORD))
    notifications = await running(settings)

    tell(database, notifications, ended_command())
    await eventually(lambda: sent(database) == 1)

    assert len(mail_server.received) == 1


async def test_only_who_asked_for_it_is_reported(
    database: Database,
    ended_command: EndedCommand,
    mail_settings: MailSettings,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    notifications = Notifications(mail_settings(), database, bus, secrets, clock)

    tell(database, notifications, ended_command(can_notify=False))

    assert rows(database) == []


async def test_a_command_is_told_of_once_and_to_no_disabled_user(
    database: Database,
    ended_command: EndedCommand,
    mail_settings: MailSettings,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    notifications = Notifications(mail_settings(), database, bus, secrets, clock)
    first, second = ended_command(), ended_command()

    tell(database, notifications, first)
    tell(database, notifications, first)
    with database.begin() as connection:
        connection.execute(sa.update(users).where(users.c.id == first["user_id"]).values(enabled=False))
    tell(database, notifications, second)

    assert [(row.event, row.recipient) for row in rows(database)] == [(f"command:{first['id']}", "ada@example.org")]


async def test_a_command_whose_end_is_rolled_back_is_not_reported(
    database: Database,
    ended_command: EndedCommand,
    mail_settings: MailSettings,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    notifications = Notifications(mail_settings(), database, bus, secrets, clock)
    command = ended_command()

    with database.begin() as connection, connection.begin_nested() as savepoint:
        notifications.on_command_end(connection, CommandRow(**command))
        savepoint.rollback()

    assert rows(database) == []


async def test_without_a_mail_server_the_logs_say_so_and_nothing_waits(
    database: Database, ended_command: EndedCommand, mail_settings: MailSettings, running: Running
) -> None:
    settings = mail_settings(smtp_host=None)
    notifications = await running(settings)
    first, second = ended_command(), ended_command()
    for command in (first, second):
        command_root(settings.commands_dir, command["id"], command["folder_key"]).mkdir(parents=True)

    with capture_logs() as logs:
        tell(database, notifications, first)
        tell(database, notifications, second)

    assert rows(database) == []
    assert [entry["event"] for entry in logs] == ["notifications_off"]
    for command in (first, second):
        log = command_root(settings.commands_dir, command["id"], command["folder_key"]) / "log"
        assert log.read_text() == f"{NO_SERVER}\n"


async def test_without_a_mail_server_a_command_without_a_folder_ends_too(
    database: Database, ended_command: EndedCommand, mail_settings: MailSettings, running: Running
) -> None:
    settings = mail_settings(smtp_host="")
    notifications = await running(settings)
    command = ended_command(status="cancelled", start_time=None)

    tell(database, notifications, command)

    assert not command_root(settings.commands_dir, command["id"], command["folder_key"]).exists()


@pytest.mark.usefixtures("trusted")
async def test_a_wrong_login_is_tried_again_and_never_reported(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    server_context: ssl.SSLContext,
    clock: Clock,
) -> None:
    await mail_server.start(tls="starttls", context=server_context, login=True)
    settings = mail_settings(smtp_security="starttls", smtp_user=USER, smtp_password=SecretStr("wrong-horse"))
    with capture_logs() as logs:
        notifications = await running(settings)
        tell(database, notifications, ended_command())
        await eventually(lambda: rows(database)[0].last_error)
        await notifications.stop()

    (row,) = rows(database)
    assert (row.attempts, row.sent_at, row.next_attempt_at) == (1, None, NOON + 60)
    assert "refused 'svc' to log in" in row.last_error
    assert [entry["event"] for entry in logs] == ["notification_failed"]
    assert "wrong-horse" not in row.last_error + str(logs)

    clock.now += 60
    await running(settings.model_copy(update={"smtp_password": SecretStr(PASSWORD)}))
    await eventually(lambda: sent(database) == 1)

    (row,) = rows(database)
    assert (row.attempts, row.last_error) == (2, None)


async def test_a_server_that_was_down_gets_its_message_once_when_it_is_back(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    await mail_server.start()
    await mail_server.stop()
    notifications = await running(mail_settings())
    tell(database, notifications, ended_command())
    await eventually(lambda: rows(database)[0].last_error)
    assert "cannot be reached" in rows(database)[0].last_error

    await mail_server.start()
    bus.announce(NOTIFY)  # before its time nothing happens
    clock.now += 60
    bus.announce(NOTIFY)
    await eventually(lambda: sent(database) == 1)
    clock.now += 86_400
    tell(database, notifications, ended_command(name="second"))
    await eventually(lambda: sent(database) == 2)

    assert len(mail_server.received) == 2
    assert rows(database)[0].attempts == 2


async def test_messages_wait_together_for_a_server_that_is_down(
    database: Database,
    ended_command: EndedCommand,
    mail_settings: MailSettings,
    running: Running,
    silent_port: int,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    settings = mail_settings(smtp_port=silent_port, smtp_timeout_seconds=0.5)
    notifications = Notifications(settings, database, bus, secrets, clock)
    for _ in range(20):
        tell(database, notifications, ended_command())

    await running(settings)
    await eventually(lambda: all(row.last_error for row in rows(database)))

    assert {(row.attempts, row.next_attempt_at) for row in rows(database)} == {(1, NOON + 60)}
    assert len({row.last_error for row in rows(database)}) == 1


async def test_a_round_of_failures_that_takes_long_ends_and_the_server_is_asked_again(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    bus: Bus,
    secrets: SecretBox,
) -> None:
    await mail_server.start()
    await mail_server.stop()
    now = NOON

    def hurried_clock() -> float:
        nonlocal now
        now += 100
        return now

    notifications = Notifications(mail_settings(), database, bus, secrets, hurried_clock)
    for _ in range(3):
        tell(database, notifications, ended_command())
    await notifications.start()
    try:
        await eventually(lambda: all(row.last_error for row in rows(database)))
        await mail_server.start()
        await eventually(lambda: sent(database) == 3)
    finally:
        await notifications.stop()

    assert len(mail_server.received) == 3


async def test_a_message_is_given_up_after_a_day(
    database: Database,
    ended_command: EndedCommand,
    mail_settings: MailSettings,
    running: Running,
    free_port: int,
    bus: Bus,
    clock: Clock,
) -> None:
    settings = mail_settings(smtp_port=free_port)
    with capture_logs() as logs:
        notifications = await running(settings)
        tell(database, notifications, ended_command())
        while True:
            await eventually(lambda: rows(database)[0].last_error and not is_claimed(rows(database)[0], clock))
            (row,) = rows(database)
            if row.next_attempt_at is None:
                break
            clock.now = row.next_attempt_at
            bus.announce(NOTIFY)

    assert NOON + 22 * 3600 < clock.now <= NOON + 24 * 3600
    assert "cannot be reached" in row.last_error
    assert [entry["event"] for entry in logs].count("notification_given_up") == 1
    assert logs[-1]["event"] == "notification_given_up"


def is_claimed(row: Any, clock: Clock) -> bool:
    """Whether an attempt is under way, or about to be."""
    due: float | None = row.next_attempt_at
    return due is not None and (due <= clock.now or due - clock.now == 10 * 30 + 60)


async def test_an_unknown_recipient_is_not_tried_again(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    mail_server.answers["RCPT"] = ["550 5.1.1 No such mailbox"]
    notifications = await running(mail_settings())

    tell(database, notifications, ended_command())
    await eventually(lambda: rows(database)[0].last_error)

    (row,) = rows(database)
    assert (row.attempts, row.next_attempt_at, row.sent_at) == (1, None, None)
    assert "550 5.1.1 No such mailbox" in row.last_error


async def test_two_replicas_send_each_message_once(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    await mail_server.start()
    settings = mail_settings()
    other = Database(settings)
    other_bus = Bus(other)
    await other_bus.start()
    try:
        first = await running(settings)
        second = await running(settings, on=other, over=other_bus)
        for number in range(20):
            command = ended_command()
            tell(*((database, first) if number % 2 else (other, second)), command)
        await eventually(lambda: sent(database) == 20)
        await second.stop()
    finally:
        await other_bus.stop()
        other.close()

    ids = [received.message["Message-ID"] for received in mail_server.received]
    assert len(ids) == len(set(ids)) == 20
    assert {row.attempts for row in rows(database)} == {1}


async def test_a_notification_left_by_a_service_is_sent_by_the_next_service(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    await mail_server.start()
    settings = mail_settings()
    tell(database, Notifications(settings, database, bus, secrets, clock), ended_command())

    await running(settings)
    await eventually(lambda: sent(database) == 1)

    assert len(mail_server.received) == 1


async def test_after_a_crash_before_the_mark_the_same_message_is_sent_again_under_its_id(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    bus: Bus,
    clock: Clock,
) -> None:
    await mail_server.start()
    settings = mail_settings()
    notifications = await running(settings)
    tell(database, notifications, ended_command())
    await eventually(lambda: sent(database) == 1)
    await notifications.stop()
    with database.begin() as connection:  # as a crash would have left it
        connection.execute(sa.update(table).values(sent_at=None, next_attempt_at=clock.now + 60))

    clock.now += 60
    await running(settings)
    await eventually(lambda: sent(database) == 1)

    first, again = (received.message for received in mail_server.received)
    assert first["Message-ID"] == again["Message-ID"]
    assert first["Date"] == again["Date"]


async def test_a_sent_notification_is_marked_as_sent_after_a_database_outage(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("svc_jupyter.service.notifications.due_work.RETRY_SECONDS", 0.01)
    write, refused = database.write, 0

    async def write_or_refuse(work: Callable[[sa.Connection], Any]) -> Any:
        nonlocal refused
        if mail_server.received and refused < 5:
            refused += 1
            raise Unavailable("the service's database is away")
        return await write(work)

    monkeypatch.setattr(database, "write", write_or_refuse)
    await mail_server.start()
    notifications = await running(mail_settings())

    tell(database, notifications, ended_command())
    await eventually(lambda: sent(database) == 1)

    assert refused == 5
    assert len(mail_server.received) == 1
    assert rows(database)[0].attempts == 1


async def test_a_claim_outlasts_the_longest_attempt(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    mail_server.silent_at = "DATA"
    settings = mail_settings(smtp_timeout_seconds=7)
    notifications = await running(settings)

    tell(database, notifications, ended_command())
    await eventually(lambda: mail_server.is_silent)

    (row,) = rows(database)
    assert row.next_attempt_at == NOON + 10 * 7 + 60
    with database.begin() as connection:
        assert outbox.claim(connection, ChannelType.EMAIL, due_by=NOON + 10 * 7, until=NOON + 1000) is None
    await mail_server.break_off()


async def test_a_silent_server_holds_up_no_command_and_no_stop(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("svc_jupyter.service.notifications.due_work._STOP_SECONDS", 0.1)
    await mail_server.start()
    mail_server.silent_at = "DATA"
    notifications = await running(mail_settings(smtp_timeout_seconds=600))
    tell(database, notifications, ended_command())
    await eventually(lambda: mail_server.is_silent)

    await asyncio.to_thread(tell, database, notifications, ended_command())
    async with asyncio.timeout(20):
        await notifications.stop()

    assert [row.sent_at for row in rows(database)] == [None, None]
    assert [row.attempts for row in rows(database)] == [1, 0]


async def test_a_stop_lets_the_message_under_way_be_marked(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    mail_server.holds_at = "DATA"
    notifications = await running(mail_settings())
    for _ in range(3):
        tell(database, notifications, ended_command())
    await eventually(lambda: mail_server.is_silent)

    stopping = asyncio.create_task(notifications.stop())
    await asyncio.sleep(0)
    mail_server.go_on.set()
    await stopping

    assert [row.attempts for row in rows(database)] == [1, 0, 0]
    assert sent(database) == len(mail_server.received) == 1


async def test_hostile_texts_arrive_as_text(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
) -> None:
    await mail_server.start()
    notifications = await running(mail_settings())
    hostile = "x\r\nBcc: someone@example.org\r\n\r\n<script>alert('x')</script>\r\n.\r\nQUIT"

    tell(database, notifications, ended_command(name=hostile[:200], status="error", message=hostile, tags="[a\nb]"))
    await eventually(lambda: sent(database) == 1)

    (received,) = mail_server.received
    assert received.recipients == ["ada@example.org"]
    assert received.message["Bcc"] is None
    html = received.message.get_body(("html",))
    assert html is not None
    assert "<script" not in html.get_content()
    assert "&lt;script&gt;" in html.get_content()
    text = received.message.get_body(("plain",))
    assert text is not None
    assert text.get_content().splitlines().count("    QUIT") == 1


async def test_a_message_that_cannot_be_written_does_not_hold_up_the_others(
    database: Database,
    ended_command: EndedCommand,
    mail_server: MailServer,
    mail_settings: MailSettings,
    running: Running,
    bus: Bus,
    secrets: SecretBox,
    clock: Clock,
) -> None:
    await mail_server.start()
    settings = mail_settings()
    notifications = Notifications(settings, database, bus, secrets, clock)
    for status in ("bewitched", "done"):
        tell(database, notifications, ended_command(status=status))

    with capture_logs() as logs:
        await running(settings)
        await eventually(lambda: sent(database) == 1)

    broken, fine = rows(database)
    assert (broken.sent_at, broken.next_attempt_at) == (None, NOON + 60)
    assert "error of the service" in broken.last_error
    assert fine.sent_at == NOON
    assert "notification_broken" in [entry["event"] for entry in logs]
