"""Reads callers with their current rights: of a token, by id, or many at once. Keeps those of recent calls."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.callers import NO_RIGHTS, Caller, Rights, rights_of
from svc_jupyter.service.access.permissions import require_membership
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook, entries_of
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
from svc_jupyter.service.schema.commands import commands

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
    _WHO.add_columns(tokens.c.id.label("token_id"), tokens.c.expires_at, tokens.c.command_id)
    .join(tokens, tokens.c.user_id == users.c.id)
    .outerjoin(commands, commands.c.id == tokens.c.command_id)
    .where(
        tokens.c.digest == sa.bindparam("digest"),
        # The end of a command deletes its token; one that is left over is worth nothing.
        tokens.c.command_id.is_(None) | (commands.c.status == CommandStatus.RUNNING.value),
    )
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
_ROLES_BY_ID: sa.Select[Any] = sa.select(roles.c.id, roles.c.name, roles.c.policies).where(
    roles.c.id.in_(sa.bindparam("roles", expanding=True))
)
CACHE_LIMIT = 10_000
"""Most tokens in the cache; the oldest one is dropped first."""


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
        if first.command_id is not None:
            caller = caller.in_run(first.command_id)
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
    known = {row.id: row for row in connection.execute(_ROLES_BY_ID, {"roles": sorted(wanted)})} if wanted else {}
    return {
        user_id: replace(
            owner,
            rights=rights_of((known[role].name, known[role].policies) for role in sorted(theirs[user_id] & set(known))),
        )
        for user_id, owner in owners.items()
    }


@dataclass(frozen=True, slots=True)
class KnownCaller:
    """What the database returned for a token, and when, in Unix seconds."""

    caller: Caller
    read_at: float


class CallerCache:
    """Known callers by their token's digest. `max_age` is in seconds; None keeps them until `clear`."""

    def __init__(self, max_age: float | None = None, limit: int = CACHE_LIMIT) -> None:
        self._max_age = max_age
        self._limit = limit
        self._known: dict[str, KnownCaller] = {}
        self._generation = 0
        self._lock = threading.Lock()

    @property
    def generation(self) -> int:
        """A number that changes with every `clear`; take it before reading the database and pass it to `put`."""
        return self._generation

    def get(self, digest: str, now: float) -> KnownCaller | None:
        """Return a known caller that was read within `max_age`, also when the clock was set back."""
        known = self._known.get(digest)
        if known is None or self._max_age is None or 0 <= now - known.read_at < self._max_age:
            return known
        return None

    def put(self, digest: str, known: KnownCaller, generation: int) -> None:
        """Store a caller, unless the cache was cleared since `generation`: then it may be out of date."""
        with self._lock:
            if generation != self._generation:
                return
            self._known.pop(digest, None)
            if len(self._known) >= self._limit:
                del self._known[next(iter(self._known))]
            self._known[digest] = known

    def clear(self) -> None:
        """Forget all callers; one that is being read now is not stored either."""
        with self._lock:
            self._generation += 1
            self._known.clear()
