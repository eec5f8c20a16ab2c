"""Permissions on folders, notes and dashboards: policies from the object up to its root, then groups and roles.

The object's own policy comes first, then those of its folders, the nearest first: sharing a folder shares its contents.
If none of them names the caller, their groups decide; in another user's folder these must give the permission to
manage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from svc_jupyter.api.object_policies import OBJECT_ACTIONS
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import (
    Action,
    Decision,
    Resource,
    decision,
    policy_decision,
)
from svc_jupyter.service.ground.errors import Forbidden, NotFound
from svc_jupyter.service.schema.workspace import notes
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.contents_paths import ContentsPath
from svc_jupyter.service.workspace.folder_tree import LocatedFolder

_NOUNS = {Resource.NOTEBOOK_DASHBOARD: "dashboard"}
_IN_A_FOLDER = {Action.CREATE: Action.UPDATE}
"""The action on a folder that an action on a new object in it requires."""


class Where(Protocol):
    """The place of an object: the path, the folders whose policies apply, and the user whose folder it is."""

    @property
    def path(self) -> ContentsPath:
        """The folder's name in errors."""
        ...

    @property
    def ids(self) -> Sequence[int]:
        """The ids of the folder and its ancestors, from the root on."""
        ...

    @property
    def owner_id(self) -> int | None:
        """None if no user owns it."""
        ...


def admit(
    caller: Caller, action: Action, resource: Resource, where: LocatedFolder, object_id: int | None = None
) -> None:
    """Raise `Forbidden` unless `caller` may do `action` to the object that is, or is in, the folder `where`.

    `object_id` is the object's, None for a new object or for all objects there.
    """
    found = admission(caller, action, resource, where, object_id)
    if found.allowed:
        return
    if object_id is None:
        raise Forbidden(f"{found.because} (permission to {action} {resource})")
    require_visible(caller, action, resource, where, object_id)
    raise Forbidden(f"{found.because} (permission to {action} {resource} {object_id})")


def require_visible(caller: Caller, action: Action, resource: Resource, where: Where, object_id: int) -> None:
    """Raise what `absent` returns or raises for an object that is closed to the caller in another user's folder."""
    if is_closed(caller, resource, where, object_id):
        raise absent(caller, action, resource, object_id)


def absent(caller: Caller, action: Action, resource: Resource, object_id: int) -> NotFound:
    """Return the error for an object that does not exist, or that the caller may not know.

    Raises `Forbidden` for a caller who may not do `action` at all: the error does not reveal which ids exist.
    """
    found = decision(caller, action, resource)
    if not found.allowed:
        raise Forbidden(f"{found.because} (permission to {action} {resource} {object_id})")
    return NotFound(f"there is no {_NOUNS.get(resource, resource)} {object_id} in this account")


def is_closed(caller: Caller, resource: Resource, where: Where, object_id: int | None) -> bool:
    """Return whether an object is in another user's folder, and the caller has no permission on it."""
    if where.owner_id in (None, caller.user_id):
        return False
    return not any(admission(caller, action, resource, where, object_id).allowed for action in OBJECT_ACTIONS)


def admit_into(caller: Caller, where: LocatedFolder) -> None:
    """Raise `Forbidden` unless `caller` may put objects into a folder: `update` or `manage`."""
    if not admission(caller, Action.MANAGE, Resource.FOLDER, where, where.id).allowed:
        admit(caller, Action.UPDATE, Resource.FOLDER, where, where.id)


def admission(caller: Caller, action: Action, resource: Resource, where: Where, object_id: int | None) -> Decision:
    """Return whether `caller` may do `action`, with the reason or what is missing."""
    by_groups = decision(caller, action, resource)
    if caller.is_admin:
        return by_groups
    if object_id is not None:
        by_policy = policy_decision(caller, action, resource, object_id)
        if by_policy is not None:
            return by_policy
    for folder_id in reversed(where.ids):
        by_policy = policy_decision(caller, _IN_A_FOLDER.get(action, action), Resource.FOLDER, folder_id)
        if by_policy is not None:
            return Decision(by_policy.allowed, f"of folder {folder_id}: {by_policy.because}")
    if not by_groups.allowed or where.owner_id is None or where.owner_id == caller.user_id:
        return by_groups
    managing = decision(caller, Action.MANAGE, resource)
    if managing.allowed:
        return managing
    return Decision(
        False, f"{where.path} is another user's folder; {managing.because}, or a policy (to {Action.MANAGE} {resource})"
    )


def about_folder(connection: sa.Connection, caller: Caller, action: Action, folder_id: int) -> Decision:
    """Return the decision on `action` by `caller` on a folder. Raises `NotFound`."""
    return admission(caller, action, Resource.FOLDER, _folder(connection, caller, folder_id), folder_id)


def about_note(connection: sa.Connection, caller: Caller, action: Action, note_id: int) -> Decision:
    """Return the decision on `action` by `caller` on a note. Raises `NotFound`."""
    mine = sa.select(notes.c.folder_id).where(notes.c.id == note_id, notes.c.account_id == caller.account_id)
    folder_id = connection.execute(mine).scalar()
    if folder_id is None:
        raise NotFound(f"there is no note {note_id} in this account")
    return admission(caller, action, Resource.NOTE, _folder(connection, caller, folder_id), note_id)


def _folder(connection: sa.Connection, caller: Caller, folder_id: int) -> LocatedFolder:
    place = folder_tree.place(connection, caller.account_id, folder_id)
    if place is None:
        raise NotFound(f"there is no folder {folder_id} in this account")
    return place


def visible(
    caller: Caller, resource: Resource, where: LocatedFolder, id_column: sa.ColumnElement[int]
) -> sa.ColumnElement[bool]:
    """Return the SQL condition that is true for the objects of a folder that the caller may read."""
    as_the_folder = admission(caller, Action.READ, resource, where, None).allowed
    otherwise = [one for one, allowed in said(caller, Action.READ, resource) if allowed is not as_the_folder]
    if not otherwise:
        return sa.true() if as_the_folder else sa.false()
    return id_column.not_in(named(otherwise)) if as_the_folder else id_column.in_(named(otherwise))


def withheld(
    caller: Caller, action: Action, resource: Resource, id_column: sa.ColumnElement[int]
) -> sa.ColumnElement[bool] | None:
    """Return the SQL condition for objects whose own policy denies `action` to the caller; None for none."""
    denied = [one for one, allowed in said(caller, action, resource) if not allowed]
    return id_column.in_(named(denied)) if denied else None


def said(caller: Caller, action: Action, resource: Resource) -> Iterator[tuple[int, bool]]:
    """Yield the objects whose own policy applies to the caller, and whether it allows."""
    if caller.is_admin:
        return
    for kind, object_id in caller.policies.about(caller.user_id, caller.group_ids):
        by_policy = policy_decision(caller, action, kind, object_id) if kind is resource else None
        if by_policy is not None:
            yield object_id, by_policy.allowed


def named(ids: list[int]) -> sa.BindParameter[Any]:
    """Return ids as part of the statement: databases limit the number of parameters."""
    return sa.bindparam(None, sorted(ids), expanding=True, literal_execute=True, type_=sa.BigInteger())
