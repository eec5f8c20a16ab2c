"""Tokens of notebook runs: whose they are, how long they are good, and what they are not good for."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import sqlalchemy as sa
from tests.service.access.conftest import NOON

from svc_jupyter.api.access import TokenCreate
from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.run_tokens import RunTokens
from svc_jupyter.service.ground.errors import Forbidden, NotFound, Unauthorized
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import tokens
from svc_jupyter.service.schema.commands import NEW_ROW, commands


@dataclass
class Ended:
    id: int
    command_type: str = CommandType.JUPYTER_NOTEBOOK


@pytest.fixture
def run_tokens(database, bus, access, clock):
    return RunTokens(database, bus, access.tokens, 60.0, clock)


@pytest.fixture
def begin(database, account_id):
    """Write the row of a command that runs; return its id."""

    def begin(user_id, **values):
        row = NEW_ROW | {
            "account_id": account_id,
            "user_id": user_id,
            "command_type": "JupyterNotebookCommand",
            "command_source": "API",
            "status": "running",
            "command": {},
            "created_at": NOON,
            "start_time": NOON,
            "folder_key": "k",
        }
        del row["id"]
        with database.begin() as connection:
            query = sa.insert(commands).values(row | values).returning(commands.c.id)
            return connection.execute(query).scalar_one()

    return begin


async def test_it_is_the_owners_and_says_which_run_it_belongs_to(access, run_tokens, begin, member):
    command_id = begin(member.user_id)
    caller = await access.tokens.caller(run_tokens.create(command_id))
    assert (caller.user_id, caller.email, caller.command_id) == (member.user_id, member.email, command_id)
    assert caller.is_member
    assert member.command_id is None


async def test_an_administrators_run_has_a_members_rights(access, run_tokens, begin, admin):
    caller = await access.tokens.caller(run_tokens.create(begin(admin.user_id)))
    assert (admin.is_admin, caller.is_admin, caller.is_member) == (True, False, True)


async def test_another_attempt_has_another_token(access, run_tokens, begin, member):
    command_id = begin(member.user_id)
    first, second = run_tokens.create(command_id), run_tokens.create(command_id)
    with pytest.raises(Unauthorized, match="not known"):
        await access.tokens.caller(first)
    assert (await access.tokens.caller(second)).command_id == command_id
    run_tokens.end(command_id)
    with pytest.raises(Unauthorized, match="not known"):
        await access.tokens.caller(second)


async def test_it_ends_with_the_command_in_the_same_transaction(access, run_tokens, begin, member, database):
    command_id, other = begin(member.user_id), begin(member.user_id)
    secret, others = run_tokens.create(command_id), run_tokens.create(other)
    with database.begin() as connection:
        run_tokens.on_command_end(connection, Ended(command_id))
    with pytest.raises(Unauthorized, match="not known"):
        await access.tokens.caller(secret)
    assert (await access.tokens.caller(others)).command_id == other


async def test_one_that_is_left_over_is_worth_nothing_once_the_command_has_ended(
    access, run_tokens, begin, member, database
):
    command_id = begin(member.user_id)
    secret = run_tokens.create(command_id)
    with database.begin() as connection:
        connection.execute(sa.update(commands).where(commands.c.id == command_id).values(status="error"))
    with pytest.raises(Unauthorized, match="not known"):
        await access.tokens.caller(secret)


async def test_it_is_bounded_by_the_timeout_of_its_command(access, run_tokens, begin, member, clock):
    secret = run_tokens.create(begin(member.user_id, timeout=100))
    clock.now = NOON + 200
    assert (await access.tokens.caller(secret)).user_id == member.user_id
    clock.now = NOON + 230
    with pytest.raises(Unauthorized, match="has expired"):
        await access.tokens.caller(secret)


def test_a_command_that_two_users_answer_for_has_none(run_tokens, begin, member, admin, database):
    with pytest.raises(Forbidden, match=r"last edited.*rights of one user only"):
        run_tokens.create(begin(member.user_id, edited_by=admin.user_id))
    assert run_tokens.create(begin(member.user_id, edited_by=member.user_id))


def test_a_command_that_does_not_run_has_none(run_tokens, begin, member):
    for status in ("waiting", "done", "cancelled"):
        with pytest.raises(Forbidden, match="does not run"):
            run_tokens.create(begin(member.user_id, status=status))


def test_it_is_stored_as_its_digest_and_is_none_of_the_users_own(access, run_tokens, begin, member, database):
    command_id = begin(member.user_id)
    secret = run_tokens.create(command_id)
    with database.connect() as connection:
        [row] = connection.execute(sa.select(tokens).where(tokens.c.command_id == command_id)).all()
    assert secret not in str(row)
    shown = access.tokens.list(member.user_id, Page(1, 100), by=member).tokens
    assert row.id not in [token.id for token in shown]
    with pytest.raises(NotFound):
        access.tokens.delete(member.user_id, row.id, by=member)


async def test_it_makes_shows_and_deletes_no_tokens(access, run_tokens, begin, member):
    caller = await access.tokens.caller(run_tokens.create(begin(member.user_id)))
    with pytest.raises(Forbidden, match="a notebook run may not"):
        access.tokens.create(member.user_id, TokenCreate(name="more"), by=caller)
    with pytest.raises(Forbidden, match="a notebook run may not"):
        access.tokens.list(member.user_id, Page(1, 100), by=caller)
    with pytest.raises(Forbidden, match="a notebook run may not"):
        access.tokens.delete(member.user_id, member.token_id, by=caller)


async def test_a_waiting_call_of_a_run_that_ends_is_refused(access, run_tokens, begin, member):
    command_id = begin(member.user_id)
    caller = await access.tokens.caller(run_tokens.create(command_id))
    await access.tokens.recheck(caller)
    run_tokens.end(command_id)
    with pytest.raises(Unauthorized, match="taken back"):
        await access.tokens.recheck(caller)
