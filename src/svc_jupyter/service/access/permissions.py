"""Who may do what: pure functions of groups, action and resource (SPEC: Authentication 2 and 3). Default deny."""

from __future__ import annotations

from collections.abc import Set
from enum import StrEnum

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.errors import Forbidden


class Action(StrEnum):
    """What is done to a resource."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    MANAGE = "manage"
    """Act in another user's place: their tokens."""


class Resource(StrEnum):
    """To what it is done; the words are those of role policies (CONVENTIONS: Access)."""

    ACCOUNT = "account"
    COMMAND = "command"
    DB_TAP = "db_tap"
    USER = "user"


_RESERVED = frozenset(
    {
        (Action.UPDATE, Resource.ACCOUNT),
        (Action.CREATE, Resource.USER),
        (Action.UPDATE, Resource.USER),
        (Action.DELETE, Resource.USER),
        (Action.MANAGE, Resource.USER),
    }
)
"""What a `system-user` may not do: change the account, manage users and other people's tokens."""
_ADMIN = f"membership of {BuiltinGroup.ADMIN}"
_MEMBER = f"membership of {BuiltinGroup.USER} or {BuiltinGroup.ADMIN}"


def missing_membership(groups: Set[str]) -> str | None:
    """Return what a user in `groups` lacks to make any call at all, or None."""
    return None if groups & {BuiltinGroup.ADMIN, BuiltinGroup.USER} else _MEMBER


def missing_permission(groups: Set[str], action: Action, resource: Resource) -> str | None:
    """Return what a user in `groups` lacks to do `action` to a `resource`, or None when it is allowed."""
    if BuiltinGroup.ADMIN in groups:
        return None
    if (action, resource) in _RESERVED:
        return _ADMIN
    return missing_membership(groups)


def require_membership(caller: Caller) -> None:
    """Raise `Forbidden` for a caller whom no group gives a right; asked at every call."""
    missing = missing_membership(caller.groups)
    if missing is not None:
        raise Forbidden(f"this needs {missing}")


def require(caller: Caller, action: Action, resource: Resource) -> None:
    """Raise `Forbidden`, naming the missing permission, unless the caller may do `action` to a `resource`."""
    missing = missing_permission(caller.groups, action, resource)
    if missing is not None:
        raise Forbidden(f"this needs {missing} (permission to {action} {resource})")
