"""Permissions: one pure function that decides, and functions that call it. The default is to deny.

The right to create commands covers all types of commands. Jupyter notebooks can also be run with the right to create
`jupyter_notebook_command`, and scheduled with the right to update notebooks in addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svc_jupyter.api.access import Action, BuiltinGroup, Resource
from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import NOT_IN_RUNS, NOT_OF_OWNERS, RESERVED, Caller, Permission
from svc_jupyter.service.access.policy_book import Entry
from svc_jupyter.service.ground.errors import Forbidden

__all__ = [
    "Action",
    "Decision",
    "Resource",
    "Target",
    "decide",
    "decision",
    "forbid_in_run",
    "lack_to_schedule",
    "lack_to_submit",
    "policy_decision",
    "require",
    "require_any",
    "require_membership",
    "require_to_read_some",
    "require_to_schedule",
    "require_to_schedule_some",
    "require_to_submit",
    "require_to_submit_some",
    "require_to_write_code",
]
_ROLE = "a group with a role that allows it"
_NEEDS_ADMIN = f"this needs membership of {BuiltinGroup.ADMIN} or of {_ROLE}"
_NEEDS_MEMBER = f"this needs membership of {BuiltinGroup.USER} or {BuiltinGroup.ADMIN}, or of {_ROLE}"
_SCHEDULES_NOTEBOOKS: tuple[Permission, ...] = (
    (Action.UPDATE, Resource.JUPYTER_NOTEBOOK),
    (Action.CREATE, Resource.JUPYTER_NOTEBOOK_COMMAND),
)


@dataclass(frozen=True, slots=True)
class Target:
    """The object of a call, with `owner_id` where ownership counts."""

    id: int
    owner_id: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something is allowed, and by which membership, role or entry; for a refusal, the missing permission."""

    allowed: bool
    because: str


def decide(
    caller: Caller, action: Action, resource: Resource, target: Target | None = None, policies: Sequence[Entry] = ()
) -> Decision:
    """Return whether the caller may do `action` to a `resource`, or to the object `target` with these `policies`.

    A notebook run never may do what would outlive it. An administrator may do everything. Otherwise the object's
    policy decides: entries that name the caller come before entries that name one of their groups, and among each the
    first one that covers the action counts. Without such an entry the groups decide: `system-user`, then roles. Last,
    the owner of an object may read and set its policy.
    """
    if caller.command_id is not None and (action, resource) in NOT_IN_RUNS:
        return Decision(False, _in_run(f"{action} {resource}"))
    if BuiltinGroup.ADMIN in caller.groups:
        return Decision(True, f"members of {BuiltinGroup.ADMIN} may do everything")
    if policies and (found := _policy_says(policies, caller, action, resource)) is not None:
        return found
    if BuiltinGroup.USER in caller.groups and (action, resource) not in RESERVED:
        return Decision(True, f"members of {BuiltinGroup.USER} may {action} {resource}")
    role = caller.rights.get((action, resource))
    if role is not None:
        return Decision(True, f"the role {role} allows to {action} {resource}")
    if resource is Resource.OBJECT_POLICY and target is not None and target.owner_id == caller.user_id:
        return Decision(True, "who owns an object may read and set its policy")
    reserved = (action, resource) in RESERVED
    missing = _NEEDS_ADMIN if reserved else _NEEDS_MEMBER
    if resource is Resource.OBJECT_POLICY and target is not None:
        missing += ", or ownership of the object"
    return Decision(False, missing)


def decision(caller: Caller, action: Action, resource: Resource, object_id: int | None = None) -> Decision:
    """Return whether the caller may do `action` to a `resource`, or to one object by its policy, and why."""
    if object_id is None:
        return decide(caller, action, resource)
    return decide(caller, action, resource, Target(object_id), caller.policies.of(resource, object_id))


def policy_decision(caller: Caller, action: Action, resource: Resource, object_id: int) -> Decision | None:
    """Return the decision of an object's own policy about the caller, or None where it has none."""
    return _policy_says(caller.policies.of(resource, object_id), caller, action, resource)


def require(caller: Caller, action: Action, resource: Resource, object_id: int | None = None) -> None:
    """Raise `Forbidden` with the missing permission, unless the caller may do `action` to a `resource`.

    With `object_id` the policy of that object also counts. Takes no query: the caller has all data.
    """
    found = decision(caller, action, resource, object_id)
    if not found.allowed:
        raise _refusal(found, (action,), resource, object_id)


def require_any(caller: Caller, actions: Sequence[Action], resource: Resource, object_id: int | None = None) -> None:
    """Raise `Forbidden` like `require`, unless the caller may do at least one of the `actions`."""
    found = [decision(caller, action, resource, object_id) for action in actions]
    if not any(item.allowed for item in found):
        raise _refusal(found[0], actions, resource, object_id)


def require_membership(caller: Caller) -> None:
    """Raise `Forbidden` for a caller without any right from a group, role or policy; checked at every call."""
    if caller.groups & {BuiltinGroup.ADMIN, BuiltinGroup.USER} or caller.rights:
        return
    for resource, object_id in caller.policies.about(caller.user_id, caller.group_ids):
        if any(entry.allows and _names(entry, caller) for entry in caller.policies.of(resource, object_id)):
            return
    raise Forbidden(_NEEDS_MEMBER)


def forbid_in_run(caller: Caller, what: str) -> None:
    """Raise `Forbidden` for the caller of a notebook run."""
    if caller.command_id is not None:
        raise Forbidden(_in_run(what))


def _in_run(what: str) -> str:
    return f"a notebook run may not {what}, since that would outlive the run; do it with a token of your own"


def _refusal(found: Decision, actions: Sequence[Action], resource: Resource, object_id: int | None) -> Forbidden:
    named = resource if object_id is None else f"{resource} {object_id}"
    return Forbidden(f"{found.because} (permission to {' or '.join(actions)} {named})")


def _policy_says(policies: Sequence[Entry], caller: Caller, action: Action, resource: Resource) -> Decision | None:
    by_name = (action, resource) in NOT_OF_OWNERS
    of_group = None
    for entry in policies:
        if not entry.covers(action) or (by_name and entry.allows and not entry.names(action)):
            continue
        if caller.user_id in entry.users:
            return _decided_by(entry, caller)
        if of_group is None and not entry.groups.isdisjoint(caller.group_ids):
            of_group = entry
    return None if of_group is None else _decided_by(of_group, caller)


def _names(entry: Entry, caller: Caller) -> bool:
    return caller.user_id in entry.users or not entry.groups.isdisjoint(caller.group_ids)


def _decided_by(entry: Entry, caller: Caller) -> Decision:
    if caller.user_id in entry.users:
        whom = f"user {caller.user_id}"
    else:
        whom = f"group {min(entry.groups & caller.group_ids)}"
    verb = "allows" if entry.allows else "denies"
    return Decision(entry.allows, f"entry {entry.number} of the object's policy {verb} this to {whom}")


def lack_to_submit(caller: Caller, command_type: object) -> str | None:
    """Return the missing right to submit a command of a type, None if the caller may."""
    is_notebook = command_type == CommandType.JUPYTER_NOTEBOOK
    return _lack(caller, (Action.CREATE, Resource.JUPYTER_NOTEBOOK_COMMAND if is_notebook else Resource.COMMAND))


def lack_to_schedule(caller: Caller, command_type: object) -> str | None:
    """Return the missing right to create a schedule of a type of command, None if the caller may."""
    lack = _lack(caller, (Action.CREATE, Resource.SCHEDULER))
    if lack is None or caller.command_id is not None or command_type != CommandType.JUPYTER_NOTEBOOK:
        return lack
    return lack if any(_lack(caller, permission) for permission in _SCHEDULES_NOTEBOOKS) else None


def require_to_submit_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may submit some type of command."""
    if lack_to_submit(caller, CommandType.JUPYTER_NOTEBOOK) is not None:  # the right to submit all includes this
        _require(_lack(caller, (Action.CREATE, Resource.COMMAND)))


def require_to_schedule_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may schedule some type of command."""
    if lack_to_schedule(caller, CommandType.JUPYTER_NOTEBOOK) is not None:
        _require(_lack(caller, (Action.CREATE, Resource.SCHEDULER)))


def require_to_read_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may read commands, or at least those that they may submit."""
    if lack_to_submit(caller, CommandType.JUPYTER_NOTEBOOK) is not None:
        _require(_lack(caller, (Action.READ, Resource.COMMAND)))


def require_to_submit(caller: Caller, command_type: object) -> None:
    """Raise `Forbidden` with the missing right, unless the caller may submit a command of a type."""
    _require(lack_to_submit(caller, command_type))


def require_to_schedule(caller: Caller, command_type: object) -> None:
    """Raise `Forbidden` with the missing right, unless the caller may create a schedule of a type of command."""
    _require(lack_to_schedule(caller, command_type))


def require_to_write_code(caller: Caller, what: str) -> None:
    """Raise `Forbidden` unless the caller may submit commands: `what` runs later, like the text of a command."""
    lack = _lack(caller, (Action.CREATE, Resource.COMMAND))
    _require(None if lack is None else f"{what} is code that the service runs; {lack}")


def _lack(caller: Caller, permission: Permission) -> str | None:
    action, resource = permission
    found = decide(caller, action, resource)
    return None if found.allowed else f"{found.because} (permission to {action} {resource})"


def _require(lack: str | None) -> None:
    if lack is not None:
        raise Forbidden(lack)
