"""Finds the folder that a request names, or raises the error that explains what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from svc_jupyter.api.folders import DASHBOARDS, NOTES, FolderReference
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, decision
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.admission import absent, is_closed, require_visible
from svc_jupyter.service.workspace.contents_paths import ContentsPath
from svc_jupyter.service.workspace.folder_tree import LocatedFolder, location_of

_OTHER_TYPE = {NOTES: DASHBOARDS, DASHBOARDS: NOTES}


class FolderLookup:
    """Finds folders for callers, and provides the transactions in which trees change."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self.clock = clock

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Yield a connection in a write transaction that blocks other changes of trees."""
        with self.database.begin() as connection:
            folder_tree.lock(connection)
            yield connection

    def at(
        self, connection: sa.Connection, location: str, field: str, folder_type: str, caller: Caller
    ) -> LocatedFolder:
        """Return the folder at a location, in a transaction from `changing`: a root is created at its first use.

        Raises `Invalid`, naming the request's `field`, for a location above the roots and for a folder of the other
        type; `NotFound`.
        """
        path = location_of(location, field)
        if path.is_above_roots:
            where = str(path) or "the empty location"
            raise Invalid(f"{field}: {where} holds the root folders only; name a folder in one")
        owner_id = owner_of(connection, path, caller)
        require_open(connection, path, owner_id, folder_type, caller)
        if not path.inside:
            folder_tree.ensure_roots(connection, caller.account_id, folder_type, [owner_id], self.clock())
        place = folder_tree.find(connection, caller.account_id, folder_type, path, owner_id)
        if place is None:
            raise missing(connection, path, owner_id, field, folder_type, caller)
        return place

    def meant(
        self, connection: sa.Connection, reference: FolderReference, action: Action, caller: Caller
    ) -> LocatedFolder:
        """Return the folder that a request names by id, location or both, for `action`.

        Raises `Invalid` when they do not agree or it is of the other type, `NotFound`.
        """
        folder_type = reference.type
        if reference.folder_id is None:
            if reference.location is None:
                raise Invalid("location: give the folder's location, or its folder_id")
            return self.at(connection, reference.location, "location", folder_type, caller)
        place = folder_tree.place(connection, caller.account_id, reference.folder_id)
        if place is None:
            raise absent(caller, action, Resource.FOLDER, reference.folder_id)
        require_visible(caller, action, Resource.FOLDER, place, place.id)
        if place.row.type != folder_type:
            raise Invalid(f"folder_id: folder {place.id} is one of {place.row.type}, not of {folder_type}")
        if reference.location is not None:
            path = location_of(reference.location, "location")
            if path.is_above_roots or (path.owner, path.inside) != (place.path.owner, place.path.inside):
                raise Invalid(f"folder_id and location do not agree: folder {place.id} is {place.path}")
        return place


def of_object(connection: sa.Connection, account_id: int, folder_id: int) -> LocatedFolder:
    """Return the folder of an object, which the database guarantees."""
    place = folder_tree.place(connection, account_id, folder_id)
    if place is None:
        raise NotFound(f"there is no folder {folder_id} any more")
    return place


def owner_of(connection: sa.Connection, path: ContentsPath, caller: Caller) -> int | None:
    """Return the id of the user in whose folder a path is, None for `Common`. Raises `NotFound` for an unknown user."""
    if path.owner is None:
        return None
    if path.owner == caller.email:
        return caller.user_id
    owner_id: int | None = connection.execute(
        sa.select(users.c.id).where(users.c.account_id == caller.account_id, users.c.email == path.owner)
    ).scalar_one_or_none()
    if owner_id is None:
        require_managing(path, caller)  # a caller without access there must not learn which users exist
        raise NotFound(f"there is no folder {path}: nobody in this account has that address")
    return owner_id


def require_managing(path: ContentsPath, caller: Caller) -> None:
    """Raise `Forbidden`, the same for every path of others, unless the caller may access all users' folders."""
    managing = decision(caller, Action.MANAGE, Resource.FOLDER)
    if not managing.allowed:
        raise Forbidden(
            f"{path} is another user's folder, or nobody's; {managing.because}, or a policy of the folder "
            f"(permission to {Action.MANAGE} {Resource.FOLDER})"
        )


def require_open(
    connection: sa.Connection, path: ContentsPath, owner_id: int | None, folder_type: str, caller: Caller
) -> None:
    """Raise `Forbidden` for a path in another user's folder to which the caller has no access, whether it exists or
    not.

    A missing path is as accessible as its nearest existing folder.
    """
    if owner_id in (None, caller.user_id):
        return
    above = path
    place = folder_tree.find(connection, caller.account_id, folder_type, above, owner_id)
    while place is None and above.inside:
        above = above.parent
        place = folder_tree.find(connection, caller.account_id, folder_type, above, owner_id)
    if place is None or is_closed(caller, Resource.FOLDER, place, place.id):
        require_managing(path, caller)


def missing(
    connection: sa.Connection, path: ContentsPath, owner_id: int | None, field: str, folder_type: str, caller: Caller
) -> Invalid | NotFound:
    """Return the error for a path without a folder of a type."""
    other = _OTHER_TYPE[folder_type]
    if path.inside and folder_tree.find(connection, caller.account_id, other, path, owner_id) is not None:
        return Invalid(f"{field}: {path} is a folder of {other}, not of {folder_type}")
    return NotFound(f"there is no folder {path} of {folder_type}")
