"""The account's roles and their permissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.groups import Duplicate, Role, RoleCreate, RoleList, RolePolicy, RoleUpdate
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.accounts import lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.giving import check_permissions
from svc_jupyter.service.access.naming import copy_name, find_role
from svc_jupyter.service.access.permissions import require
from svc_jupyter.service.access.rights import permissions_of
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import group_roles, groups, roles

Policies = Sequence[Mapping[str, Any]]


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
            rows = connection.execute(
                sa.select(roles)
                .where(roles.c.account_id == by.account_id)
                .order_by(roles.c.id.desc())
                .offset(page.offset)
                .limit(page.fetch)
            ).all()
            shown, paging_info = page.cut(rows)
            return RoleList(roles=_records(connection, shown), paging_info=paging_info)

    def get(self, reference: str, *, by: Caller) -> Role:
        """Return a role. Raises `NotFound`."""
        require(by, Action.READ, Resource.ROLE)
        with self._database.connect() as connection:
            return _records(connection, [find_role(connection, by.account_id, reference)])[0]

    def create(self, body: RoleCreate, *, by: Caller) -> Role:
        """Create a role and return it. Raises `Invalid` for a name that is taken."""
        require(by, Action.CREATE, Resource.ROLE)
        with self._changing(by) as connection:
            return self._insert(connection, by, body.name, _stored(body.policies))

    def update(self, reference: str, body: RoleUpdate, *, by: Caller) -> Role:
        """Change a role for all groups that have it, and return it. Raises `NotFound`, and `Invalid` like `create`."""
        require(by, Action.UPDATE, Resource.ROLE)
        with self._changing(by) as connection:
            row = find_role(connection, by.account_id, reference)
            values: dict[str, Any] = {}
            if body.name is not None and body.name != row.name:
                _check_free(connection, by, body.name)
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
        with self._changing(by) as connection:
            row = find_role(connection, by.account_id, reference)
            check_permissions(by, permissions_of(row.policies), f"the role {row.name}")
            connection.execute(sa.delete(roles).where(roles.c.id == row.id))
            trail.record(connection, by, "delete", Resource.ROLE, row.id, name=row.name)
            return int(row.id)

    def duplicate(self, reference: str, body: Duplicate, *, by: Caller) -> Role:
        """Create a role with the permissions of another, and return it; no group has it yet. Raises like `create`."""
        require(by, Action.CREATE, Resource.ROLE)
        with self._changing(by) as connection:
            original = find_role(connection, by.account_id, reference)
            name = body.name or copy_name(connection, roles, by.account_id, original.name)
            return self._insert(connection, by, name, original.policies)

    @contextmanager
    def _changing(self, by: Caller) -> Iterator[sa.Connection]:
        with self._tokens.changing_access() as connection:
            lock_account(connection, by.account_id)
            yield connection

    @staticmethod
    def _insert(connection: sa.Connection, by: Caller, name: str, policies: Policies) -> Role:
        _check_free(connection, by, name)
        check_permissions(by, permissions_of(policies), f"the role {name}")
        values = {"account_id": by.account_id, "name": name, "policies": list(policies)}
        row = connection.execute(sa.insert(roles).values(**values).returning(roles)).one()
        trail.record(connection, by, "create", Resource.ROLE, row.id, name=name, policies=list(policies))
        return _records(connection, [row])[0]


def _stored(policies: Sequence[RolePolicy]) -> list[dict[str, Any]]:
    return [entry.model_dump(mode="json") for entry in policies]


def _check_free(connection: sa.Connection, by: Caller, name: str) -> None:
    same = sa.select(roles.c.id).where(roles.c.account_id == by.account_id, roles.c.name == name)
    known = connection.execute(same).scalar()
    if known is not None:
        raise Invalid(f"name: role {known} is called {name} already")


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
