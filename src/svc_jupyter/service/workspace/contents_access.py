"""Permissions on paths of the Jupyter contents, the root folders, and their place on disk.

The notebook's own policy comes first, then groups and roles, which must give the permission to manage in another user's
folder. A caller whom no notebook policy names causes no database query.

A user's folder is named by the user's id, so no e-mail address ever becomes a name on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.api.account import Features
from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.caller_reading import ActingUsers
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import (
    Action,
    Resource,
    decide,
    policy_decision,
    require,
)
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.workspace import notebook_ids
from svc_jupyter.service.workspace.admission import admission
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath, parse_path, user_root
from svc_jupyter.service.workspace.file_tree import FileTree

NOBODY = 0
"""Stands for the owner's id if no user has the e-mail address."""
_COMMON_FOLDER = "common"
_USERS_FOLDER = "users"
_FOLDER = "jupyter"
_SWEEP_AGE = 3600.0
"""Seconds after which a draft counts as left by a killed process."""


@dataclass(frozen=True, slots=True)
class Root:
    """`Common`, with `owner_id` None, or a user's own folder."""

    path: ContentsPath
    owner_id: int | None

    @property
    def ids(self) -> tuple[int, ...]:
        """The folders whose policies apply to its contents: Jupyter folders have none."""
        return ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Its place on disk, relative to the account's folder."""
        return (_COMMON_FOLDER,) if self.owner_id is None else (_USERS_FOLDER, str(self.owner_id))


COMMON_ROOT = Root(ContentsPath((COMMON,)), None)


def root_of(path: ContentsPath, caller: Caller, connect: Callable[[], AbstractContextManager[sa.Connection]]) -> Root:
    """Return the root folder of a path; its owner is `NOBODY` if no user has the address.

    Queries the database only for other users.
    """
    if path.owner is None:
        return COMMON_ROOT
    if path.owner == caller.email:
        return Root(user_root(caller.email), caller.user_id)
    query = sa.select(users.c.id).where(users.c.account_id == caller.account_id, users.c.email == path.owner)
    with connect() as connection:
        found: int | None = connection.execute(query).scalar_one_or_none()
    return Root(user_root(path.owner), NOBODY if found is None else found)


def user_folder(user_id: int, email: str) -> Root:
    """Return a user's own folder."""
    return Root(user_root(email), user_id)


@dataclass(frozen=True, slots=True)
class AdmittedPath:
    """A path that its caller may use, with its tree and its parts there."""

    path: ContentsPath
    tree: FileTree
    parts: tuple[str, ...]
    owner_id: int | None = None
    """The user whose folder contains it; None in `Common`."""

    def __truediv__(self, name: str) -> AdmittedPath:
        return AdmittedPath(self.path / name, self.tree, (*self.parts, name), self.owner_id)

    @property
    def folder(self) -> AdmittedPath:
        """The containing folder; a root folder has none."""
        return AdmittedPath(self.path.parent, self.tree, self.parts[:-1], self.owner_id)


class ContentsAccess:
    """Finds places for callers; each account has its own tree."""

    def __init__(self, settings: Settings, database: Database, accounts: Accounts) -> None:
        self._settings = settings
        self._database = database
        self._accounts = accounts
        self._acting = ActingUsers(database)

    def admit(self, caller: Caller, action: Action) -> None:
        """Raise `Forbidden` unless the account has Jupyter notebooks on and the caller may do `action` to them."""
        require_jupyter_notebooks(self._accounts.features(caller.account_id))
        require(caller, action, Resource.JUPYTER_NOTEBOOK)

    def place(self, path: str | ContentsPath, caller: Caller, action: Action, *, is_new: bool = False) -> AdmittedPath:
        """Return the place of a path on which the caller may do `action`; makes the root folder at its first use.

        With `is_new` the object does not exist yet, and no policy applies to it. Raises `Invalid` for a path above the
        roots, `Forbidden` for a missing permission and while Jupyter notebooks are off, and `NotFound` for an unknown
        user's folder.
        """
        require_jupyter_notebooks(self._accounts.features(caller.account_id))
        path = parse_path(path) if isinstance(path, str) else path
        if path.is_above_roots:
            raise Invalid(f"path: {str(path) or 'the empty path'} holds the root folders only; name a place in one")
        root = root_of(path, caller, self._database.connect)
        parts = (*root.parts, *path.inside)
        shown = ContentsPath((*root.path.parts, *path.inside))
        notebook_id = None if is_new else self._notebook_id(caller, parts)
        found = admission(caller, action, Resource.JUPYTER_NOTEBOOK, root, notebook_id)
        if not found.allowed:
            raise Forbidden(f"{found.because} (permission to {action} {Resource.JUPYTER_NOTEBOOK} {shown})")
        if root.owner_id == NOBODY:
            raise NotFound(f"there is no folder {root.path}: nobody in this account has that address")
        tree = tree_of(self._settings, caller.account_id)
        with suppress(OSError):  # on a full disk existing files can still be read
            tree.ensure_folder(root.parts)
        return AdmittedPath(shown, tree, parts, root.owner_id)

    def hidden(self, folder: AdmittedPath, caller: Caller) -> frozenset[str]:
        """Return the names in a folder that policies hide from a caller who may read the folder."""
        return frozenset(path for path in self.hidden_below(folder, caller) if "/" not in path)

    def hidden_below(self, folder: AdmittedPath, caller: Caller) -> frozenset[str]:
        """Return what policies hide below a folder, by relative path."""
        return frozenset(path for path, _ in self._withheld(caller, Action.READ, folder))

    def admit_below(self, caller: Caller, action: Action, folder: AdmittedPath) -> None:
        """Raise `Forbidden` when a policy on anything below a folder denies `action` to the caller."""
        denied = min((notebook_id for _, notebook_id in self._withheld(caller, action, folder)), default=None)
        if denied is not None:
            raise Forbidden(
                f"{folder.path} is not touched: {Resource.JUPYTER_NOTEBOOK} {denied} is in it, and its policy denies "
                f"you the permission to {action} it"
            )

    def user_folders(self, caller: Caller) -> list[tuple[AdmittedPath, float]]:
        """Return the users' folders that the caller may reach, by name, with the creation time of the user (Unix
        seconds).

        A folder that its user has never used is not on disk.
        """
        everybody = sa.select(users.c.id, users.c.email, users.c.created_at).where(
            users.c.account_id == caller.account_id
        )
        if not decide(caller, Action.MANAGE, Resource.JUPYTER_NOTEBOOK).allowed:
            everybody = everybody.where(users.c.id == caller.user_id)
        with self._database.connect() as connection:
            rows = connection.execute(everybody.order_by(users.c.email)).all()
        tree = tree_of(self._settings, caller.account_id)
        return [(_place(tree, user_folder(row.id, row.email)), row.created_at) for row in rows]

    def caller(self, account_id: int, user_id: int) -> Caller:
        """Return a user as the caller of actions in their name (`ActingUsers.caller`)."""
        return self._acting.caller(account_id, user_id)

    def sweep(self) -> None:
        """Remove unfinished files of killed processes."""
        before = time.time() - _SWEEP_AGE
        for folder in (self._settings.data_dir / _FOLDER).glob("*"):
            FileTree(folder).sweep(before)

    def _notebook_id(self, caller: Caller, parts: Sequence[str]) -> int | None:
        """Return the id of the object at a place, if policies can apply to the caller."""
        if not _naming(caller):
            return None
        with self._database.connect() as connection:
            return notebook_ids.find(connection, caller.account_id, parts)

    def _withheld(self, caller: Caller, action: Action, folder: AdmittedPath) -> Iterator[tuple[str, int]]:
        """Yield everything below a folder on which the caller may not do `action`: relative path, and id."""
        denied = {one for one in _naming(caller) if not _allows(caller, action, one)}
        if not denied:
            return
        with self._database.connect() as connection:  # all ids: selecting only the denied ones costs more
            found = notebook_ids.below(connection, caller.account_id, folder.parts)
        yield from ((path, notebook_id) for path, notebook_id in found.items() if notebook_id in denied)


def tree_of(settings: Settings, account_id: int) -> FileTree:
    """Return the files of an account."""
    return FileTree(settings.data_dir / _FOLDER / str(account_id))


def _place(tree: FileTree, root: Root) -> AdmittedPath:
    return AdmittedPath(root.path, tree, root.parts, root.owner_id)


def _naming(caller: Caller) -> Sequence[int]:
    """Return the notebooks whose policies name the caller or their groups; none for an administrator."""
    if caller.is_admin:
        return ()
    named = caller.policies.about(caller.user_id, caller.group_ids)
    return [object_id for kind, object_id in named if kind is Resource.JUPYTER_NOTEBOOK]


def _allows(caller: Caller, action: Action, notebook_id: int) -> bool:
    """Return whether a notebook's policy allows `action` to the caller, or does not apply to them."""
    said = policy_decision(caller, action, Resource.JUPYTER_NOTEBOOK, notebook_id)
    return said is None or said.allowed


def require_jupyter_notebooks(features: Features) -> None:
    """Raise `Forbidden`, with how an administrator enables it, while the account's Jupyter notebooks are off."""
    if not features.jupyter_notebooks:
        raise Forbidden(
            "Jupyter notebooks are switched off for this account; a member of system-admin switches them on by "
            'PUT account/features with {"jupyter_notebooks": true}'
        )
