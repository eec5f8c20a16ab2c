import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from svc_jupyter.api.access import Invitation
from svc_jupyter.api.groups import GroupCreate, RoleCreate
from svc_jupyter.service.access.accounts import lock_account
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict, Unauthorized
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import users

FIRST_PAGE = Page(number=1, size=10)


def invitation(email="ada@example.org", groups=None):
    return Invitation(invitee_email=email, groups=groups)


def test_an_invited_user_is_a_system_user_unless_said_otherwise(access, admin):
    user = access.users.invite(invitation(), by=admin)
    assert (user.email, user.name, user.groups, user.enabled) == ("ada@example.org", "ada", ["system-user"], True)


def test_an_invitation_chooses_groups(access, admin):
    user = access.users.invite(invitation(groups="system-user, system-admin"), by=admin)
    assert user.groups == ["system-admin", "system-user"]
    assert access.users.list(FIRST_PAGE, by=admin).users[0] == user


def test_an_address_is_invited_once_in_whatever_case(access, admin):
    first = access.users.invite(invitation("Ada@Example.org"), by=admin)
    with pytest.raises(Invalid, match=f"ada@example.org is in this account already, as user {first.id}"):
        access.users.invite(invitation("aDA@example.ORG"), by=admin)


def test_invitations_of_one_address_at_once_make_one_user(access, admin):
    def invite(_number):
        try:
            return access.users.invite(invitation(), by=admin)
        except Invalid:
            return None

    with ThreadPoolExecutor(4) as pool:
        invited = list(pool.map(invite, range(4)))
    assert sum(user is not None for user in invited) == 1


def test_an_unknown_group_makes_no_user(access, admin):
    with pytest.raises(Invalid, match="no group 'analysts'"):
        access.users.invite(invitation(groups="system-user,analysts"), by=admin)
    assert [user.email for user in access.users.list(FIRST_PAGE, by=admin).users] == ["admin@localhost"]


def test_an_address_that_grows_in_lower_case_is_refused(access, admin):
    with pytest.raises(Invalid, match="invitee_email: must have at most 254 characters"):
        access.users.invite(invitation("İ" * 250 + "@b.c"), by=admin)


def test_only_an_administrator_changes_users(access, admin, member):
    with pytest.raises(Forbidden, match="system-admin"):
        access.users.invite(invitation(), by=member)
    with pytest.raises(Forbidden, match="system-admin"):
        access.users.enable(admin.user_id, by=member)
    with pytest.raises(Forbidden, match="system-admin"):
        access.users.disable(admin.user_id, by=member)


async def test_a_disabled_user_is_refused_at_once_and_let_in_again(access, admin, invite):
    user_id, token = invite("ada@example.org")
    assert (await access.tokens.caller(token)).user_id == user_id
    assert not access.users.disable(user_id, by=admin).enabled
    with pytest.raises(Unauthorized, match="disabled"):
        await access.tokens.caller(token)
    assert access.users.enable(user_id, by=admin).enabled
    assert (await access.tokens.caller(token)).user_id == user_id


def test_the_last_enabled_administrator_stays(access, admin, invite):
    other, _token = invite("ada@example.org", "system-admin")
    access.users.disable(other, by=admin)
    with pytest.raises(StateConflict, match=r"admin@localhost is the last enabled member of system-admin"):
        access.users.disable(admin.user_id, by=admin)
    assert all(user.enabled for user in access.users.list(FIRST_PAGE, by=admin).users if user.id == admin.user_id)


def test_one_may_disable_oneself_while_another_administrator_is_there(access, admin, invite):
    invite("ada@example.org", "system-admin")
    assert not access.users.disable(admin.user_id, by=admin).enabled


def test_two_administrators_who_disable_each_other_do_not_both_succeed(access, admin, invite, database):
    """The second waits until the first has committed, and then sees that it would be the last."""
    other, _token = invite("ada@example.org", "system-admin")
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as first:
            lock_account(first, admin.account_id)
            second = pool.submit(access.users.disable, other, by=admin)
            wait_for_a_waiting_transaction(database, second)
            first.execute(sa.update(users).where(users.c.id == admin.user_id).values(enabled=False))
        with pytest.raises(StateConflict, match=r"ada@example\.org is the last"):
            second.result(timeout=30)


def wait_for_a_waiting_transaction(database, future):
    """Return when PostgreSQL reports a lock that is waited for; on SQLite a second writer cannot even begin."""
    if database.on_sqlite:
        return
    waiting = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert not future.done(), "it did not wait"
        with database.connect() as connection:
            if connection.execute(waiting).scalar_one():
                return
        time.sleep(0.005)
    raise AssertionError("nobody waits for the lock")


def test_an_unknown_user_is_not_found(access, admin):
    for user_id in (999, 2**63 - 1):
        with pytest.raises(NotFound, match=f"no user {user_id}"):
            access.users.enable(user_id, by=admin)
        with pytest.raises(NotFound, match=f"no user {user_id}"):
            access.users.disable(user_id, by=admin)


def test_users_are_listed_newest_first_in_pages(access, admin, invite):
    for number in range(4):
        invite(f"user{number}@example.org")
    first = access.users.list(Page(number=1, size=3), by=admin)
    second = access.users.list(Page(number=2, size=3), by=admin)
    assert [user.name for user in first.users] == ["user3", "user2", "user1"]
    assert [user.name for user in second.users] == ["user0", "admin"]
    assert (first.paging_info.next_page, second.paging_info.next_page) == (2, None)


async def test_a_user_may_list_users_and_a_user_in_no_group_may_not(access, member, stranger_token):
    assert len(access.users.list(FIRST_PAGE, by=member).users) == 3
    stranger = await access.tokens.caller(stranger_token)
    with pytest.raises(Forbidden, match="membership of system-user or system-admin"):
        access.users.list(FIRST_PAGE, by=stranger)


@pytest.mark.parametrize("call", ["enable", "disable"])
async def test_only_an_administrator_disables_one_or_lets_one_in_again(access, admin, invite, call):
    policies = [{"access": "allow", "resource": "user", "action": ["update"]}]
    access.roles.create(RoleCreate(name="helper", policies=policies), by=admin)
    access.groups.create(GroupCreate(name="helpers", roles="helper"), by=admin)
    helper = await access.tokens.caller(invite("helper@example.org", "helpers")[1])
    boss, colleague = invite("boss@example.org", "system-admin")[0], invite("ada@example.org")[0]
    with pytest.raises(Forbidden, match=f"boss@example.org is in system-admin: only a member of it may {call} them"):
        getattr(access.users, call)(boss, by=helper)
    assert {user.id: user.enabled for user in access.users.list(FIRST_PAGE, by=admin).users}[boss]
    assert getattr(access.users, call)(colleague, by=helper).enabled is (call == "enable")
