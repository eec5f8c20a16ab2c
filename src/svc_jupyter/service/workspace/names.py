"""Names of notes and dashboards in a folder, which are unique."""

from __future__ import annotations

from itertools import islice

import sqlalchemy as sa

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.workspace.folder_tree import FolderPlace
from svc_jupyter.service.workspace.locations import copy_names

_AT_ONCE = 50


def require_free(connection: sa.Connection, table: sa.Table, where: FolderPlace, name: str, what: str) -> None:
    """Raise `Invalid` when a folder already has a note or dashboard of this name."""
    known = connection.execute(
        sa.select(table.c.id).where(table.c.folder_id == where.id, table.c.name == name)
    ).scalar()
    if known is not None:
        raise Invalid(f"name: there is a {what} {where.path / name} already ({what} {known})")


def free_copy_name(connection: sa.Connection, table: sa.Table, where: FolderPlace, name: str) -> str:
    """Return the first free name for a copy of `name` in a folder: `report-Copy1` …"""
    names = copy_names(name)
    while True:
        some = list(islice(names, _AT_ONCE))
        taken = set(
            connection.execute(
                sa.select(table.c.name).where(table.c.folder_id == where.id, table.c.name.in_(some))
            ).scalars()
        )
        for free in some:
            if free not in taken:
                return free
