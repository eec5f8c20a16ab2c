import asyncio
import threading

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.service.conftest import ON_POSTGRESQL

from svc_jupyter.api.access import TokenCreate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.tokens import SERVICE_TOKEN
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, Unauthorized, Unavailable
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import memberships, tokens, users
from svc_jupyter.service.schema.audit import audit_entries

FIRST_PAGE = Page(number=1, size=10)
SOON = "2030-03-17T18:00:00Z"
AFTER_SOON = 1_900_000_801.0


async def test_a_token_shows_who_calls(access, admin, member):
    assert (admin.email, admin.groups, admin.is_admin) == ("admin@localhost", {"system-admin"}, True)
    assert (member.email, member.groups, member.is_admin) == ("member@example.org", {"system-user"}, False)
    assert member.account_id == admin.account_id


async def test_a_user_in_no_group_is_a_caller_without_groups(access, stranger_token):
    assert (await access.tokens.caller(stranger_token)).groups == frozenset()


async def refusal(access: Access, token: str | None) -> str:
    with pytest.raises(Unauthorized) as refused:
        await access.tokens.caller(token)
    return refused.value.message


async def test_a_missing_token_names_the_header(access):
    told = [await refusal(access, token) for token in (None, "")]
    assert told == ["the header X-AUTH-TOKEN is missing; it must carry an API token"] * 2


async def test_a_wrong_token_is_refused_without_repeating_it(access, admin_token):
    wrong = [admin_token[:-1], admin_token + "x", admin_token.swapcase(), "\xff"]
    told = [await refusal(access, token) for token in wrong]
    assert told == ["the token in the header X-AUTH-TOKEN is not known to this service"] * 4


async def test_a_token_ends_at_its_time_also_when_its_caller_is_known(access, admin, clock):
    token = access.tokens.create(admin.user_id, TokenCreate(name="short", expires_at=SOON), by=admin).token
    assert (await access.tokens.caller(token)).user_id == admin.user_id
    clock.now = AFTER_SOON
    for _attempt in range(2):
        with pytest.raises(Unauthorized, match="has expired"):
            await access.tokens.caller(token)


async def test_a_known_caller_costs_no_look_at_the_database(access, admin_token, count_statements):
    await access.tokens.caller(admin_token)
    count_statements.clear()
    for _call in range(100):
        await access.tokens.caller(admin_token)
    assert count_statements == []


def test_only_the_digest_of_a_token_is_stored(access, admin, database):
    made = access.tokens.create(admin.user_id, TokenCreate(name="laptop"), by=admin)
    with database.connect() as connection:
        stored = connection.execute(sa.select(tokens).where(tokens.c.id == made.id)).one()
    assert made.token not in str(stored)
    assert len(made.token) >= 43


def test_a_new_token_is_shown_once(access, admin):
    made = access.tokens.create(admin.user_id, TokenCreate(name="laptop", expires_at=SOON), by=admin)
    shown = access.tokens.list(admin.user_id, FIRST_PAGE, by=admin).tokens[0]
    assert shown.model_dump() == {
        "id": made.id,
        "name": "laptop",
        "created_at": "2030-03-17T17:46:40Z",
        "expires_at": SOON,
    }


def test_tokens_are_listed_newest_first_in_pages(access, member):
    for number in range(3):
        access.tokens.create(member.user_id, TokenCreate(name=f"token{number}"), by=member)
    first = access.tokens.list(member.user_id, Page(number=1, size=3), by=member)
    second = access.tokens.list(member.user_id, Page(number=2, size=3), by=member)
    assert [token.name for token in first.tokens] == ["token2", "token1", "token0"]
    assert [token.name for token in second.tokens] == ["laptop"]
    assert (first.paging_info.next_page, second.paging_info.previous_page) == (2, 1)


def test_a_token_that_could_never_be_used_is_not_made(access, admin):
    with pytest.raises(Invalid, match="expires_at: must be in the future"):
        access.tokens.create(admin.user_id, TokenCreate(name="laptop", expires_at="2020-01-01T00:00:00Z"), by=admin)


async def test_a_deleted_token_is_refused_at_once(access, admin, member, member_token):
    access.tokens.delete(member.user_id, member.token_id, by=member)
    with pytest.raises(Unauthorized, match="not known"):
        await access.tokens.caller(member_token)
    with pytest.raises(NotFound, match=f"user {member.user_id} has no token {member.token_id}"):
        access.tokens.delete(member.user_id, member.token_id, by=admin)


def test_a_token_is_deleted_only_under_its_own_user(access, admin, member):
    with pytest.raises(NotFound):
        access.tokens.delete(admin.user_id, member.token_id, by=admin)
    assert len(access.tokens.list(member.user_id, FIRST_PAGE, by=member).tokens) == 1


def test_an_administrator_has_a_hand_on_everybodys_tokens(access, admin, member):
    access.tokens.create(member.user_id, TokenCreate(name="from admin"), by=admin)
    listed = access.tokens.list(member.user_id, FIRST_PAGE, by=admin).tokens
    assert [token.name for token in listed] == ["from admin", "laptop"]
    access.tokens.delete(member.user_id, listed[1].id, by=admin)
    assert len(access.tokens.list(member.user_id, FIRST_PAGE, by=admin).tokens) == 1


def test_others_tokens_are_none_of_a_users_business(access, admin, member):
    for user_id in (admin.user_id, 999):
        with pytest.raises(Forbidden, match="system-admin"):
            access.tokens.list(user_id, FIRST_PAGE, by=member)
        with pytest.raises(Forbidden, match="system-admin"):
            access.tokens.create(user_id, TokenCreate(name="stolen"), by=member)
        with pytest.raises(Forbidden, match="system-admin"):
            access.tokens.delete(user_id, admin.token_id, by=member)


def test_tokens_of_an_unknown_user_are_not_found(access, admin):
    with pytest.raises(NotFound, match="no user 999"):
        access.tokens.create(999, TokenCreate(name="laptop"), by=admin)


@pytest.mark.both_databases
async def test_a_change_during_a_look_up_is_not_overlooked_later(access, admin, database, invite):
    """The look-up reads the old state, the change commits, and only then the look-up ends."""
    user_id, token = invite("ada@example.org")
    has_read, may_end = threading.Event(), threading.Event()

    def hold(_connection, _cursor, statement, *_more):
        if "group_name" in statement:
            has_read.set()
            may_end.wait(30)

    sa.event.listen(database.engine, "after_cursor_execute", hold)
    calling = asyncio.create_task(access.tokens.caller(token))
    try:
        assert await asyncio.to_thread(has_read.wait, 30)
        await asyncio.to_thread(access.users.disable, user_id, by=admin)
    finally:
        may_end.set()
        await asyncio.wait([calling])
        sa.event.remove(database.engine, "after_cursor_execute", hold)
    assert calling.result().user_id == user_id
    with pytest.raises(Unauthorized, match="disabled"):
        await access.tokens.caller(token)


@ON_POSTGRESQL
async def test_a_change_at_one_replica_reaches_the_others(access, admin, settings, clock, invite):
    user_id, token = invite("ada@example.org")
    database = Database(settings)
    bus = Bus(database)
    other = Access.of(database, bus, settings, clock)
    delivered = asyncio.Event()
    bus.subscribe("access", lambda _payload: delivered.set())
    await bus.start()
    try:
        async with asyncio.timeout(30):
            await delivered.wait()  # the bus calls its subscribers once when it begins to listen
            assert (await other.tokens.caller(token)).user_id == user_id
            delivered.clear()
            await asyncio.to_thread(access.users.disable, user_id, by=admin)
            await delivered.wait()
        with pytest.raises(Unauthorized, match="disabled"):
            await other.tokens.caller(token)
    finally:
        await bus.stop()
        database.close()


@ON_POSTGRESQL
async def test_a_change_whose_message_was_lost_is_seen_after_five_seconds(access, database, clock, invite):
    user_id, token = invite("ada@example.org")
    await access.tokens.caller(token)
    with database.begin() as connection:
        connection.execute(sa.update(users).where(users.c.id == user_id).values(enabled=False))
    clock.now += 4.9
    assert (await access.tokens.caller(token)).user_id == user_id
    clock.now += 0.1
    with pytest.raises(Unauthorized, match="disabled"):
        await access.tokens.caller(token)


@ON_POSTGRESQL
async def test_without_its_database_the_service_says_so(settings, clock):
    away = settings.model_copy(update={"database_url": SecretStr("postgresql://127.0.0.1:1/x")})
    database = Database(away)
    try:
        with pytest.raises(Unavailable):
            await Access.of(database, Bus(database), away, clock).tokens.caller("some token")
    finally:
        database.close()


async def test_the_service_token_is_an_administrators_and_is_kept(access, admin_token):
    assert (await access.tokens.caller(admin_token)).is_admin
    assert access.tokens.ensure_service_token(admin_token) == admin_token


@pytest.mark.parametrize("existing", [None, "", "of another data folder"])
async def test_a_new_service_token_replaces_the_old_one_and_both_are_reported(
    access, admin, admin_token, database, existing
):
    fresh = access.tokens.ensure_service_token(existing)
    assert fresh != admin_token
    assert (await access.tokens.caller(fresh)).user_id == admin.user_id
    with pytest.raises(Unauthorized):
        await access.tokens.caller(admin_token)
    [token] = access.tokens.list(admin.user_id, FIRST_PAGE, by=admin).tokens
    assert token.name == SERVICE_TOKEN
    with database.connect() as connection:
        told = connection.execute(sa.select(audit_entries).order_by(audit_entries.c.id)).all()
    assert [(row.action, row.object_id, row.detail) for row in told[1:]] == [
        ("delete_token", str(admin.user_id), {"token_id": admin.token_id}),
        ("create_token", str(admin.user_id), {"token_id": token.id, "name": SERVICE_TOKEN}),
    ]
    assert {(row.email, row.token_id, row.address) for row in told} == {(admin.email, None, None)}


def test_a_token_of_someone_who_is_no_administrator_is_no_service_token(access, member_token):
    assert access.tokens.ensure_service_token(member_token) != member_token


def test_an_expired_token_is_no_service_token(access, admin, clock):
    token = access.tokens.create(admin.user_id, TokenCreate(name="short", expires_at=SOON), by=admin).token
    assert access.tokens.ensure_service_token(token) == token
    clock.now = AFTER_SOON
    assert access.tokens.ensure_service_token(token) != token


async def test_the_service_token_goes_to_an_enabled_administrator(access, admin, admin_token, invite):
    other, _token = invite("ada@example.org", "system-admin")
    access.users.disable(admin.user_id, by=admin)
    fresh = access.tokens.ensure_service_token(admin_token)
    assert (await access.tokens.caller(fresh)).user_id == other


@pytest.mark.both_databases
def test_the_tokens_of_a_user_go_with_them(access, database, member):
    with database.begin() as connection:
        connection.execute(sa.delete(users).where(users.c.id == member.user_id))
        for table in (tokens, memberships):
            left = sa.select(table.c.user_id).where(table.c.user_id == member.user_id)
            assert connection.execute(left).first() is None


async def test_a_token_does_not_outlive_the_one_it_is_made_with(access, admin, invite, clock):
    user_id, lasting = invite("ada@example.org")
    by = await access.tokens.caller(lasting)
    ending = await access.tokens.caller(
        access.tokens.create(user_id, TokenCreate(name="a", expires_at=SOON), by=by).token
    )
    made = access.tokens.create(user_id, TokenCreate(name="b"), by=ending)
    assert made.expires_at == SOON
    sooner = "2030-03-17T17:59:00Z"
    assert access.tokens.create(user_id, TokenCreate(name="c", expires_at=sooner), by=ending).expires_at == sooner
    with pytest.raises(Forbidden, match=f"expires_at: a token cannot outlive .* expires at {SOON}"):
        access.tokens.create(user_id, TokenCreate(name="d", expires_at="2030-03-17T18:00:01Z"), by=ending)
    assert access.tokens.create(user_id, TokenCreate(name="e"), by=by).expires_at is None
