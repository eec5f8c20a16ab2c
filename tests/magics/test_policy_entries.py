"""Entries of policies: what was said last counts, and what no longer counts goes."""

import hypothesis.strategies as st
from hypothesis import given

from svc_jupyter.magics.policies.policies import entry, put_first, put_last, without_idle
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, policy_decision
from svc_jupyter.service.access.policy_book import PolicyBook, entries_of

ACTIONS = ("read", "update", "delete", "manage", "all")
_subjects = st.lists(st.integers(1, 3), unique=True, max_size=2)
_entries = st.builds(
    entry,
    st.sampled_from(("allow", "deny")),
    _subjects,
    _subjects,
    st.lists(st.sampled_from(ACTIONS), unique=True, min_size=1, max_size=3),
).filter(lambda one: one["condition"])
_policies = st.lists(_entries, max_size=6)


def decisions(policy):
    """What a policy says of every action, for users 1 to 3 in every single group and in none."""
    book = PolicyBook(1, {(Resource.NOTE, 9): entries_of(policy)})
    found = {}
    for user_id in (1, 2, 3):
        for group_ids in ((), (1,), (2,), (3,), (1, 2, 3)):
            caller = Caller(user_id, 1, "a@example.com", frozenset(), 1, frozenset(group_ids), policies=book)
            for action in (Action.READ, Action.UPDATE, Action.DELETE, Action.MANAGE):
                said = policy_decision(caller, action, Resource.NOTE, 9)
                found[user_id, group_ids, action] = None if said is None else said.allowed
    return found


@given(_policies)
def test_taking_out_what_does_not_count_changes_no_decision(policy):
    kept = without_idle(policy)
    assert decisions(kept) == decisions(policy)
    assert without_idle(kept) == kept


@given(_policies, st.sampled_from(("allow", "deny")), st.integers(1, 3), st.sampled_from(ACTIONS))
def test_a_policy_keeps_what_was_said_last(policy, access, user_id, action):
    found = decisions(put_first(entry(access, [user_id], [], [action]), policy))
    before = decisions(policy)
    assert len(found) == 60
    for (who, groups, asked), allowed in found.items():
        meant = who == user_id and action in (asked, "all")
        assert allowed == (access == "allow" if meant else before[who, groups, asked])


def test_allowing_and_denying_in_turn_does_not_pile_up():
    policy = []
    for _ in range(5):
        for access in ("allow", "deny"):
            policy = put_first(entry(access, [7], [4], ["read"]), policy)
    assert policy == [entry("deny", [7], [4], ["read"])]


def test_an_entry_at_the_end_decides_what_is_left():
    policy = put_last([entry("allow", [7], [], ["read"])], entry("deny", [7], [], ["all"]))
    assert policy == [entry("allow", [7], [], ["read"]), entry("deny", [7], [], ["all"])]
    assert put_last(policy, entry("deny", [7], [], ["all"])) == policy
