"""Policies of single objects: view, set, history, and why a user may or may not do something to an object."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import ALL, Access, Action, BuiltinGroup, Resource
from svc_jupyter.api.object_policies import (
    ObjectChoice,
    ObjectDecision,
    ObjectDecisions,
    ObjectPolicy,
    PolicyEntry,
    PolicyHistory,
    PolicyUpdate,
    PolicyVersion,
    SourceType,
    actions_of,
)
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.callers import NOT_OF_OWNERS, Caller
from svc_jupyter.service.access.lookups import find_user
from svc_jupyter.service.access.permissions import Decision, Target, decide, decision, require
from svc_jupyter.service.access.policy_book import entries_of
from svc_jupyter.service.access.policy_objects import ByPath, Objects, PolicyObject
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import groups, object_policy_versions, users

Decide = Callable[[sa.Connection, Caller, Action, int], Decision]
"""Decides about the object with an id like the calls of its kind."""
Deciding = Mapping[SourceType, Decide]
"""The kinds that need more than the object's own policy and the caller's groups."""


class ObjectPolicies:
    """The policies of objects: in `objects` those of tables, in `by_path` those named by their paths."""

    def __init__(
        self,
        database: Database,
        tokens: Tokens,
        objects: Objects,
        clock: Callable[[], float] = time.time,
        by_path: ByPath = MappingProxyType({}),
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._objects = objects
        self._clock = clock
        self._by_path = by_path

    def get(self, choice: ObjectChoice, *, by: Caller) -> ObjectPolicy:
        """Return the policy of an object, an empty one if it was never set. Raises `Forbidden` and `NotFound`."""
        with self._database.connect() as connection:
            return _shown(connection, self.admit(connection, Action.READ, choice, by))

    def set(self, update: PolicyUpdate, *, by: Caller) -> ObjectPolicy:
        """Replace the policy of an object, with immediate effect, and return it.

        It has a `warning` when it takes something from the caller. Raises `Forbidden` without `system-admin`, ownership
        or a role, and for an entry that gives more than ownership of the object does; `NotFound`; and `Invalid` for an
        entry with an unknown user or group, or an action that the object does not have.
        """
        source_type = update.source_type
        policy = [entry.model_dump(mode="json", exclude_unset=True) for entry in update.policy]
        with self._tokens.changing_access() as connection:
            found = self.admit(connection, Action.UPDATE, update, by)
            _check_own_rights(by, update.policy, found)
            _check_entries(connection, update.policy, source_type, by.account_id)
            found, source_id = self._numbered(connection, found, by)
            policy_versions.put(connection, by, source_type, source_id, policy, self._clock())
            named: dict[str, Any] = {} if found.path is None else {"id": source_id}
            trail.record(
                connection, by, "set_policy", Resource(source_type), found.path or source_id, policy=policy, **named
            )
            shown = _shown(connection, found)
        lost = _lost(by, source_type, source_id, policy)
        if lost:
            shown.warning = (
                f"with this policy you may no longer {', '.join(lost)} {found.name}; who owns it or is in system-admin "
                "can change it again"
            )
        return shown

    def history(self, choice: ObjectChoice, page: Page, *, by: Caller) -> PolicyHistory:
        """Return a page of an object's policies, newest first, each with its author and time."""
        versions = object_policy_versions
        with self._database.connect() as connection:
            found = self.admit(connection, Action.READ, choice, by)
            shown, paging_info = page.read(
                connection,
                sa.select(versions, users.c.email)
                .join(users, users.c.id == versions.c.user_id)
                .where(versions.c.source_type == choice.source_type.value, versions.c.source_id == found.id)
                .order_by(versions.c.id.desc()),
            )
        return PolicyHistory(history=[_version(row) for row in shown], paging_info=paging_info)

    def admit(self, connection: sa.Connection, action: Action, choice: ObjectChoice, by: Caller) -> PolicyObject:
        """Return the chosen object; raise unless it exists and the caller may view or set its policy.

        The object's own policy has no influence on that: otherwise locked-out users could let themselves in, or an
        owner could be locked out.
        """
        source_type, source_id = choice.source_type, choice.source_id
        found = self._found(connection, source_type, source_id, by)
        name = f"{source_type} {source_id}" if found is None else found.name
        # The id only names the object; its owner decides.
        allowed = decide(by, action, Resource.OBJECT_POLICY, Target(0, None if found is None else found.owner_id))
        if not allowed.allowed:
            verb = "set" if action is Action.UPDATE else "view"
            raise Forbidden(f"{allowed.because} (permission to {verb} the policy of {name})")
        if found is None:
            raise NotFound(f"there is no {name} in this account")
        return found

    def decide(self, who: Caller, action: Action, found: PolicyObject) -> Decision | None:
        """Return the decision of calls about an object with a path; None for other objects."""
        by_path = self._by_path.get(found.source_type)
        return None if by_path is None else by_path.decide(who, action, found)

    def _found(
        self, connection: sa.Connection, source_type: SourceType, source_id: int | str, by: Caller
    ) -> PolicyObject | None:
        by_path = self._by_path.get(source_type)
        if by_path is not None:
            return by_path.find(connection, source_id, by)
        table = self._objects[source_type]
        query = sa.select(table.c.id, table.c.user_id)
        row = connection.execute(
            query.where(table.c.id == source_id, table.c.account_id == by.account_id)
        ).one_or_none()
        return None if row is None else PolicyObject(source_type, row.id, row.user_id)

    def _numbered(self, connection: sa.Connection, found: PolicyObject, by: Caller) -> tuple[PolicyObject, int]:
        by_path = self._by_path.get(found.source_type)
        if by_path is not None:
            found = by_path.numbered(connection, found, by)
        assert found.id is not None, found.source_type
        return found, found.id


def _check_own_rights(by: Caller, policy: Sequence[PolicyEntry], found: PolicyObject) -> None:
    """Raise `Forbidden` for an entry that allows by name what the caller may not do and ownership does not give."""
    resource = Resource(found.source_type)
    for action in (action for action, of in NOT_OF_OWNERS if of is resource):
        numbers = [
            number for number, entry in enumerate(policy) if entry.access is Access.ALLOW and action in entry.action
        ]
        if numbers and not decision(by, action, resource, found.id).allowed:
            raise Forbidden(
                f"policy.{numbers[0]}.action: this gives more rights than you have: permission to {action} "
                f"{found.name}; ask a member of {BuiltinGroup.ADMIN}"
            )


def _check_entries(
    connection: sa.Connection, policy: Sequence[PolicyEntry], source_type: SourceType, account_id: int
) -> None:
    """Raise `Invalid`, naming the entry, for an action that the object does not have and unknown users and groups."""
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
    """Return the caller's actions on the object that `policy` takes away."""
    resource, target, entries = Resource(source_type), Target(source_id), entries_of(policy)
    return [
        action
        for action in actions_of(source_type)
        if decision(by, action, resource, source_id).allowed
        and not decide(by, action, resource, target, entries).allowed
    ]


def _shown(connection: sa.Connection, found: PolicyObject) -> ObjectPolicy:
    about: dict[str, Any] = {"source_id": found.source_id, "source_type": found.source_type}
    if found.path is not None:
        about["path"] = found.path
    row = None if found.id is None else policy_versions.in_force(connection, found.source_type, found.id)
    if row is None:
        return ObjectPolicy(policies=[], **about)
    email = connection.execute(sa.select(users.c.email).where(users.c.id == row.user_id)).scalar_one()
    return ObjectPolicy(
        policies=[PolicyEntry.model_validate(entry) for entry in row.policy],
        **about,
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


class Explanations:
    """Reports what a user of the account may do to an object, as their next call would be decided."""

    def __init__(self, database: Database, tokens: Tokens, policies: ObjectPolicies, deciding: Deciding) -> None:
        self._database = database
        self._tokens = tokens
        self._policies = policies
        self._deciding = deciding

    def explain(self, choice: ObjectChoice, user: str | None, action: Action | None, *, by: Caller) -> ObjectDecisions:
        """Return what a user, given by id or e-mail address, may do to an object; by default the caller.

        Without `action`, reports all actions that its policy can name. Raises `Forbidden` for a caller who may not view
        the object's policy or, for another user, users; `NotFound` for an unknown object; and `Invalid` for an unknown
        user or action.
        """
        source_type = choice.source_type
        known = actions_of(source_type)
        if action is not None and action not in known:
            raise Invalid(f"action: a {source_type} has no action {action}; it has: {', '.join(known)}")
        with self._database.connect() as connection:
            about = self._policies.admit(connection, Action.READ, choice, by)
            who, is_enabled = self._who(connection, user, by)
            asked = known if action is None else (action,)
            found = [(one, self._decision(connection, who, one, about, is_enabled=is_enabled)) for one in asked]
        return ObjectDecisions(
            source_id=about.source_id,
            source_type=source_type,
            user_id=who.user_id,
            email=who.email,
            decisions=[ObjectDecision(action=one, allowed=it.allowed, because=it.because) for one, it in found],
        )

    def _who(self, connection: sa.Connection, user: str | None, by: Caller) -> tuple[Caller, bool]:
        if user is None:
            return by, True
        if user not in (str(by.user_id), by.email):
            require(by, Action.READ, Resource.USER)
        try:
            user_id = find_user(connection, by.account_id, user).id
        except NotFound as error:
            raise Invalid(f"user: {error}") from None
        found = self._tokens.reader.user(connection, by.account_id, user_id)
        if found is None:
            raise Invalid(f"user: there is no user {user_id} in this account")
        return found

    def _decision(
        self, connection: sa.Connection, who: Caller, action: Action, about: PolicyObject, *, is_enabled: bool
    ) -> Decision:
        if not is_enabled:
            return Decision(False, f"{who.email} is disabled; an administrator can enable them")
        by_path = self._policies.decide(who, action, about)
        if by_path is not None:
            return by_path
        decide = self._deciding.get(about.source_type)
        if decide is not None and about.id is not None:
            return decide(connection, who, action, about.id)
        return decision(who, action, Resource(about.source_type), about.id)
