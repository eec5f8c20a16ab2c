"""The account's users and roles, and the parts of this room, built once for the service.

Administrators invite, enable and disable users.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup, Invitation, User, UserList
from svc_jupyter.api.groups import Duplicate, Role, RoleCreate, RoleList, RolePolicy, RoleUpdate
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.callers import Caller, permissions_of
from svc_jupyter.service.access.giving import check_group, check_permissions
from svc_jupyter.service.access.group_changes import Groups
from svc_jupyter.service.access.lookups import (
    check_free,
    chosen_groups,
    copy_name,
    enabled_administrators,
    find_role,
    group_ids,
    groups_of,
)
from svc_jupyter.service.access.object_policies import Deciding, Explanations, ObjectPolicies
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.access.policy_objects import ByPath, Objects
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.ids import next_id
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import group_roles, groups, memberships, roles, users

Policies = Sequence[Mapping[str, Any]]


class Users:
    """Lists, invites, enables and disables the users of the caller's account."""

    def __init__(self, database: Database, tokens: Tokens, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._tokens = tokens
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> UserList:
        """Return a page of the account's users, newest first."""
        require(by, Action.READ, Resource.USER)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection, sa.select(users).where(users.c.account_id == by.account_id).order_by(users.c.id.desc())
            )
            memberships_of = groups_of(connection, [row.id for row in shown])
        return UserList(
            users=[_user(row, memberships_of.get(row.id, [])) for row in shown],
            paging_info=paging_info,
        )

    def invite(self, invitation: Invitation, *, by: Caller) -> User:
        """Create a user with an e-mail address and return it; their token is created separately.

        Raises `Invalid` for an unknown group, and for an address that the account already has (case-insensitively), and
        `Forbidden` for a group with more rights than the caller has.
        """
        require(by, Action.CREATE, Resource.USER)
        email = _normalised(invitation.invitee_email)
        with self._tokens.changing_access() as connection:
            ids = group_ids(connection, by.account_id)
            chosen = chosen_groups(invitation.groups, ids)
            for name in chosen:
                check_group(connection, by, ids[name], name)
            same_email = sa.select(users.c.id).where(users.c.account_id == by.account_id, users.c.email == email)
            known = connection.execute(same_email).scalar()
            if known is not None:
                raise Invalid(f"invitee_email: {email} is in this account already, as user {known}")
            row = connection.execute(
                sa.insert(users)
                .values(
                    **next_id(connection, users),
                    account_id=by.account_id,
                    email=email,
                    name=email.partition("@")[0],
                    enabled=True,
                    created_at=self._clock(),
                )
                .returning(users)
            ).one()
            connection.execute(sa.insert(memberships), [{"group_id": ids[name], "user_id": row.id} for name in chosen])
            trail.record(connection, by, "invite", Resource.USER, row.id, email=email, groups=sorted(chosen))
        return _user(row, sorted(chosen))

    def enable(self, user_id: int, *, by: Caller) -> User:
        """Let a user make calls again, and return the user. Raises `Forbidden` like `disable`."""
        require(by, Action.UPDATE, Resource.USER)
        return self._set_enabled(user_id, enabled=True, by=by)

    def disable(self, user_id: int, *, by: Caller) -> User:
        """Refuse all calls of a user from now on, and return the user; their commands continue to their end.

        Raises `Forbidden` for an administrator unless the caller is one, `StateConflict` for the last enabled one,
        since that could not be undone.
        """
        require(by, Action.UPDATE, Resource.USER)
        return self._set_enabled(user_id, enabled=False, by=by)

    def _set_enabled(self, user_id: int, *, enabled: bool, by: Caller) -> User:
        with self._tokens.changing_access() as connection:
            row = connection.execute(
                sa.update(users)
                .where(users.c.id == user_id, users.c.account_id == by.account_id)
                .values(enabled=enabled)
                .returning(users)
            ).one_or_none()
            if row is None:
                raise NotFound(f"there is no user {user_id} in this account")
            in_groups = groups_of(connection, [user_id]).get(user_id, [])
            if BuiltinGroup.ADMIN in in_groups and not by.is_admin:
                verb = "enable" if enabled else "disable"
                raise Forbidden(f"{row.email} is in {BuiltinGroup.ADMIN}: only a member of it may {verb} them")
            if not enabled and connection.execute(enabled_administrators(by.account_id)).first() is None:
                raise StateConflict(
                    f"{row.email} is the last enabled member of {BuiltinGroup.ADMIN}; enable or invite another first"
                )
            trail.record(connection, by, "enable" if enabled else "disable", Resource.USER, user_id, email=row.email)
            return _user(row, in_groups)


def _normalised(email: str) -> str:
    """Return an address in the form in which it is compared and stored, without regard to case."""
    lowered = email.lower()
    limit = users.c.email.type.length  # type: ignore[attr-defined]
    if len(lowered) > limit:  # some letters become two in lower case
        raise Invalid(f"invitee_email: must have at most {limit} characters in lower case")
    return lowered


def _user(row: sa.Row[Any], in_groups: list[str]) -> User:
    return User(id=row.id, email=row.email, name=row.name, groups=in_groups, enabled=row.enabled)


class Roles:
    """Lists and changes roles. `reference` is an id or a name; a change takes effect at once.

    Every method raises `Forbidden` without the permission, and for a role with permissions that the caller lacks.
    """

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self._database = database
        self._tokens = tokens

    def list(self, page: Page, *, by: Caller) -> RoleList:
        """Return a page of the account's roles, newest first."""
        require(by, Action.READ, Resource.ROLE)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection, sa.select(roles).where(roles.c.account_id == by.account_id).order_by(roles.c.id.desc())
            )
            return RoleList(roles=_records(connection, shown), paging_info=paging_info)

    def get(self, reference: str, *, by: Caller) -> Role:
        """Return a role. Raises `NotFound`."""
        require(by, Action.READ, Resource.ROLE)
        with self._database.connect() as connection:
            return _records(connection, [find_role(connection, by.account_id, reference)])[0]

    def create(self, body: RoleCreate, *, by: Caller) -> Role:
        """Create a role and return it. Raises `Invalid` for a name that is taken."""
        require(by, Action.CREATE, Resource.ROLE)
        with self._tokens.changing_access() as connection:
            return self._insert(connection, by, body.name, _stored(body.policies))

    def update(self, reference: str, body: RoleUpdate, *, by: Caller) -> Role:
        """Change a role for all groups that have it, and return it. Raises `NotFound`, and `Invalid` like `create`."""
        require(by, Action.UPDATE, Resource.ROLE)
        with self._tokens.changing_access() as connection:
            row = find_role(connection, by.account_id, reference)
            values: dict[str, Any] = {}
            if body.name is not None and body.name != row.name:
                check_free(connection, roles, by.account_id, body.name, "role")
                values["name"] = body.name
            if body.policies is not None:
                values["policies"] = _stored(body.policies)
                check_permissions(by, permissions_of(row.policies), f"the role {row.name}")
                check_permissions(by, permissions_of(values["policies"]), f"the role {row.name}")
            if values:
                row = connection.execute(
                    sa.update(roles).where(roles.c.id == row.id).values(**values).returning(roles)
                ).one()
                trail.record(connection, by, "update", Resource.ROLE, row.id, **values)
            return _records(connection, [row])[0]

    def delete(self, reference: str, *, by: Caller) -> int:
        """Delete a role, also for the groups that have it; return its id. Raises `NotFound`."""
        require(by, Action.DELETE, Resource.ROLE)
        with self._tokens.changing_access() as connection:
            row = find_role(connection, by.account_id, reference)
            check_permissions(by, permissions_of(row.policies), f"the role {row.name}")
            connection.execute(sa.delete(roles).where(roles.c.id == row.id))
            trail.record(connection, by, "delete", Resource.ROLE, row.id, name=row.name)
            return int(row.id)

    def duplicate(self, reference: str, body: Duplicate, *, by: Caller) -> Role:
        """Create a role with the permissions of another, and return it; no group has it yet. Raises like `create`."""
        require(by, Action.CREATE, Resource.ROLE)
        with self._tokens.changing_access() as connection:
            original = find_role(connection, by.account_id, reference)
            name = body.name or copy_name(connection, roles, by.account_id, original.name)
            return self._insert(connection, by, name, original.policies)

    @staticmethod
    def _insert(connection: sa.Connection, by: Caller, name: str, policies: Policies) -> Role:
        check_free(connection, roles, by.account_id, name, "role")
        check_permissions(by, permissions_of(policies), f"the role {name}")
        values = {"account_id": by.account_id, "name": name, "policies": list(policies)}
        row = connection.execute(sa.insert(roles).values(**values).returning(roles)).one()
        trail.record(connection, by, "create", Resource.ROLE, row.id, name=name, policies=list(policies))
        return _records(connection, [row])[0]


def _stored(policies: Sequence[RolePolicy]) -> list[dict[str, Any]]:
    return [entry.model_dump(mode="json") for entry in policies]


def _records(connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> list[Role]:
    having = _groups_with(connection, [row.id for row in rows])
    return [
        Role(
            id=row.id,
            name=row.name,
            policies=row.policies,
            groups=[group.id for group in having[row.id]],
            group_names=[group.name for group in having[row.id]],
        )
        for row in rows
    ]


def _groups_with(connection: sa.Connection, role_ids: Collection[int]) -> Mapping[int, list[sa.Row[Any]]]:
    query: sa.Select[Any] = (
        sa.select(group_roles.c.role_id, groups.c.id, groups.c.name)
        .join(groups, groups.c.id == group_roles.c.group_id)
        .where(group_roles.c.role_id.in_(role_ids))
        .order_by(groups.c.id)
    )
    found: defaultdict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.role_id].append(row)
    return found


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call the service, for which account, and with which permissions."""

    accounts: Accounts
    tokens: Tokens
    users: Users
    groups: Groups
    roles: Roles
    object_policies: ObjectPolicies
    explanations: Explanations

    @classmethod
    def of(
        cls,
        database: Database,
        bus: Bus,
        settings: Settings,
        clock: Callable[[], float] = time.time,
        objects: Objects = MappingProxyType({}),
        deciding: Deciding = MappingProxyType({}),
        by_path: ByPath = MappingProxyType({}),
    ) -> Self:
        """Return the parts over one database; `clock` returns Unix seconds, `objects` can have policies.

        `deciding` has the kinds of objects whose calls need more than the object's own policy, `by_path` the kinds that
        are named by a path.
        """
        tokens = Tokens(database, bus, clock)
        policies = ObjectPolicies(database, tokens, objects, clock, by_path)
        return cls(
            accounts=Accounts(database, settings),
            tokens=tokens,
            users=Users(database, tokens, clock),
            groups=Groups(database, tokens, clock),
            roles=Roles(database, tokens),
            object_policies=policies,
            explanations=Explanations(database, tokens, policies, deciding),
        )
