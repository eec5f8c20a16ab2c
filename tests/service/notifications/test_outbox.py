from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from tests.service.notifications.clocks import NOON

from svc_jupyter.service.access.tables import users
from svc_jupyter.service.database import Database
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.outbox import Letter, next_attempt_at
from svc_jupyter.service.notifications.tables import outbox as table

DAY = 24 * 3600
Command = dict[str, Any]


@pytest.fixture
def put(database: Database) -> Callable[..., bool]:
    """Puts a message about a command into the outbox."""

    def put(command: Command, now: float = NOON) -> bool:
        with database.begin() as connection:
            return outbox.put(connection, command_id=command["id"], user_id=command["user_id"], now=now)

    return put


def claim(database: Database, now: float, until: float) -> Letter | None:
    with database.begin() as connection:
        return outbox.claim(connection, due_by=now, until=until)


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


def test_a_message_goes_to_the_address_of_the_commands_user(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    command = ended_command(name="Daily sales")

    assert put(command)

    letter = claim(database, NOON, NOON + 60)
    assert letter is not None
    assert (letter.recipient, letter.command_id, letter.created_at) == ("ada@example.org", command["id"], NOON)
    assert letter.command["name"] == "Daily sales"


def test_a_command_is_told_of_once(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    command = ended_command()

    assert put(command)
    assert not put(command)

    assert only_row(database).attempts == 0


def test_a_disabled_user_is_told_nothing(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    command = ended_command()
    with database.begin() as connection:
        connection.execute(sa.update(users).where(users.c.id == command["user_id"]).values(enabled=False))

    assert not put(command)

    assert claim(database, NOON, NOON + 60) is None


def test_nothing_is_claimed_before_it_is_due(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command(), now=NOON)

    assert claim(database, NOON - 1, NOON + 60) is None
    with database.connect() as connection:
        assert outbox.next_time(connection) == NOON


def test_the_message_due_for_longest_comes_first(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    late, early = ended_command(), ended_command()
    put(late, now=NOON + 10)
    put(early, now=NOON)

    claimed = [claim(database, NOON + 20, NOON + 60) for _ in range(2)]

    assert [letter.command_id for letter in claimed if letter] == [early["id"], late["id"]]


def test_a_claimed_message_is_left_alone_until_the_claim_ends(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command())
    first = claim(database, NOON, NOON + 60)

    assert claim(database, NOON + 59, NOON + 119) is None
    again = claim(database, NOON + 60, NOON + 120)

    assert first is not None
    assert again is not None
    assert (first.attempt, again.attempt) == (1, 2)
    assert (first.id, first.created_at) == (again.id, again.created_at)


def test_a_sent_message_is_never_due_again(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command())
    letter = claim(database, NOON, NOON + 60)
    assert letter is not None

    with database.begin() as connection:
        outbox.mark_sent(connection, letter, now=NOON + 1)

    assert claim(database, NOON + DAY, NOON + 2 * DAY) is None
    row = only_row(database)
    assert (row.sent_at, row.last_error) == (NOON + 1, None)


def test_a_given_up_message_keeps_its_last_error(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command())
    letter = claim(database, NOON, NOON + 60)
    assert letter is not None

    with database.begin() as connection:
        outbox.mark_failed(connection, letter, reason="r" * 5000, again_at=None)

    assert claim(database, NOON + DAY, NOON + 2 * DAY) is None
    row = only_row(database)
    assert row.last_error == "r" * 1000
    assert row.sent_at is None


def test_the_failure_of_an_outlived_claim_does_not_disturb_the_next(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command())
    slow = claim(database, NOON, NOON + 60)
    assert slow is not None
    assert claim(database, NOON + 60, NOON + 120) is not None

    with database.begin() as connection:
        outbox.mark_failed(connection, slow, reason="too slow", again_at=NOON + 61)

    row = only_row(database)
    assert (row.next_attempt_at, row.last_error) == (NOON + 120, None)


def test_the_success_of_an_outlived_claim_counts(
    database: Database, ended_command: Callable[..., Command], put: Callable[..., bool]
) -> None:
    put(ended_command())
    slow = claim(database, NOON, NOON + 60)
    retry = claim(database, NOON + 60, NOON + 120)
    assert slow is not None
    assert retry is not None

    with database.begin() as connection:
        outbox.mark_sent(connection, slow, now=NOON + 61)
        outbox.mark_failed(connection, retry, reason="server down", again_at=NOON + 200)

    row = only_row(database)
    assert (row.sent_at, row.next_attempt_at) == (NOON + 61, None)
