"""Policies of single objects: view, set, history (SPEC: View an object policy, Set an object policy)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import ALL, Action, Resource
from svc_jupyter.api.object_policies import (
    ObjectChoice,
    ObjectPolicy,
    PolicyEntry,
    PolicyHistory,
    PolicyUpdate,
    PolicyVersion,
    SourceType,
    actions_of,
)
from svc_jupyter.service.access import policy_versions
from svc_jupyter.service.access.accounts import lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Target, decide, decision
from svc_jupyter.service.access.policy_book import entries_of
from svc_jupyter.service.access.tables import groups, object_policy_versions, users
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.audit import trail
from svc_jupyter.service.commands.record import iso_time
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.paging import Page

Objects = Mapping[SourceType, sa.FromClause]
"""Where the objects are that can have a policy, with the columns id, account_id and user_id: who owns it."""


class ObjectPolicies:
    """The policies of the objects of which there are some in this version."""

    def __init__(
        self, database: Database, tokens: Tokens, objects: Objects, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._objects = objects
        self._clock = clock

    def get(self, choice: ObjectChoice, *, by: Caller) -> ObjectPolicy:
        """Return the policy of an object, an empty one where it was never set. Raises `Forbidden` and `NotFound`."""
        with self._database.connect() as connection:
            self.admit(connection, Action.READ, choice.source_type, choice.source_id, by)
            return _shown(connection, choice.source_type, choice.source_id)

    def set(self, update: PolicyUpdate, *, by: Caller) -> ObjectPolicy:
        """Put a policy in place of the one that is there, at once for every call, and return it.

        It has a `warning` when it takes something from the caller. Raises `Forbidden` without `system-admin`, ownership
        or a role; `NotFound`; and `Invalid` for an entry that names nobody who is there, or what the object has not.
        """
        source_type, source_id = update.source_type, update.source_id
        policy = [entry.model_dump(mode="json", exclude_unset=True) for entry in update.policy]
        with self._tokens.changing_access() as connection:
            lock_account(connection, by.account_id)
            self.admit(connection, Action.UPDATE, source_type, source_id, by)
            _check_entries(connection, update.policy, source_type, by.account_id)
            policy_versions.put(connection, by, source_type, source_id, policy, self._clock())
            trail.record(connection, by, "set_policy", Resource(source_type), source_id, policy=policy)
            shown = _shown(connection, source_type, source_id)
        lost = _lost(by, source_type, source_id, policy)
        if lost:
            shown.warning = (
                f"with this policy you may no longer {', '.join(lost)} {source_type} {source_id}; who owns it or is in "
                "system-admin can change it again"
            )
        return shown

    def history(self, choice: ObjectChoice, page: Page, *, by: Caller) -> PolicyHistory:
        """Return a page of the policies that an object has had, newest first, each with who set it and when."""
        versions = object_policy_versions
        with self._database.connect() as connection:
            self.admit(connection, Action.READ, choice.source_type, choice.source_id, by)
            rows = connection.execute(
                sa.select(versions, users.c.email)
                .join(users, users.c.id == versions.c.user_id)
                .where(versions.c.source_type == choice.source_type.value, versions.c.source_id == choice.source_id)
                .order_by(versions.c.id.desc())
                .offset(page.offset)
                .limit(page.fetch)
            ).all()
        shown, paging_info = page.cut(rows)
        return PolicyHistory(history=[_version(row) for row in shown], paging_info=paging_info)

    def admit(
        self, connection: sa.Connection, action: Action, source_type: SourceType, source_id: int, by: Caller
    ) -> None:
        """Raise unless the object is there and the caller may view or set its policy.

        The object's own policy neither gives nor takes that: else who is locked out could let themselves in, or an
        owner could not.
        """
        table = self._table(source_type)
        row = connection.execute(
            sa.select(table.c.user_id).where(table.c.id == source_id, table.c.account_id == by.account_id)
        ).one_or_none()
        target = Target(source_id, None if row is None else row.user_id)
        found = decide(by, action, Resource.OBJECT_POLICY, target)
        if not found.allowed:
            verb = "set" if action is Action.UPDATE else "view"
            raise Forbidden(f"{found.because} (permission to {verb} the policy of {source_type} {source_id})")
        if row is None:
            raise NotFound(f"there is no {source_type} {source_id} in this account")

    def _table(self, source_type: SourceType) -> sa.FromClause:
        table = self._objects.get(source_type)
        if table is None:
            there = ", ".join(sorted(self._objects))
            raise Invalid(
                f"source_type: objects of type {source_type} have no policies in this version; these have: {there}"
            )
        return table


def _check_entries(
    connection: sa.Connection, policy: Sequence[PolicyEntry], source_type: SourceType, account_id: int
) -> None:
    """Raise `Invalid`, naming the entry, for an action that the object has not and for unknown users and groups."""
    known = {*actions_of(source_type), ALL}
    named_users = {number for entry in policy for number in entry.condition.service_users}
    named_groups = {number for entry in policy for number in entry.condition.service_groups}
    unknown_users = named_users - _there(connection, users, named_users, account_id)
    unknown_groups = named_groups - _there(connection, groups, named_groups, account_id)
    for number, entry in enumerate(policy):
        if wrong := [word for word in entry.action if word not in known]:
            raise Invalid(f"policy.{number}.action: a {source_type} has no action {', '.join(wrong)}")
        for key, ids, unknown in (
            ("service_users", entry.condition.service_users, unknown_users),
            ("service_groups", entry.condition.service_groups, unknown_groups),
        ):
            if wrong_ids := [str(item) for item in ids if item in unknown]:
                raise Invalid(f"policy.{number}.condition.{key}: {', '.join(wrong_ids)}: not in this account")


def _there(connection: sa.Connection, table: sa.Table, ids: Iterable[int], account_id: int) -> set[int]:
    named = sa.bindparam(None, sorted(ids), expanding=True, literal_execute=True, type_=sa.BigInteger())
    return set(
        connection.execute(sa.select(table.c.id).where(table.c.account_id == account_id, table.c.id.in_(named)))
        .scalars()
        .all()
    )


def _lost(by: Caller, source_type: SourceType, source_id: int, policy: policy_versions.Policy) -> list[Action]:
    """Return what the caller could do to the object until now and with `policy` cannot."""
    resource, target, entries = Resource(source_type), Target(source_id), entries_of(policy)
    return [
        action
        for action in actions_of(source_type)
        if decision(by, action, resource, source_id).allowed
        and not decide(by, action, resource, target, entries).allowed
    ]


def _shown(connection: sa.Connection, source_type: SourceType, source_id: int) -> ObjectPolicy:
    row = policy_versions.in_force(connection, source_type, source_id)
    if row is None:
        return ObjectPolicy(policies=[], source_id=source_id, source_type=source_type)
    email = connection.execute(sa.select(users.c.email).where(users.c.id == row.user_id)).scalar_one()
    return ObjectPolicy(
        policies=[PolicyEntry.model_validate(entry) for entry in row.policy],
        source_id=source_id,
        source_type=source_type,
        updated_at=iso_time(row.created_at),
        updated_by=email,
    )


def _version(row: sa.Row[Any]) -> PolicyVersion:
    return PolicyVersion(
        id=row.id,
        policies=[PolicyEntry.model_validate(entry) for entry in row.policy],
        user_id=row.user_id,
        email=row.email,
        created_at=iso_time(row.created_at),
        trace_id=row.trace_id,
    )
