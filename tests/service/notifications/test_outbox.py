from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from tests.service.notifications.clocks import NOON

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.audience import Recipient
from svc_jupyter.service.notifications.events import Event
from svc_jupyter.service.notifications.outbox import QueuedMessage, next_attempt_at
from svc_jupyter.service.schema.notifications import outbox as table

DAY = 24 * 3600
EMAIL, WEBHOOK = ChannelType.EMAIL, ChannelType.WEBHOOK
ADA = Recipient(EMAIL, "ada@example.org")
HOOK = Recipient(WEBHOOK, "7")


def put(database: Database, key: str = "command:12", *recipients: Recipient, now: float = NOON) -> set[ChannelType]:
    """Put messages about an event into the outbox."""
    event = Event(key, {"kind": "command", "name": key})
    with database.begin() as connection:
        return outbox.put(connection, event, recipients or [ADA], now=now)


def claim(
    database: Database, now: float, until: float, medium: ChannelType = EMAIL, *apart_from: str
) -> QueuedMessage | None:
    with database.begin() as connection:
        return outbox.claim(connection, medium, due_by=now, until=until, apart_from=apart_from)


def only_row(database: Database) -> Any:
    with database.connect() as connection:
        return connection.execute(sa.select(table)).one()


def test_attempts_come_after_one_minute_then_twice_as_long_up_to_an_hour() -> None:
    delays = [next_attempt_at(created_at=NOON, attempt=attempt, now=NOON) for attempt in range(1, 10)]

    assert [0 if moment is None else moment - NOON for moment in delays] == [
        60,
        120,
        240,
        480,
        960,
        1920,
        3600,
        3600,
        3600,
    ]


@given(st.floats(0, 3600))
def test_a_message_that_always_fails_is_given_up_within_a_day(attempt_seconds: float) -> None:
    now, attempt, tried = NOON, 1, 0
    while (again := next_attempt_at(created_at=NOON, attempt=attempt, now=now)) is not None:
        assert now < again <= NOON + DAY
        now, attempt, tried = again + attempt_seconds, attempt + 1, tried + 1
    assert 10 < tried < 40


def test_an_old_message_is_given_up_after_its_first_attempt() -> None:
    assert next_attempt_at(created_at=NOON, attempt=1, now=NOON + DAY) is None


@given(retry_after=st.floats(0, 30 * 3600), attempt=st.integers(1, 20))
def test_nobody_is_asked_again_before_they_wished(retry_after: float, attempt: int) -> None:
    plain = next_attempt_at(created_at=NOON, attempt=attempt, now=NOON)
    again = next_attempt_at(created_at=NOON, attempt=attempt, now=NOON, retry_after=retry_after)

    assert plain is not None
    assert again == (None if retry_after > DAY else max(plain, NOON + retry_after))


@pytest.mark.both_databases
def test_a_message_keeps_what_it_shows(database: Database) -> None:
    assert put(database) == {EMAIL}

    queued = claim(database, NOON, NOON + 60)
    assert queued is not None
    assert (queued.recipient, queued.event, queued.created_at) == ("ada@example.org", "command:12", NOON)
    assert queued.content == {"kind": "command", "name": "command:12"}


@pytest.mark.both_databases
def test_each_recipient_is_told_of_an_event_once(database: Database) -> None:
    grace = Recipient(EMAIL, "grace@example.org")

    assert put(database) == {EMAIL}
    assert put(database) == set()
    assert put(database, "command:12", ADA, grace, HOOK) == {EMAIL, WEBHOOK}
    assert put(database, "command:13") == {EMAIL}

    with database.connect() as connection:
        told = connection.execute(sa.select(table.c.event, table.c.recipient).order_by(table.c.id)).all()
        assert outbox.has_message(connection, "command:13")
        assert not outbox.has_message(connection, "command:1")
    assert [tuple(row) for row in told] == [
        ("command:12", "ada@example.org"),
        ("command:12", "grace@example.org"),
        ("command:12", "7"),
        ("command:13", "ada@example.org"),
    ]


def test_a_settled_entry_is_deleted_after_a_month(database: Database) -> None:
    for key in ("command:1", "command:2", "command:3"):
        put(database, key)
    with database.begin() as connection:
        settled = sa.update(table).where(table.c.event != "command:3")
        connection.execute(settled.values(next_attempt_at=None))
        connection.execute(sa.update(table).where(table.c.event == "command:2").values(created_at=NOON + DAY))
        outbox.forget_old(connection, now=NOON + 30 * DAY + 1)

    with database.connect() as connection:
        left = connection.execute(sa.select(table.c.event).order_by(table.c.id)).scalars().all()
    assert left == ["command:2", "command:3"]


def test_nobody_to_show_is_no_error(database: Database) -> None:
    with database.begin() as connection:
        assert outbox.put(connection, Event("command:12", {}), [], now=NOON) == set()


def test_each_medium_has_its_own_messages(database: Database) -> None:
    put(database, "action:1", ADA, HOOK)

    mail, posted = claim(database, NOON, NOON + 60), claim(database, NOON, NOON + 60, WEBHOOK)

    assert mail is not None
    assert posted is not None
    assert (mail.recipient, posted.recipient) == (ADA.address, HOOK.address)
    assert mail.delivery_id != posted.delivery_id
    assert claim(database, NOON, NOON + 60) is None


def test_who_is_left_alone_does_not_hold_up_the_others(database: Database) -> None:
    put(database, "action:1", HOOK)
    put(database, "action:1", Recipient(WEBHOOK, "8"), now=NOON + 1)

    queued = claim(database, NOON + 2, NOON + 60, WEBHOOK, "7")

    assert queued is not None
    assert queued.recipient == "8"
    with database.connect() as connection:
        assert outbox.next_time(connection, WEBHOOK, apart_from=["8"]) == NOON
        assert outbox.next_time(connection, WEBHOOK, apart_from=["7", "8"]) is None


def test_nothing_is_claimed_before_it_is_due(database: Database) -> None:
    put(database)

    assert claim(database, NOON - 1, NOON + 60) is None
    with database.connect() as connection:
        assert outbox.next_time(connection, EMAIL) == NOON


@pytest.mark.both_databases
def test_the_message_due_for_longest_comes_first(database: Database) -> None:
    put(database, "command:1", now=NOON + 10)
    put(database, "command:2", now=NOON)

    claimed = [claim(database, NOON + 20, NOON + 60) for _ in range(2)]

    assert [queued.event for queued in claimed if queued] == ["command:2", "command:1"]


@pytest.mark.both_databases
def test_a_claimed_message_is_left_alone_until_the_claim_ends(database: Database) -> None:
    put(database)
    first = claim(database, NOON, NOON + 60)

    assert claim(database, NOON + 59, NOON + 119) is None
    again = claim(database, NOON + 60, NOON + 120)

    assert first is not None
    assert again is not None
    assert (first.attempt, again.attempt) == (1, 2)
    assert first.delivery_id == again.delivery_id


def test_a_sent_message_is_never_due_again(database: Database) -> None:
    put(database)
    queued = claim(database, NOON, NOON + 60)
    assert queued is not None

    with database.begin() as connection:
        outbox.mark_sent(connection, queued, now=NOON + 1)

    assert claim(database, NOON + DAY, NOON + 2 * DAY) is None
    row = only_row(database)
    assert (row.sent_at, row.last_error) == (NOON + 1, None)


def test_a_given_up_message_keeps_its_last_error(database: Database) -> None:
    put(database)
    queued = claim(database, NOON, NOON + 60)
    assert queued is not None

    with database.begin() as connection:
        outbox.mark_failed(connection, queued, reason="r" * 5000, again_at=None)

    assert claim(database, NOON + DAY, NOON + 2 * DAY) is None
    row = only_row(database)
    assert row.last_error == "r" * 1000
    assert row.sent_at is None


def test_the_failure_of_an_outlived_claim_does_not_disturb_the_next(database: Database) -> None:
    put(database)
    slow = claim(database, NOON, NOON + 60)
    assert slow is not None
    assert claim(database, NOON + 60, NOON + 120) is not None

    with database.begin() as connection:
        outbox.mark_failed(connection, slow, reason="too slow", again_at=NOON + 61)

    row = only_row(database)
    assert (row.next_attempt_at, row.last_error) == (NOON + 120, None)


def test_the_success_of_an_outlived_claim_counts(database: Database) -> None:
    put(database)
    slow = claim(database, NOON, NOON + 60)
    retry = claim(database, NOON + 60, NOON + 120)
    assert slow is not None
    assert retry is not None

    with database.begin() as connection:
        outbox.mark_sent(connection, slow, now=NOON + 61)
        outbox.mark_failed(connection, retry, reason="server down", again_at=NOON + 200)

    row = only_row(database)
    assert (row.sent_at, row.next_attempt_at) == (NOON + 61, None)
