"""Groups of an account and their members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schema.access import group_roles, groups, memberships, roles, users


def group_ids(connection: sa.Connection, account_id: int) -> dict[str, int]:
    """Return the id of each of the account's groups by its name."""
    rows = connection.execute(sa.select(groups.c.name, groups.c.id).where(groups.c.account_id == account_id))
    return {row.name: row.id for row in rows}


def chosen_groups(text: str | None, ids: Mapping[str, int]) -> list[str]:
    """Return the group names for a comma-separated text of ids or names; `system-user` when it is blank.

    `ids` are the account's groups. Raises `Invalid` naming the first unknown group.
    """
    words = [word for word in (part.strip() for part in (text or "").split(",")) if word]
    names_by_id = {str(number): name for name, number in ids.items()}
    chosen: dict[str, None] = {}
    for word in words or [BuiltinGroup.USER.value]:
        name = word if word in ids else names_by_id.get(word)
        if name is None:
            raise Invalid(f"groups: there is no group {word[:80]!r} in this account; it has {', '.join(sorted(ids))}")
        chosen[name] = None
    return list(chosen)


def groups_of(connection: sa.Connection, user_ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return the names of each user's groups, sorted; an empty list for a user without groups."""
    rows = connection.execute(
        sa.select(memberships.c.user_id, groups.c.name)
        .join(groups, groups.c.id == memberships.c.group_id)
        .where(memberships.c.user_id.in_(user_ids))
        .order_by(groups.c.name)
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        found[row.user_id].append(row.name)
    return found


def enabled_administrators(account_id: int) -> sa.Select[int]:
    """Return a query of the ids of the account's enabled members of `system-admin`, the oldest first."""
    return (
        sa.select(users.c.id)
        .join(memberships, memberships.c.user_id == users.c.id)
        .join(groups, groups.c.id == memberships.c.group_id)
        .where(users.c.account_id == account_id, users.c.enabled, groups.c.name == BuiltinGroup.ADMIN.value)
        .order_by(users.c.id)
    )


def members_of(connection: sa.Connection, group_ids: Collection[int]) -> Mapping[int, list[sa.Row[Any]]]:
    """Return the members of each group, with their `id` and `email`, the oldest first; no key for an empty group."""
    query: sa.Select[Any] = (
        sa.select(memberships.c.group_id, users.c.id, users.c.email)
        .join(users, users.c.id == memberships.c.user_id)
        .where(memberships.c.group_id.in_(group_ids))
        .order_by(users.c.id)
    )
    return _by_group(connection.execute(query))


def roles_by_group(connection: sa.Connection, group_ids: Collection[int]) -> Mapping[int, list[sa.Row[Any]]]:
    """Return the roles of each group, with their `id`, `name` and `policies`, the oldest first."""
    query: sa.Select[Any] = (
        sa.select(group_roles.c.group_id, roles.c.id, roles.c.name, roles.c.policies)
        .join(roles, roles.c.id == group_roles.c.role_id)
        .where(group_roles.c.group_id.in_(group_ids))
        .order_by(roles.c.id)
    )
    return _by_group(connection.execute(query))


def _by_group(rows: Iterable[sa.Row[Any]]) -> Mapping[int, list[sa.Row[Any]]]:
    found: defaultdict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.group_id].append(row)
    return found
