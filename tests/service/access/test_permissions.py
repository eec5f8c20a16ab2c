from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import (
    Action,
    Resource,
    missing_membership,
    missing_permission,
    require,
    require_membership,
)
from svc_jupyter.service.errors import Forbidden

EVERYTHING = list(product(Action, Resource))
ADMIN = frozenset({"system-admin"})
USER = frozenset({"system-user"})


def caller(groups: frozenset[str]) -> Caller:
    return Caller(user_id=1, account_id=1, email="a@b", groups=groups, token_id=1)


@pytest.mark.parametrize(("action", "resource"), EVERYTHING)
def test_an_administrator_may_do_everything(action, resource):
    assert missing_permission(ADMIN, action, resource) is None


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("resource", [Resource.COMMAND, Resource.DB_TAP])
def test_a_user_may_do_everything_with_commands_and_taps(action, resource):
    assert missing_permission(USER, action, resource) is None


def test_a_user_may_look_at_the_account_and_its_users():
    assert missing_permission(USER, Action.READ, Resource.ACCOUNT) is None
    assert missing_permission(USER, Action.READ, Resource.USER) is None


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        (Action.UPDATE, Resource.ACCOUNT),
        (Action.CREATE, Resource.USER),
        (Action.UPDATE, Resource.USER),
        (Action.DELETE, Resource.USER),
        (Action.MANAGE, Resource.USER),
    ],
)
def test_what_is_reserved_names_the_group_that_may(action, resource):
    assert missing_permission(USER, action, resource) == "membership of system-admin"


@pytest.mark.parametrize(("action", "resource"), EVERYTHING)
@pytest.mark.parametrize("groups", [frozenset(), frozenset({"analysts"}), frozenset({"System-Admin"})])
def test_no_builtin_group_allows_nothing(groups, action, resource):
    assert missing_permission(groups, action, resource) is not None
    assert missing_membership(groups) == "membership of system-user or system-admin"


@given(
    groups=st.frozensets(st.sampled_from(["system-admin", "system-user", "analysts"])),
    more=st.frozensets(st.sampled_from(["system-admin", "system-user", "analysts"])),
    what=st.sampled_from(EVERYTHING),
)
def test_a_further_group_never_takes_a_right_away(groups, more, what):
    if missing_permission(groups, *what) is None:
        assert missing_permission(groups | more, *what) is None


def test_a_refusal_says_which_permission_is_missing():
    with pytest.raises(Forbidden, match=r"membership of system-admin \(permission to update account\)"):
        require(caller(USER), Action.UPDATE, Resource.ACCOUNT)
    with pytest.raises(Forbidden, match="this needs membership of system-user or system-admin"):
        require_membership(caller(frozenset()))


def test_what_is_allowed_passes():
    require(caller(USER), Action.CREATE, Resource.COMMAND)
    require_membership(caller(USER))
    require_membership(caller(ADMIN))
