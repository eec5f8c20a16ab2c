"""Users in whose name the service acts without a call: many at once, with their current rights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.rights import rights_of
from svc_jupyter.service.schema.access import group_roles, groups, memberships, roles, users

# Statements of the hot paths are built once: building one takes longer than running it.
_CHOSEN: sa.BindParameter[Any] = sa.bindparam("users", expanding=True)
_ENABLED: sa.Select[Any] = (
    sa.select(
        users.c.id, users.c.account_id, users.c.email, groups.c.id.label("group_id"), groups.c.name.label("group_name")
    )
    .outerjoin(memberships, memberships.c.user_id == users.c.id)
    .outerjoin(groups, groups.c.id == memberships.c.group_id)
    .where(users.c.id.in_(_CHOSEN), users.c.enabled)
)
_ROLE_OF_USER: sa.Select[Any] = (
    sa.select(memberships.c.user_id, group_roles.c.role_id)
    .join(group_roles, group_roles.c.group_id == memberships.c.group_id)
    .where(memberships.c.user_id.in_(_CHOSEN))
    .distinct()
)
_ROLES: sa.Select[Any] = sa.select(roles.c.id, roles.c.name, roles.c.policies).where(
    roles.c.id.in_(sa.bindparam("roles", expanding=True))
)


def enabled_owners(connection: sa.Connection, user_ids: Collection[int]) -> Mapping[int, Caller]:
    """Return the enabled users among these, with their groups and the permissions of their roles, without policies.

    Takes one statement for members of the built-in groups and three with roles, for any number of users.
    """
    found: dict[int, Caller] = {}
    named: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(_ENABLED, {"users": list(user_ids)}):
        found[row.id] = Caller(row.id, row.account_id, row.email, frozenset(), token_id=0)
        if row.group_id is not None:
            named[row.id][row.group_id] = row.group_name
    owners = {
        user_id: replace(owner, groups=frozenset(named[user_id].values()), group_ids=frozenset(named[user_id]))
        for user_id, owner in found.items()
    }
    by_roles = [user_id for user_id, owner in owners.items() if not (owner.is_admin or owner.is_member)]
    return {**owners, **_with_rights(connection, {user_id: owners[user_id] for user_id in by_roles})}


def _with_rights(connection: sa.Connection, owners: Mapping[int, Caller]) -> dict[int, Caller]:
    if not owners:
        return {}
    theirs: defaultdict[int, set[int]] = defaultdict(set)
    for user_id, role_id in connection.execute(_ROLE_OF_USER, {"users": list(owners)}):
        theirs[user_id].add(role_id)
    wanted = set().union(*theirs.values())
    known = {row.id: row for row in connection.execute(_ROLES, {"roles": sorted(wanted)})} if wanted else {}
    return {
        user_id: replace(
            owner,
            rights=rights_of((known[role].name, known[role].policies) for role in sorted(theirs[user_id] & set(known))),
        )
        for user_id, owner in owners.items()
    }
