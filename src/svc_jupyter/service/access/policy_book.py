"""The policies of an account's objects in memory, so that decisions take no query. Pure values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from svc_jupyter.api.access import ALL, Access, Action, Resource

ObjectKey = tuple[Resource, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an object's policy; `number` is its position, from 1."""

    number: int
    allows: bool
    users: frozenset[int]
    groups: frozenset[int]
    actions: frozenset[str]

    def covers(self, action: Action) -> bool:
        """Return whether the entry applies to an action."""
        return action in self.actions or ALL in self.actions

    def names(self, action: Action) -> bool:
        """Return whether the entry has an action's own name, not `all`."""
        return action in self.actions


def entries_of(policy: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """Return the entries of a stored policy."""
    return tuple(
        Entry(
            number,
            allows=entry["access"] == Access.ALLOW,
            users=frozenset(entry["condition"].get("service_users", ())),
            groups=frozenset(entry["condition"].get("service_groups", ())),
            actions=frozenset(entry["action"]),
        )
        for number, entry in enumerate(policy, start=1)
    )


@dataclass(frozen=True, eq=False)
class PolicyBook:
    """All policies of an account as of `version`. Immutable; `with_changes` makes the next one."""

    version: int = 0
    _policies: Mapping[ObjectKey, tuple[Entry, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        users: defaultdict[int, set[ObjectKey]] = defaultdict(set)
        groups: defaultdict[int, set[ObjectKey]] = defaultdict(set)
        for key, entries in self._policies.items():
            for entry in entries:
                for user_id in entry.users:
                    users[user_id].add(key)
                for group_id in entry.groups:
                    groups[group_id].add(key)
        object.__setattr__(self, "_of_users", dict(users))
        object.__setattr__(self, "_of_groups", dict(groups))

    _of_users: Mapping[int, set[ObjectKey]] = field(init=False, repr=False, compare=False)
    _of_groups: Mapping[int, set[ObjectKey]] = field(init=False, repr=False, compare=False)

    def of(self, resource: Resource, object_id: int | None) -> Sequence[Entry]:
        """Return the entries of an object's policy; none without a policy."""
        return () if object_id is None else self._policies.get((resource, object_id), ())

    def about(self, user_id: int, group_ids: Iterable[int]) -> Iterator[ObjectKey]:
        """Yield the objects whose policies name a user or one of their groups, each once."""
        keys = set(self._of_users.get(user_id, ()))
        for group_id in group_ids:
            keys |= self._of_groups.get(group_id, set())
        return iter(keys)

    def with_changes(self, version: int, changed: Mapping[ObjectKey, tuple[Entry, ...]]) -> PolicyBook:
        """Return the book with some policies replaced; an empty one is removed."""
        merged = {key: entries for key, entries in {**self._policies, **changed}.items() if entries}
        return PolicyBook(version, merged)


NO_POLICIES = PolicyBook()
