"""The account's groups: their members and roles."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, BuiltinGroup, Resource
from svc_jupyter.api.groups import Duplicate, Group, GroupCreate, GroupList, GroupUpdate
from svc_jupyter.api.policy_text import split_words
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.callers import Caller, permissions_of
from svc_jupyter.service.access.giving import check_group, check_permissions
from svc_jupyter.service.access.lookups import (
    check_free,
    copy_name,
    enabled_administrators,
    find_group,
    find_role,
    find_roles,
    find_users,
    members_of,
    roles_by_group,
)
from svc_jupyter.service.access.permissions import decide, require
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.ground.errors import Forbidden, Invalid, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import group_roles, groups, memberships, removed_members

Rows = Sequence[sa.Row[Any]]


class Groups:
    """Lists and changes groups. `reference` is an id or a name; a change takes effect at once and completely, or fails.

    Every method raises `Forbidden` without the permission, and for a change that would give or take rights that the
    caller does not have.
    """

    def __init__(self, database: Database, tokens: Tokens, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._tokens = tokens
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> GroupList:
        """Return a page of the account's groups, newest first."""
        require(by, Action.READ, Resource.GROUP)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection, sa.select(groups).where(groups.c.account_id == by.account_id).order_by(groups.c.id.desc())
            )
            return GroupList(groups=_records(connection, shown), paging_info=paging_info)

    def get(self, reference: str, *, by: Caller) -> Group:
        """Return a group. Raises `NotFound`."""
        require(by, Action.READ, Resource.GROUP)
        with self._database.connect() as connection:
            return _records(connection, [find_group(connection, by.account_id, reference)])[0]

    def create(self, body: GroupCreate, *, by: Caller) -> Group:
        """Create a group and return it. Raises `Invalid` for a name that is taken and for unknown members or roles."""
        require(by, Action.CREATE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = _insert(connection, by, body.name)
            trail.record(connection, by, "create", Resource.GROUP, group.id, name=group.name)
            self._give_roles(connection, by, group, find_roles(connection, by.account_id, body.roles, "roles"))
            self._add(connection, by, group, find_users(connection, by.account_id, body.members, "members"))
            return _records(connection, [group])[0]

    def update(self, reference: str, body: GroupUpdate, *, by: Caller) -> Group:
        """Rename a group, remove and add users and roles; return it. Raises like `create`, and `NotFound`."""
        require(by, Action.UPDATE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            account_id = by.account_id
            group = find_group(connection, account_id, reference)
            if body.name is not None and body.name != group.name:
                group = _rename(connection, by, group, body.name)
            gone = find_users(connection, account_id, body.removed_members, "removed_members")
            come = find_users(connection, account_id, body.members, "members")
            taken = find_roles(connection, account_id, body.removed_roles, "removed_roles")
            given = find_roles(connection, account_id, body.roles, "roles")
            if both := {row.id for row in come} & {row.id for row in gone}:
                raise Invalid(f"removed_members: user {min(both)} is in members, too")
            if both := {row.id for row in given} & {row.id for row in taken}:
                raise Invalid(f"removed_roles: role {min(both)} is in roles, too")
            self._take_roles(connection, by, group, taken)
            self._remove(connection, by, group, gone)
            self._give_roles(connection, by, group, given)
            self._add(connection, by, group, come)
            return _records(connection, [group])[0]

    def delete(self, reference: str, *, by: Caller) -> int:
        """Delete a group and its entries in objects' policies; return its id. Raises `NotFound`, `StateConflict`."""
        require(by, Action.DELETE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = find_group(connection, by.account_id, reference)
            _check_not_builtin(group, "deleted")
            check_group(connection, by, group.id, group.name)
            freed = policy_versions.take_group_out(connection, by, group.id, self._clock())
            connection.execute(sa.delete(groups).where(groups.c.id == group.id))
            trail.record(connection, by, "delete", Resource.GROUP, group.id, name=group.name, policies_changed=freed)
            return int(group.id)

    def add_users(self, reference: str, named: str, *, by: Caller) -> None:
        """Add all the named members of the account, by ids and e-mail addresses, or none.

        Existing members stay. Raises `NotFound` for the group, `Invalid` for users outside the account.
        """
        require(by, Action.UPDATE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = find_group(connection, by.account_id, reference)
            self._add(connection, by, group, _named_users(connection, by, named))

    def remove_users(self, reference: str, named: str, *, by: Caller) -> None:
        """Remove all the named users from a group, or none. Other users are ignored. Raises like `add_users`.

        Raises `StateConflict` when no enabled administrator would be left.
        """
        require(by, Action.MANAGE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = find_group(connection, by.account_id, reference)
            self._remove(connection, by, group, _named_users(connection, by, named))

    def assign(self, reference: str, role: str, *, by: Caller) -> None:
        """Give a group a role, by id or name. Raises `NotFound`."""
        require(by, Action.MANAGE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = find_group(connection, by.account_id, reference)
            self._give_roles(connection, by, group, [find_role(connection, by.account_id, role)])

    def unassign(self, reference: str, role: str, *, by: Caller) -> None:
        """Take a role from a group. Raises `NotFound`."""
        require(by, Action.MANAGE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            group = find_group(connection, by.account_id, reference)
            self._take_roles(connection, by, group, [find_role(connection, by.account_id, role)])

    def duplicate(self, reference: str, body: Duplicate, *, by: Caller) -> Group:
        """Create a group with the members and roles of another and return it. Policies of objects do not name it.

        Raises `NotFound`, `Invalid` for a name that is taken, `StateConflict` for a built-in group.
        """
        require(by, Action.CREATE, Resource.GROUP)
        with self._tokens.changing_access() as connection:
            original = find_group(connection, by.account_id, reference)
            _check_not_builtin(original, "duplicated: its rights come from its name")
            copy = _insert(connection, by, body.name or copy_name(connection, groups, by.account_id, original.name))
            trail.record(connection, by, "create", Resource.GROUP, copy.id, name=copy.name, copy_of=original.id)
            roles = roles_by_group(connection, [original.id]).get(original.id, [])
            self._give_roles(connection, by, copy, roles)
            self._add(connection, by, copy, members_of(connection, [original.id]).get(original.id, []))
            return _records(connection, [copy])[0]

    def _add(self, connection: sa.Connection, by: Caller, group: sa.Row[Any], users: Rows) -> None:
        if not users:
            return
        require(by, Action.UPDATE, Resource.GROUP)
        check_group(connection, by, group.id, group.name)
        _take_back_removals(connection, by, group, users)
        insert = conflict_insert(connection, memberships).on_conflict_do_nothing()
        connection.execute(insert, [{"group_id": group.id, "user_id": user.id} for user in users])
        trail.record(connection, by, "add_users", Resource.GROUP, group.id, users=[user.email for user in users])

    def _remove(self, connection: sa.Connection, by: Caller, group: sa.Row[Any], users: Rows) -> None:
        if not users:
            return
        require(by, Action.MANAGE, Resource.GROUP)
        check_group(connection, by, group.id, group.name)
        ids = [user.id for user in users]
        connection.execute(
            sa.delete(memberships).where(memberships.c.group_id == group.id, memberships.c.user_id.in_(ids))
        )
        if connection.execute(enabled_administrators(by.account_id)).first() is None:
            raise StateConflict(f"no enabled member of {BuiltinGroup.ADMIN} would be left; add another first")
        remember = conflict_insert(connection, removed_members).on_conflict_do_nothing()
        connection.execute(remember, [{"group_id": group.id, "user_id": user_id} for user_id in ids])
        trail.record(connection, by, "remove_users", Resource.GROUP, group.id, users=[user.email for user in users])

    def _give_roles(self, connection: sa.Connection, by: Caller, group: sa.Row[Any], roles: Rows) -> None:
        if not roles:
            return
        require(by, Action.MANAGE, Resource.GROUP)
        for role in roles:
            check_permissions(by, permissions_of(role.policies), f"the role {role.name}")
        insert = conflict_insert(connection, group_roles).on_conflict_do_nothing()
        connection.execute(insert, [{"group_id": group.id, "role_id": role.id} for role in roles])
        trail.record(connection, by, "assign_roles", Resource.GROUP, group.id, roles=[role.name for role in roles])

    def _take_roles(self, connection: sa.Connection, by: Caller, group: sa.Row[Any], roles: Rows) -> None:
        if not roles:
            return
        require(by, Action.MANAGE, Resource.GROUP)
        for role in roles:
            check_permissions(by, permissions_of(role.policies), f"the role {role.name}")
        ids = [role.id for role in roles]
        connection.execute(
            sa.delete(group_roles).where(group_roles.c.group_id == group.id, group_roles.c.role_id.in_(ids))
        )
        trail.record(connection, by, "unassign_roles", Resource.GROUP, group.id, roles=[role.name for role in roles])


def _take_back_removals(connection: sa.Connection, by: Caller, group: sa.Row[Any], users: Rows) -> None:
    """Delete the records of users' removal from a group. Raises `Forbidden` unless the caller may remove users.

    The right to add users does not include the right to undo a removal.
    """
    out = sa.and_(removed_members.c.group_id == group.id, removed_members.c.user_id.in_([user.id for user in users]))
    found = set(connection.execute(sa.select(removed_members.c.user_id).where(out)).scalars())
    if not found:
        return
    allowed = decide(by, Action.MANAGE, Resource.GROUP)
    if not allowed.allowed:
        email = next(user.email for user in users if user.id in found)
        raise Forbidden(
            f"{email} was taken out of the group {group.name}, and is put back only by who may do that; "
            f"{allowed.because} (permission to {Action.MANAGE} {Resource.GROUP})"
        )
    connection.execute(sa.delete(removed_members).where(out))


def _named_users(connection: sa.Connection, by: Caller, named: str) -> Rows:
    words = split_words(named)
    if not words:
        raise Invalid("users: name at least one user, by id or e-mail address")
    return find_users(connection, by.account_id, words, "users")


def _insert(connection: sa.Connection, by: Caller, name: str) -> sa.Row[Any]:
    check_free(connection, groups, by.account_id, name, "group")
    values = {"account_id": by.account_id, "name": name}
    return connection.execute(sa.insert(groups).values(**values).returning(groups)).one()


def _rename(connection: sa.Connection, by: Caller, group: sa.Row[Any], name: str) -> sa.Row[Any]:
    _check_not_builtin(group, "renamed")
    check_free(connection, groups, by.account_id, name, "group")
    trail.record(connection, by, "rename", Resource.GROUP, group.id, name=name, before=group.name)
    renamed = sa.update(groups).where(groups.c.id == group.id).values(name=name)
    return connection.execute(renamed.returning(groups)).one()


def _check_not_builtin(group: sa.Row[Any], participle: str) -> None:
    if group.name in set(BuiltinGroup):
        raise StateConflict(f"the group {group.name} is built in and cannot be {participle}")


def _records(connection: sa.Connection, rows: Rows) -> list[Group]:
    ids = [row.id for row in rows]
    members, roles = members_of(connection, ids), roles_by_group(connection, ids)
    return [
        Group(
            id=row.id,
            name=row.name,
            members=[member.id for member in members.get(row.id, [])],
            member_emails=[member.email for member in members.get(row.id, [])],
            roles=[role.id for role in roles.get(row.id, [])],
            role_names=[role.name for role in roles.get(row.id, [])],
        )
        for row in rows
    ]
