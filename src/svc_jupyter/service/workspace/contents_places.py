"""Who may reach which path of the Jupyter contents, and where it lies on disk.

A user's folder lies under the user's id: what an e-mail address holds never becomes a name on disk.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.caller_reading import CallerReader
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, decide, require, require_membership
from svc_jupyter.service.access.tables import users
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath, parse_path, user_root
from svc_jupyter.service.workspace.file_tree import FileTree
from svc_jupyter.service.workspace.jupyter_feature import require_jupyter_notebooks

_COMMON_FOLDER = "common"
_USERS_FOLDER = "users"
_SWEEP_AGE = 3600.0
"""Seconds after which a draft belongs to a process that is no more."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path that its caller may reach, with the tree that holds it and its parts there."""

    path: ContentsPath
    tree: FileTree
    parts: tuple[str, ...]

    def __truediv__(self, name: str) -> Place:
        return Place(self.path / name, self.tree, (*self.parts, name))

    @property
    def folder(self) -> Place:
        """The folder that it lies in; a root folder has none."""
        return Place(self.path.parent, self.tree, self.parts[:-1])


class ContentsPlaces:
    """Finds places for callers; each account has a tree of its own."""

    def __init__(self, settings: Settings, database: Database, accounts: Accounts) -> None:
        self._folder = settings.data_dir / "jupyter"
        self._database = database
        self._accounts = accounts
        self._callers = CallerReader()

    def admit(self, caller: Caller, action: Action) -> None:
        """Raise `Forbidden` unless the account has Jupyter notebooks on and the caller may do `action` to them."""
        require_jupyter_notebooks(self._accounts.features(caller.account_id))
        require(caller, action, Resource.JUPYTER_NOTEBOOK)

    def place(self, path: str | ContentsPath, caller: Caller) -> Place:
        """Return where a path lies; the root folder is made at its first use.

        Raises `Invalid` for a path above the roots, `Forbidden` for another user's folder, `NotFound` for nobody's.
        """
        path = parse_path(path) if isinstance(path, str) else path
        if path.is_above_roots:
            raise Invalid(f"path: {str(path) or 'the empty path'} holds the root folders only; name a place in one")
        root = ContentsPath((COMMON,))
        folder: tuple[str, ...] = (_COMMON_FOLDER,)
        if path.owner is not None:
            user_id, email = self._owner(path.owner, caller)
            root, folder = user_root(email), (_USERS_FOLDER, str(user_id))
        tree = self._tree(caller.account_id)
        with suppress(OSError):  # on a full disk what is there can still be read
            tree.ensure_folder(folder)
        return Place(ContentsPath((*root.parts, *path.inside)), tree, (*folder, *path.inside))

    def user_folders(self, caller: Caller) -> list[tuple[Place, float]]:
        """Return the users' folders that the caller may reach, by name, each with when its user came (Unix seconds).

        One that its user has not used yet is not on disk.
        """
        everybody = sa.select(users.c.id, users.c.email, users.c.created_at).where(
            users.c.account_id == caller.account_id
        )
        if not decide(caller, Action.MANAGE, Resource.JUPYTER_NOTEBOOK).allowed:
            everybody = everybody.where(users.c.id == caller.user_id)
        with self._database.connect() as connection:
            rows = connection.execute(everybody.order_by(users.c.email)).all()
        tree = self._tree(caller.account_id)
        return [(Place(user_root(row.email), tree, (_USERS_FOLDER, str(row.id))), row.created_at) for row in rows]

    def caller(self, account_id: int, user_id: int) -> Caller:
        """Return a user as the caller of what the service does in their name, with the groups they have now.

        Raises `NotFound` for an unknown user, `Forbidden` for a disabled one and one whom no group gives a right.
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

    def sweep(self) -> None:
        """Remove what processes that were killed left half done."""
        before = time.time() - _SWEEP_AGE
        for folder in self._folder.glob("*"):
            FileTree(folder).sweep(before)

    def _tree(self, account_id: int) -> FileTree:
        return FileTree(self._folder / str(account_id))

    def _owner(self, email: str, caller: Caller) -> tuple[int, str]:
        if email == caller.email:
            return caller.user_id, caller.email
        others = decide(caller, Action.MANAGE, Resource.JUPYTER_NOTEBOOK)
        if not others.allowed:
            raise Forbidden(
                f"{user_root(email)} is another user's folder; {others.because} "
                f"(permission to {Action.MANAGE} {Resource.JUPYTER_NOTEBOOK})"
            )
        with self._database.connect() as connection:
            found = connection.execute(
                sa.select(users.c.id).where(users.c.account_id == caller.account_id, users.c.email == email)
            ).scalar_one_or_none()
        if found is None:
            raise NotFound(f"there is no folder {user_root(email)}: nobody in this account has that address")
        return found, email
