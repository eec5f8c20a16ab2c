"""The root folders of Jupyter contents: their owners, and their places on disk.

A user's folder is named by the user's id, so no e-mail address ever becomes a name on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath, user_root

NOBODY = 0
"""Stands for the owner's id if no user has the e-mail address."""
_COMMON_FOLDER = "common"
_USERS_FOLDER = "users"


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
