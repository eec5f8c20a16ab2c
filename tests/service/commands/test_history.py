"""Filters of the command history: those that look into a text on each database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.commands.conftest import AddCommand

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.history import HistoryFilter, history_query, split_list
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import parse_day, parse_end
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schema.access import accounts, users

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Listed = Callable[..., list[int]]


@pytest.fixture
def add(add_command: AddCommand) -> AddCommand:
    """Adds a command that was created just now."""
    return lambda **values: add_command(**{"created_at": NOW.timestamp() - 60, **values})


@pytest.fixture
def listed(database: Database, caller: Caller) -> Listed:
    def listed(**wanted: Any) -> list[int]:
        with database.connect() as connection:
            query = history_query(caller, HistoryFilter(**{"now": NOW, **wanted}))
            return [row["id"] for row in connection.execute(query).mappings()]

    return listed


def test_the_newest_comes_first(add: AddCommand, listed: Listed):
    ids = [add() for _ in range(3)]
    assert listed() == ids[::-1]


def test_the_last_thirty_days_are_listed_unless_others_are_asked_for(add: AddCommand, listed: Listed):
    def at(days: float) -> int:
        return add(created_at=(NOW - timedelta(days=days)).timestamp())

    old, middle, new = at(31), at(29), at(1)
    assert listed() == [new, middle]
    assert listed(start=NOW - timedelta(days=60)) == [new, middle, old]
    assert listed(end=NOW - timedelta(days=2)) == [middle, old]
    assert listed(end=NOW - timedelta(days=30), start=NOW - timedelta(days=40)) == [old]
    assert listed(start=NOW) == []


def test_others_commands_are_listed_on_request_and_those_of_another_account_never(
    add: AddCommand, listed: Listed, database: Database, caller: Caller
):
    with database.begin() as connection:
        connection.execute(sa.insert(accounts).values(id=2, name="other", features={}))
        there = sa.insert(users).values(name="x", enabled=True, created_at=0).returning(users.c.id)
        colleague = connection.execute(there.values(account_id=caller.account_id, email="c@x")).scalar_one()
        stranger = connection.execute(there.values(account_id=2, email="s@x")).scalar_one()
    mine, theirs = add(), add(user_id=colleague)
    add(user_id=stranger, account_id=2)
    assert listed() == [mine]
    assert listed(all_users=True) == [theirs, mine]


def test_by_status(add: AddCommand, listed: Listed):
    ids = {name: add(status=name) for name in ("waiting", "running", "done", "error", "cancelled")}
    found = {
        "waiting": "waiting", "done": "done", "success": "done", "failed": "error", "ERROR": "error",
        "cancelled": "cancelled", "running": "running",
    }  # fmt: skip
    assert {wanted: listed(status=wanted) for wanted in found} == {
        wanted: [ids[status]] for wanted, status in found.items()
    }


def test_by_type_and_source(add: AddCommand, listed: Listed):
    shell, query = add(), add(command_type="DbTapQueryCommand", command_source="UI")
    assert listed(command_types=("ShellCommand",)) == [shell]
    assert listed(command_types=("ShellCommand", "DbTapQueryCommand")) == [query, shell]
    assert listed(sources=("ui",)) == [query]
    assert listed(sources=("API", "SCHEDULED")) == [shell]


@pytest.mark.both_databases
def test_search_finds_in_names_texts_tags_and_ids(add: AddCommand, listed: Listed):
    named, tagged = add(name="Daily Sales"), add(tags="[sales-2026,etl]")
    texts = add(command={"inline": 'echo "Größe" > SALES_100%.csv'})
    other = add(name="other")
    assert listed(search="sales") == [texts, tagged, named]
    assert listed(search='"Größe" > sales_100%') == [texts]
    assert listed(search=str(other)) == [other]
    assert listed(search="no such text") == []


@pytest.mark.both_databases
def test_by_a_part_of_the_name(add: AddCommand, listed: Listed):
    daily, percent, _ = add(name="daily sales"), add(name="100%_a"), add()
    assert listed(name="ly sa") == [daily]
    assert listed(name="%_") == [percent]
    assert listed(name="%") == [percent]


@pytest.mark.both_databases
def test_by_tags_all_of_which_must_be_there(add: AddCommand, listed: Listed):
    both, one, _ = add(tags="[daily,sales]"), add(tags="[daily]"), add(tags="[dailyx]")
    assert listed(tags=("daily",)) == [one, both]
    assert listed(tags=("sales", "daily")) == [both]
    assert listed(tags=("dail",)) == []
    assert listed(tags=("d%y",)) == []


def test_by_label(add: AddCommand, listed: Listed):
    labelled, _ = add(label="default"), add()
    assert listed(label="default") == [labelled]


def test_an_unknown_value_is_reported_with_its_key():
    def refusal(**wanted: Any) -> str:
        with pytest.raises(Invalid) as refused:
            history_query(Caller(1, 1, "a@b", frozenset(), 1), HistoryFilter(now=NOW, **wanted))
        return refused.value.message

    statuses = "waiting, running, done, error, cancelled, success, failed"
    assert refusal(status="fine") == f"status: 'fine' is unknown; it must be one of {statuses}"
    types = "command_type: 'Shell' is unknown; it must be one of ShellCommand, PigCommand, "
    assert refusal(command_types=("Shell",)).startswith(types)
    sources = "command_source: 'PHONE' is unknown; it must be one of API, UI, SCHEDULED"
    assert refusal(sources=("phone",)) == sources


DAYS = {
    "2026-11-21": datetime(2026, 11, 21, tzinfo=UTC),
    "2026-11-21T09:30:00Z": datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
    "2026-11-21 09:30": datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
    "2026-11-21T09:30:00+02:00": datetime(2026, 11, 21, 7, 30, tzinfo=UTC),
}


def test_days_and_times_of_a_filter():
    assert {text: parse_day(text, "start_date") for text in DAYS} == DAYS


ENDS = {
    "2026-11-21": datetime(2026, 11, 22, tzinfo=UTC),
    "20261121": datetime(2026, 11, 22, tzinfo=UTC),
    "2026-12-31": datetime(2027, 1, 1, tzinfo=UTC),
    "2026-11-21T00:00:00Z": datetime(2026, 11, 21, tzinfo=UTC),
    "2026-11-21 09:30": datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
}


def test_an_end_without_a_time_of_day_includes_that_day():
    assert {text: parse_end(text, "end_date") for text in ENDS} == ENDS


NO_DAY = "start_date: must be a date or time such as 2026-11-21 or 2026-11-21T09:00:00Z"
NO_YEAR = "start_date: the year must be between 1971 and 9998"
INVALID_DAYS = {
    "": NO_DAY,
    "yesterday": NO_DAY,
    "2026-13-01": NO_DAY,
    "0001-01-01": NO_YEAR,
    "9999-12-31T23:59:59-12:00": NO_YEAR,
    "١٢": NO_DAY,
}


def test_an_invalid_day_is_refused_with_the_name_of_its_field():
    def refusal(text: str) -> str:
        with pytest.raises(Invalid) as refused:
            parse_day(text, "start_date")
        return refused.value.message

    assert {text: refusal(text) for text in INVALID_DAYS} == INVALID_DAYS


LISTS = {None: (), "": (), "a": ("a",), " a , b,,": ("a", "b"), "[a,b]": ("a", "b"), "[]": ()}


def test_lists_in_a_filter():
    assert {text: split_list(text) for text in LISTS} == LISTS
