"""Jupyter notebooks as objects of policies: found by their path in the service, or by their id."""

from __future__ import annotations

import stat
from contextlib import nullcontext
from dataclasses import replace

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Decision, decide
from svc_jupyter.service.access.policy_objects import PolicyObject
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.workspace import notebook_ids
from svc_jupyter.service.workspace.admission import admission
from svc_jupyter.service.workspace.contents_access import COMMON_ROOT, Root, root_of, tree_of, user_folder
from svc_jupyter.service.workspace.contents_files import translated_errors
from svc_jupyter.service.workspace.contents_paths import NOTEBOOK_SUFFIX, ContentsPath, parse_path


class PoliciedNotebooks:
    """Finds notebooks. The owner is the user whose folder contains it; in `Common` there is none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def find(self, connection: sa.Connection, source_id: int | str, by: Caller) -> PolicyObject | None:
        """Return the notebook with an id or path, None if there is none.

        Raises `Forbidden`, whether it exists or not, if the caller may neither read it nor set policies, and `Invalid`
        for a path that is not a notebook's.
        """
        known: int | None
        if isinstance(source_id, int):
            row = notebook_ids.row_of(connection, by.account_id, source_id)
            if row is None:
                return None
            known, root = source_id, _root_of_user(connection, row.user_id)
            path = ContentsPath((*root.path.parts, *row.path.split("/")[len(root.parts) :]))
        else:
            path = _parsed(source_id)
            root = root_of(path, by, lambda: nullcontext(connection))
            path = ContentsPath((*root.path.parts, *path.inside))
            known = notebook_ids.find(connection, by.account_id, (*root.parts, *path.inside))
        _require_knowledge(by, root, path, known)
        if known is None and not self._is_there(by.account_id, root, path):
            return None
        return PolicyObject(SourceType.JUPYTER_NOTEBOOK, known, root.owner_id, str(path))

    def numbered(self, connection: sa.Connection, found: PolicyObject, by: Caller) -> PolicyObject:
        """Return a notebook with its id, a new one if it had none. Call it while the account is locked."""
        if found.id is not None:
            return found
        parts = (*_root(found).parts, *parse_path(found.path or "").inside)
        return replace(found, id=notebook_ids.ensure(connection, by.account_id, parts, found.owner_id))

    def decide(self, caller: Caller, action: Action, found: PolicyObject) -> Decision:
        """Return the decision on `action` by `caller` on a notebook."""
        return admission(caller, action, Resource.JUPYTER_NOTEBOOK, _root(found), found.id)

    def _is_there(self, account_id: int, root: Root, path: ContentsPath) -> bool:
        try:
            with translated_errors(path):
                status = tree_of(self._settings, account_id).status((*root.parts, *path.inside))
        except NotFound:
            return False
        return stat.S_ISREG(status.st_mode)


def _parsed(text: str) -> ContentsPath:
    path = parse_path(text, "source_id")
    if path.is_above_roots or not path.inside or not path.name.endswith(NOTEBOOK_SUFFIX):
        raise Invalid(f"source_id: {path} is not a path of a notebook, whose name ends with {NOTEBOOK_SUFFIX}")
    return path


def _root(found: PolicyObject) -> Root:
    if found.owner_id is None:
        return COMMON_ROOT
    return Root(ContentsPath(parse_path(found.path or "").parts[:2]), found.owner_id)


def _root_of_user(connection: sa.Connection, owner_id: int | None) -> Root:
    if owner_id is None:
        return COMMON_ROOT
    email = connection.execute(sa.select(users.c.email).where(users.c.id == owner_id)).scalar_one()
    return user_folder(owner_id, email)


def _require_knowledge(by: Caller, root: Root, path: ContentsPath, notebook_id: int | None) -> None:
    """Raise `Forbidden` for another user's folder: only users who may read it may know its contents."""
    if root.owner_id in (None, by.user_id) or decide(by, Action.UPDATE, Resource.OBJECT_POLICY).allowed:
        return
    found = admission(by, Action.READ, Resource.JUPYTER_NOTEBOOK, root, notebook_id)
    if not found.allowed:
        named = path if notebook_id is None else notebook_id
        raise Forbidden(f"{found.because} (permission to read {Resource.JUPYTER_NOTEBOOK} {named})")
