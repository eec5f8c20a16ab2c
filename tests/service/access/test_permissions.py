"""The one function that decides, with values alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import (
    EVERYTHING,
    MEMBERS_RIGHTS,
    NOT_IN_RUNS,
    RESERVED,
    Caller,
    permissions_of,
    rights_of,
)
from svc_jupyter.service.access.permissions import (
    Action,
    Resource,
    Target,
    decide,
    lack_to_schedule,
    require,
    require_any,
    require_membership,
)
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook, entries_of
from svc_jupyter.service.ground.errors import Forbidden

ADMIN = frozenset({"system-admin"})
USER = frozenset({"system-user"})
ME, MY_GROUP, MY_OTHER_GROUP, SOMEBODY, NOT_MY_GROUP = 5, 7, 8, 99, 98
READ, UPDATE = Action.READ, Action.UPDATE
SCHEDULER = Resource.SCHEDULER
IT = Target(3)


def caller(groups: frozenset[str] = USER, roles: tuple = (), policies: PolicyBook = NO_POLICIES) -> Caller:
    return Caller(
        user_id=ME,
        account_id=1,
        email="a@b",
        groups=groups,
        token_id=1,
        group_ids=frozenset({MY_GROUP, MY_OTHER_GROUP}),
        rights=rights_of(roles),
        policies=policies,
    )


def entry(access: str, users: list[int] | None = None, groups: list[int] | None = None, *actions: str) -> dict:
    condition = {"service_users": users or [], "service_groups": groups or []}
    return {"access": access, "condition": condition, "action": list(actions) or ["all"]}


def role(access: str, resource: str, *actions: str) -> dict:
    return {"access": access, "resource": resource, "action": list(actions)}


def test_an_administrator_may_do_everything_whatever_a_policy_says():
    policy = entries_of([entry("deny", [ME]), entry("deny", None, [MY_GROUP])])
    assert {pair for pair in EVERYTHING if not decide(caller(ADMIN), *pair, IT, policy).allowed} == set()


def test_a_run_may_do_at_most_what_a_member_may_and_nothing_that_outlives_it():
    users = {
        "an administrator": caller(ADMIN),
        "a member": caller(USER),
        "a role with all rights": caller(frozenset(), (("everything", [role("allow", "all", "all")]),)),
    }

    def allowed(name: str, policy: Callable[[str], list[dict]]) -> set[tuple[Action, Resource]]:
        in_run = users[name].in_run(12)
        return {
            (action, resource)
            for action, resource in EVERYTHING
            if decide(in_run, action, resource, IT, entries_of(policy(action.value))).allowed
        }

    assert {name: allowed(name, lambda _: []) for name in users} == dict.fromkeys(users, MEMBERS_RIGHTS - NOT_IN_RUNS)
    named = {name: allowed(name, lambda action: [entry("allow", [ME], None, action)]) for name in users}
    assert named == dict.fromkeys(users, EVERYTHING - NOT_IN_RUNS)
    assert {name: allowed(name, lambda _: [entry("deny", [ME])]) for name in users} == dict.fromkeys(users, frozenset())


def test_a_run_never_makes_a_schedule_whatever_gives_the_right_to():
    by_notebooks = ("n", [role("allow", "jupyter_notebook", "all"), role("allow", "jupyter_notebook_command", "all")])
    author = caller(frozenset(), (by_notebooks,))
    assert lack_to_schedule(author, CommandType.JUPYTER_NOTEBOOK) is None
    for of_user in (author, caller(USER), caller(ADMIN)):
        assert "a notebook run may not create scheduler" in (
            lack_to_schedule(of_user.in_run(12), CommandType.JUPYTER_NOTEBOOK) or ""
        )


def test_a_user_may_do_everything_but_what_is_reserved():
    allowed = {pair for pair in EVERYTHING if decide(caller(USER), *pair).allowed}
    assert allowed == MEMBERS_RIGHTS
    assert allowed.isdisjoint(RESERVED)


def test_the_refusal_of_a_reserved_action_names_who_may_do_it():
    reserved = [
        ("update", "account"),
        *product(["create", "update", "delete", "manage"], ["user", "role"]),
        ("update", "object_policy"),
        ("read", "audit"),
        ("manage", "cluster"),
        ("delete", "group"),
        ("manage", "group"),
        ("manage", "jupyter_notebook"),
    ]
    found = {pair: decide(caller(USER), Action(pair[0]), Resource(pair[1])) for pair in reserved}
    needed = "this needs membership of system-admin or of a group with a role that allows it"
    assert {pair: (one.allowed, one.because) for pair, one in found.items()} == dict.fromkeys(reserved, (False, needed))


def test_a_user_may_do_an_action_that_is_not_reserved():
    open_to_all = [
        ("read", "account"),
        ("read", "user"),
        ("update", "group"),
        ("create", "group"),
        ("read", "object_policy"),
    ]
    assert [pair for pair in open_to_all if not decide(caller(USER), Action(pair[0]), Resource(pair[1])).allowed] == []


def test_without_a_built_in_group_and_a_role_nothing_is_allowed():
    found = {
        (tuple(groups), pair): decide(caller(groups), *pair)
        for groups in (frozenset(), frozenset({"analysts"}), frozenset({"System-Admin"}))
        for pair in EVERYTHING
    }
    needed = "this needs membership of system-"
    assert {key: one for key, one in found.items() if one.allowed or not one.because.startswith(needed)} == {}


def test_a_role_allows_what_it_names_and_nothing_else():
    analyst = caller(frozenset({"analysts"}), (("analyst", [role("allow", "scheduler", "read", "update")]),))
    allowed = {pair for pair in EVERYTHING if decide(analyst, *pair).allowed}
    assert allowed == {(READ, SCHEDULER), (UPDATE, SCHEDULER)}
    assert decide(analyst, READ, SCHEDULER).because == "the role analyst allows to read scheduler"


def test_within_a_role_a_denial_wins_in_whatever_order():
    entries = [role("allow", "all", "all"), role("deny", "user", "all"), role("deny", "all", "delete")]
    expected = {(action, resource) for action, resource in EVERYTHING if action != "delete" and resource != "user"}
    assert [permissions_of(entries), permissions_of(entries[::-1])] == [expected, expected]


def test_a_role_lets_do_what_is_reserved():
    operator = caller(frozenset(), (("operator", [role("allow", "cluster", "manage")]),))
    assert decide(operator, Action.MANAGE, Resource.CLUSTER).allowed


def test_words_that_a_newer_version_stored_give_nothing():
    assert permissions_of([role("allow", "teleporter", "all"), role("allow", "note", "fold")]) == frozenset()


roles_of_any_kind = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.lists(
            st.builds(
                role,
                st.sampled_from(["allow", "deny"]),
                st.sampled_from([*Resource, "all"]),
                st.sampled_from([*Action, "all"]),
            ),
            max_size=4,
        ),
    ),
    max_size=4,
)


@given(
    groups=st.frozensets(st.sampled_from(["system-admin", "system-user", "analysts"])),
    more=st.frozensets(st.sampled_from(["system-admin", "system-user", "analysts"])),
    roles=roles_of_any_kind,
    further=roles_of_any_kind,
    what=st.sampled_from(sorted(EVERYTHING)),
)
def test_a_further_group_or_role_never_takes_a_right_away(groups, more, roles, further, what):
    if decide(caller(groups, roles), *what).allowed:
        assert decide(caller(groups | more, [*roles, *further]), *what).allowed


ABOUT_ME = {
    "my user allowed": entry("allow", [ME]),
    "my user denied": entry("deny", [ME]),
    "my group allowed": entry("allow", None, [MY_GROUP]),
    "my group denied": entry("deny", None, [MY_GROUP]),
}
DECIDING = {
    ("my user allowed", "my user denied"): "entry 1 of the object's policy allows this to user 5",
    ("my user allowed", "my group allowed"): "entry 1 of the object's policy allows this to user 5",
    ("my user allowed", "my group denied"): "entry 1 of the object's policy allows this to user 5",
    ("my user denied", "my user allowed"): "entry 1 of the object's policy denies this to user 5",
    ("my user denied", "my group allowed"): "entry 1 of the object's policy denies this to user 5",
    ("my user denied", "my group denied"): "entry 1 of the object's policy denies this to user 5",
    ("my group allowed", "my user allowed"): "entry 2 of the object's policy allows this to user 5",
    ("my group allowed", "my user denied"): "entry 2 of the object's policy denies this to user 5",
    ("my group allowed", "my group denied"): "entry 1 of the object's policy allows this to group 7",
    ("my group denied", "my user allowed"): "entry 2 of the object's policy allows this to user 5",
    ("my group denied", "my user denied"): "entry 2 of the object's policy denies this to user 5",
    ("my group denied", "my group allowed"): "entry 1 of the object's policy denies this to group 7",
}


@pytest.mark.parametrize("groups", [USER, frozenset()])
def test_a_user_beats_a_group_in_both_directions_and_else_the_first_wins(groups):
    def decided(names: tuple[str, str]) -> tuple[bool, str]:
        found = decide(caller(groups), READ, SCHEDULER, IT, entries_of([ABOUT_ME[name] for name in names]))
        return found.allowed, found.because

    assert {names: decided(names) for names in DECIDING} == {
        names: ("allows" in because, because) for names, because in DECIDING.items()
    }


def test_where_a_policy_says_nothing_the_groups_decide():
    silent = [
        [],
        [entry("deny", [SOMEBODY], [NOT_MY_GROUP])],
        [entry("deny", [ME], None, "update", "delete")],
        [entry("deny", None, [MY_GROUP], "manage")],
    ]

    def allowed(groups: frozenset[str], policy: list[dict]) -> bool:
        return decide(caller(groups), READ, SCHEDULER, IT, entries_of(policy)).allowed

    assert [(allowed(USER, policy), allowed(frozenset(), policy)) for policy in silent] == [(True, False)] * 4


def test_an_entry_that_names_both_counts_as_one_that_names_the_user():
    policy = entries_of([entry("deny", None, [MY_GROUP]), entry("allow", [ME], [NOT_MY_GROUP], "read")])
    assert decide(caller(), READ, SCHEDULER, IT, policy).allowed
    assert not decide(caller(), UPDATE, SCHEDULER, IT, policy).allowed


def test_the_recommended_form_gives_what_it_names_and_denies_the_rest():
    policy = entries_of([entry("allow", [ME], None, "read"), entry("deny", [ME], [MY_GROUP], "all")])
    allowed = [action for action in Action if decide(caller(), action, SCHEDULER, IT, policy).allowed]
    assert allowed == [READ]


@given(
    st.lists(
        st.builds(
            entry,
            st.sampled_from(["allow", "deny"]),
            st.lists(st.sampled_from([ME, SOMEBODY]), max_size=2),
            st.lists(st.sampled_from([MY_GROUP, MY_OTHER_GROUP, NOT_MY_GROUP]), max_size=3),
            st.sampled_from(["read", "update", "all"]),
        ),
        max_size=6,
    ),
    st.sampled_from([USER, frozenset()]),
)
def test_a_policy_decides_as_its_description_says(policy, groups):
    """The rule once more, in the words of the contract, over entries as they are written."""
    covering = [item for item in policy if {"read", "all"} & set(item["action"])]
    naming_me = [item for item in covering if ME in item["condition"]["service_users"]]
    naming_mine = [item for item in covering if {MY_GROUP, MY_OTHER_GROUP} & set(item["condition"]["service_groups"])]
    deciding = (naming_me or naming_mine or [{"access": "allow" if groups else "deny"}])[0]
    found = decide(caller(groups), READ, SCHEDULER, IT, entries_of(policy))
    assert found.allowed is (deciding["access"] == "allow")


def test_who_owns_an_object_may_set_its_policy_and_its_policy_gives_nobody_that():
    mine, others = Target(3, owner_id=ME), Target(3, owner_id=SOMEBODY)
    for action in (READ, UPDATE):
        assert decide(caller(frozenset()), action, Resource.OBJECT_POLICY, mine).allowed
        refused = decide(caller(frozenset()), action, Resource.OBJECT_POLICY, others)
        assert not refused.allowed
        assert refused.because.endswith("or ownership of the object")
    assert not decide(caller(USER), UPDATE, Resource.OBJECT_POLICY, others).allowed
    assert not decide(caller(frozenset()), READ, SCHEDULER, mine).allowed


def test_a_refusal_says_what_is_missing():
    with pytest.raises(Forbidden, match=r"membership of system-admin or .* \(permission to update account\)"):
        require(caller(), UPDATE, Resource.ACCOUNT)
    book = PolicyBook(1, {(SCHEDULER, 3): entries_of([entry("deny", None, [MY_GROUP, MY_OTHER_GROUP])])})
    with pytest.raises(
        Forbidden, match=r"entry 1 of the object's policy denies this to group 7 \(permission to read scheduler 3\)"
    ):
        require(caller(policies=book), READ, SCHEDULER, 3)
    require(caller(policies=book), READ, SCHEDULER, 4)
    require(caller(policies=book), READ, SCHEDULER)


def test_one_of_several_actions_suffices():
    book = PolicyBook(1, {(SCHEDULER, 3): entries_of([entry("allow", [ME], None, "manage"), entry("deny", [ME])])})
    require_any(caller(policies=book), (UPDATE, Action.MANAGE), SCHEDULER, 3)
    with pytest.raises(Forbidden, match="permission to update or delete scheduler 3"):
        require_any(caller(policies=book), (UPDATE, Action.DELETE), SCHEDULER, 3)


def test_nobody_makes_a_call_without_any_right():
    for nothing in (caller(frozenset()), caller(frozenset({"analysts"}), (("none", []),))):
        with pytest.raises(Forbidden, match="this needs membership of system-user or system-admin"):
            require_membership(nothing)
    require_membership(caller(USER))
    require_membership(caller(ADMIN))
    require_membership(caller(frozenset(), (("reader", [role("allow", "note", "read")]),)))


def test_a_policy_that_allows_something_lets_a_user_without_groups_call():
    def require_of(policy: list[dict]) -> None:
        require_membership(caller(frozenset(), policies=PolicyBook(1, {(SCHEDULER, 3): entries_of(policy)})))

    require_of([entry("allow", [ME], None, "read")])
    require_of([entry("allow", None, [MY_OTHER_GROUP], "read")])
    with pytest.raises(Forbidden):
        require_of([entry("deny", [ME]), entry("allow", [SOMEBODY], [NOT_MY_GROUP])])


def test_a_book_takes_changes_and_stays_as_it_was():
    book = PolicyBook(1, {(SCHEDULER, 3): entries_of([entry("deny", [ME], [MY_GROUP])])})
    changed = book.with_changes(
        2, {(SCHEDULER, 3): (), (Resource.NOTE, 3): entries_of([entry("allow", None, [MY_GROUP])])}
    )
    assert (changed.version, list(changed.about(ME, [MY_GROUP]))) == (2, [(Resource.NOTE, 3)])
    assert changed.of(SCHEDULER, 3) == ()
    assert list(book.about(ME, [])) == [(SCHEDULER, 3)]
    assert book.of(Resource.NOTE, 3) == ()
