"""Reads the user of a token, or a user by id, with their current rights."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import require_membership
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook, entries_of
from svc_jupyter.service.access.rights import NO_RIGHTS, Rights, rights_of
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, NotFound
from svc_jupyter.service.schema.access import (
    group_roles,
    groups,
    memberships,
    object_policy_versions,
    roles,
    tokens,
    users,
)

_VERSIONS = object_policy_versions
_WHO = (
    sa.select(
        users.c.id.label("user_id"),
        users.c.account_id,
        users.c.email,
        users.c.enabled,
        groups.c.id.label("group_id"),
        groups.c.name.label("group_name"),
        # The newest policy of the account, to check the ones in memory.
        sa.select(sa.func.max(_VERSIONS.c.id))
        .where(_VERSIONS.c.account_id == users.c.account_id, sa.not_(_VERSIONS.c.replaced))
        .scalar_subquery()
        .label("policy_version"),
    )
    .select_from(users)
    .outerjoin(memberships, memberships.c.user_id == users.c.id)
    .outerjoin(groups, groups.c.id == memberships.c.group_id)
)
_BEARER: sa.Select[Any] = (
    _WHO.add_columns(tokens.c.id.label("token_id"), tokens.c.expires_at)
    .join(tokens, tokens.c.user_id == users.c.id)
    .where(tokens.c.digest == sa.bindparam("digest"))
)
_USER: sa.Select[Any] = _WHO.where(users.c.id == sa.bindparam("wanted"), users.c.account_id == sa.bindparam("account"))
_ROLES = (
    sa.select(roles.c.name, roles.c.policies)
    .where(
        roles.c.id.in_(
            sa.select(group_roles.c.role_id).where(group_roles.c.group_id.in_(sa.bindparam("groups", expanding=True)))
        )
    )
    .order_by(roles.c.id)
)
_CHANGED = (
    sa.select(_VERSIONS.c.id, _VERSIONS.c.source_type, _VERSIONS.c.source_id, _VERSIONS.c.policy)
    .where(
        _VERSIONS.c.account_id == sa.bindparam("account"),
        sa.not_(_VERSIONS.c.replaced),
        _VERSIONS.c.id > sa.bindparam("known"),
    )
    .order_by(_VERSIONS.c.id)
)


class CallerReader:
    """Reads callers over a given connection. Policies are kept in memory and shared by all callers."""

    def __init__(self) -> None:
        self._books: dict[int, PolicyBook] = {}
        self._lock = threading.Lock()

    def bearer(self, connection: sa.Connection, digest: str, generation: int) -> tuple[Caller, bool] | None:
        """Return the caller of a token's digest, and whether the user is enabled; None for an unknown token."""
        rows = connection.execute(_BEARER, {"digest": digest}).all()
        if not rows:
            return None
        first = rows[0]
        caller = self._caller(connection, rows)
        caller = replace(caller, token_id=first.token_id, valid_until=first.expires_at, generation=generation)
        return caller, first.enabled

    def user(self, connection: sa.Connection, account_id: int, user_id: int) -> tuple[Caller, bool] | None:
        """Return a user as a caller without a token, and whether the user is enabled; None for an unknown user."""
        rows = connection.execute(_USER, {"wanted": user_id, "account": account_id}).all()
        if not rows:
            return None
        return self._caller(connection, rows), rows[0].enabled

    def _caller(self, connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> Caller:
        first = rows[0]
        named = {row.group_id: row.group_name for row in rows if row.group_id is not None}
        return Caller(
            user_id=first.user_id,
            account_id=first.account_id,
            email=first.email,
            groups=frozenset(named.values()),
            token_id=0,
            group_ids=frozenset(named),
            rights=roles_of_groups(connection, named),
            policies=self._policies(connection, first.account_id, first.policy_version or 0),
        )

    def _policies(self, connection: sa.Connection, account_id: int, version: int) -> PolicyBook:
        """Return the account's policies as of `version` or later; reads only the changes since the last time."""
        book = self._books.get(account_id, NO_POLICIES)
        if version <= book.version:
            return book
        with self._lock:
            book = self._books.get(account_id, NO_POLICIES)
            if version <= book.version:
                return book
            rows = connection.execute(_CHANGED, {"account": account_id, "known": book.version}).all()
            changed = {(Resource(row.source_type), row.source_id): entries_of(row.policy) for row in rows}
            newest = max((row.id for row in rows), default=version)
            self._books[account_id] = book.with_changes(newest, changed)
            return self._books[account_id]


def roles_of_groups(connection: sa.Connection, group_ids: Iterable[int]) -> Rights:
    """Return the combined permissions of the roles of some groups."""
    wanted = list(group_ids)
    if not wanted:
        return NO_RIGHTS
    return rights_of((row.name, row.policies) for row in connection.execute(_ROLES, {"groups": wanted}))


class ActingUsers:
    """Finds the users in whose name the service acts. Blocks: call it from worker threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._callers = CallerReader()

    def caller(self, account_id: int, user_id: int) -> Caller:
        """Return a user, in whose name the service acts, as a caller with their current groups.

        Raises `NotFound` for an unknown user, `Forbidden` for a disabled one and one without any right.
        """
        with self._database.connect() as connection:
            found = self._callers.user(connection, account_id, user_id)
        if found is None:
            raise NotFound(f"there is no user {user_id} in this account")
        caller, is_enabled = found
        if not is_enabled:
            raise Forbidden(f"user {caller.email} is disabled; an administrator can enable them")
        require_membership(caller)
        return caller
