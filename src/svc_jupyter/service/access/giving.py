"""Prevents users from giving rights that they do not have, before a group, role or token is given."""

from __future__ import annotations

from collections.abc import Iterable, Set

import sqlalchemy as sa

from svc_jupyter.api.access import Action, BuiltinGroup, Resource
from svc_jupyter.api.object_policies import CLUSTER_ACTIONS
from svc_jupyter.service.access.caller_reading import CallerReader, roles_of_groups
from svc_jupyter.service.access.callers import EVERYTHING, MEMBERS_RIGHTS, Caller, Permission
from svc_jupyter.service.access.permissions import decide, decision
from svc_jupyter.service.ground.errors import Forbidden, NotFound


def check_permissions(by: Caller, permissions: Set[Permission], what: str) -> None:
    """Raise `Forbidden` when `by` lacks one of the permissions; `what` names their source for the message."""
    if by.is_admin:
        return
    for action, resource in sorted(permissions):
        if not decide(by, action, resource).allowed:
            raise Forbidden(
                f"{what} gives more rights than you have: permission to {action} {resource}; ask a member of "
                f"{BuiltinGroup.ADMIN}"
            )


def check_group(connection: sa.Connection, by: Caller, group_id: int, name: str) -> None:
    """Raise `Forbidden` when a group, its roles or a policy give a right that `by` lacks."""
    if by.is_admin:
        return
    if name == BuiltinGroup.ADMIN:
        raise Forbidden(f"the group {name} gives more rights than you have; ask a member of it")
    given = set(roles_of_groups(connection, [group_id]))
    if name == BuiltinGroup.USER:
        given |= MEMBERS_RIGHTS
    check_permissions(by, given, f"the group {name}")
    _check_policies(by, (group_id,), name)


def check_user(connection: sa.Connection, reader: CallerReader, by: Caller, user_id: int) -> None:
    """Raise `Forbidden` when a user, for whom `by` makes a token, has a right that `by` lacks.

    Raises `NotFound` for an unknown user or one of another account.
    """
    found = reader.user(connection, by.account_id, user_id)
    if found is None:
        raise NotFound(f"there is no user {user_id} in this account")
    user, _enabled = found
    if by.is_admin:
        return
    given = EVERYTHING if user.is_admin else {*user.rights, *(MEMBERS_RIGHTS if user.is_member else ())}
    check_permissions(by, given, f"a token of {user.email}")
    for resource, object_id in by.policies.about(user_id, user.group_ids):
        _check_object(by, user, resource, object_id)


def _check_policies(by: Caller, group_ids: Iterable[int], name: str) -> None:
    for resource, object_id in by.policies.about(0, group_ids):
        allowed = {
            action
            for entry in by.policies.of(resource, object_id)
            if entry.allows and not entry.groups.isdisjoint(group_ids)
            for action in CLUSTER_ACTIONS
            if entry.covers(action)
        }
        for action in sorted(allowed):
            _require_own(by, action, resource, object_id, f"the group {name}")


def _check_object(by: Caller, user: Caller, resource: Resource, object_id: int) -> None:
    for action in CLUSTER_ACTIONS:
        if decision(user, action, resource, object_id).allowed:
            _require_own(by, action, resource, object_id, f"a token of {user.email}")


def _require_own(by: Caller, action: Action, resource: Resource, object_id: int, what: str) -> None:
    if not decision(by, action, resource, object_id).allowed:
        raise Forbidden(f"{what} gives more rights than you have: permission to {action} {resource} {object_id}")
