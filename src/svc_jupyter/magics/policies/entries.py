"""The entries of an object's policy as values: prepend an entry and drop those without effect.

The first entry that names a user and covers an action decides, before any that names one of their groups. So the latest
entry goes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]
SUBJECTS = ("service_users", "service_groups")
_ALL = "all"


def entry(access: str, users: Sequence[int], groups: Sequence[int], actions: Sequence[str]) -> dict[str, Any]:
    """Return an entry; `users` or `groups` is omitted when empty."""
    condition = {name: list(ids) for name, ids in zip(SUBJECTS, (users, groups), strict=True) if ids}
    return {"access": access, "condition": condition, "action": list(actions)}


def put_first(first: Entry, policy: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return a policy in which an entry takes precedence over all others."""
    return without_idle([first, *policy])


def put_last(policy: Sequence[Entry], last: Entry) -> list[dict[str, Any]]:
    """Return a policy in which an entry decides only what no other entry does."""
    return without_idle([*policy, last])


def without_idle(policy: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return an equivalent policy, without users and groups whose actions earlier entries decide."""
    said: dict[tuple[str, int], set[str]] = {}
    kept = []
    for one in policy:
        actions = set(one["action"])
        condition = {}
        for kind in SUBJECTS:
            named = [subject for subject in one["condition"].get(kind, ()) if _adds(said.get((kind, subject)), actions)]
            if named:
                condition[kind] = named
            for subject in named:
                said.setdefault((kind, subject), set()).update(actions)
        if condition:
            kept.append({"access": str(one["access"]), "condition": condition, "action": list(one["action"])})
    return kept


def _adds(said: set[str] | None, actions: set[str]) -> bool:
    """Whether an entry with these actions can decide anything after the earlier entries."""
    return said is None or (_ALL not in said and not actions <= said)
