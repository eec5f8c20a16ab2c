"""The root folders of Jupyter contents: whose one is, and where it lies on disk.

A user's folder lies under the user's id: what an e-mail address holds never becomes a name on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.tables import users
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath, user_root

NOBODY = 0
"""Stands for the id of the user whose e-mail address nobody has."""
_COMMON_FOLDER = "common"
_USERS_FOLDER = "users"


@dataclass(frozen=True, slots=True)
class Root:
    """`Common`, of which `owner_id` is None, or a user's own folder."""

    path: ContentsPath
    owner_id: int | None

    @property
    def ids(self) -> tuple[int, ...]:
        """The folders whose policies count for what lies in it: Jupyter folders have none."""
        return ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Where it lies, from the account's folder on."""
        return (_COMMON_FOLDER,) if self.owner_id is None else (_USERS_FOLDER, str(self.owner_id))


COMMON_ROOT = Root(ContentsPath((COMMON,)), None)


def root_of(path: ContentsPath, caller: Caller, connect: Callable[[], AbstractContextManager[sa.Connection]]) -> Root:
    """Return the root folder that a path begins in; its owner is `NOBODY` where no user has the address.

    The database is asked about other users only.
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
