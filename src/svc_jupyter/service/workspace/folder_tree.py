"""The folders of notes and dashboards as a tree in the database, and the locations and names of what is in them.

Each row has its parent, so a move changes one row. Changes of the tree require `lock`.

Locations look like the paths of Jupyter contents and have the same roots. Names are case-sensitive, in Unicode's
composed form, so that no two look the same, and unique in their folder.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from svc_jupyter.service.database.database import conflict_insert
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.workspace import COMMON_ROOT, folders
from svc_jupyter.service.workspace.contents_paths import (
    COMMON,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_NAME_BYTES,
    ContentsPath,
    check_name,
    parse_path,
    user_root,
)

_LOCK = 0x5C4A05
"""Key of PostgreSQL's advisory lock on all trees; SQLite has one writer at a time anyway."""
_COPY_MARK = re.compile(r"(?<=.)-Copy\d{1,9}\Z", re.DOTALL)
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class LocatedFolder:
    """A folder and its place. `ids` are its ancestors' and its own, from the root on."""

    row: sa.Row[Any]
    path: ContentsPath
    ids: tuple[int, ...]
    owner_id: int | None
    """The user whose folder it is in, None in `Common`."""

    @property
    def id(self) -> int:
        """The folder's id."""
        return self.ids[-1]

    @property
    def is_root(self) -> bool:
        """Whether it is `Common` or a user's own folder."""
        return len(self.ids) == 1


class Extent(NamedTuple):
    """The extent of a folder's subtree: its levels, and the characters of its longest location below the folder."""

    levels: int
    characters: int


def lock(connection: sa.Connection) -> None:
    """Block other changes of trees until this transaction ends: two moves, each valid alone, could create a cycle."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def ensure_roots(
    connection: sa.Connection, account_id: int, folder_type: str, owners: Iterable[int | None], now: float
) -> None:
    """Create the missing roots, of users and, for None, of `Common`."""
    about = {"account_id": account_id, "type": folder_type, "name": "", "created_at": now}
    rows = [about | {"root_of": COMMON_ROOT if owner is None else owner} for owner in owners]
    connection.execute(conflict_insert(connection, folders).values(rows).on_conflict_do_nothing())


def roots(
    connection: sa.Connection, account_id: int, folder_type: str, owners: Iterable[int | None]
) -> dict[int | None, sa.Row[Any]]:
    """Return the rows of the existing roots, by their owner."""
    wanted = [COMMON_ROOT if owner is None else owner for owner in owners]
    found = connection.execute(
        sa.select(folders).where(
            folders.c.account_id == account_id, folders.c.type == folder_type, folders.c.root_of.in_(wanted)
        )
    )
    return {None if row.root_of == COMMON_ROOT else row.root_of: row for row in found}


def find(
    connection: sa.Connection, account_id: int, folder_type: str, path: ContentsPath, owner_id: int | None
) -> LocatedFolder | None:
    """Return the folder at a path, by one statement, or None when there is none."""
    walk = (
        sa.select(folders.c.id, sa.literal(0).label("level"))
        .where(
            folders.c.account_id == account_id,
            folders.c.type == folder_type,
            folders.c.root_of == (COMMON_ROOT if owner_id is None else owner_id),
        )
        .cte("walk", recursive=True)
    )
    if path.inside:
        steps = [
            sa.select(sa.literal(level).label("level"), sa.literal(name).label("name"))
            for level, name in enumerate(path.inside, start=1)
        ]
        wanted = (steps[0] if len(steps) == 1 else sa.union_all(*steps)).cte("wanted")
        step = sa.select(folders.c.id, wanted.c.level).select_from(
            walk.join(wanted, wanted.c.level == walk.c.level + 1).join(
                folders, (folders.c.parent_id == walk.c.id) & (folders.c.name == wanted.c.name)
            )
        )
        walk = walk.union_all(step)
    rows = connection.execute(sa.select(folders).join(walk, walk.c.id == folders.c.id).order_by(walk.c.level)).all()
    if len(rows) != len(path.inside) + 1:
        return None
    return LocatedFolder(rows[-1], path, tuple(row.id for row in rows), owner_id)


def place(connection: sa.Connection, account_id: int, folder_id: int) -> LocatedFolder | None:
    """Return a folder of the account by its id, or None when there is none."""
    return places(connection, account_id, [folder_id]).get(folder_id)


def places(connection: sa.Connection, account_id: int, folder_ids: Collection[int]) -> dict[int, LocatedFolder]:
    """Return the existing ones of the folders, each with its path from the root, by one statement."""
    climb = (
        sa.select(folders.c.id.label("of"), folders.c.id, folders.c.parent_id, sa.literal(0).label("level"))
        .where(folders.c.id.in_(folder_ids), folders.c.account_id == account_id)
        .cte("climb", recursive=True)
    )
    climb = climb.union_all(
        sa.select(climb.c.of, folders.c.id, folders.c.parent_id, climb.c.level + 1).join(
            climb, climb.c.parent_id == folders.c.id
        )
    )
    rows = connection.execute(
        sa.select(folders, users.c.email, climb.c.of)
        .join(climb, climb.c.id == folders.c.id)
        .outerjoin(users, users.c.id == folders.c.root_of)
        .order_by(climb.c.of, climb.c.level.desc())
    )
    return {folder_id: _placed(list(way)) for folder_id, way in groupby(rows, key=attrgetter("of"))}


def _placed(way: list[sa.Row[Any]]) -> LocatedFolder:
    root = way[0]
    in_common = root.root_of == COMMON_ROOT
    start = ContentsPath((COMMON,)) if in_common else user_root(root.email)
    path = ContentsPath((*start.parts, *(row.name for row in way[1:])))
    return LocatedFolder(way[-1], path, tuple(row.id for row in way), None if in_common else root.root_of)


def subtree(start_from: sa.ColumnElement[bool]) -> sa.CTE:
    """Return the folders from some on down, with columns `id`, `level` and `characters` below these."""
    start = sa.select(folders.c.id, sa.literal(0).label("level"), sa.literal(0).label("characters")).where(start_from)
    tree = start.cte("subtree", recursive=True)
    return tree.union_all(
        sa.select(folders.c.id, tree.c.level + 1, tree.c.characters + 1 + sa.func.length(folders.c.name)).join(
            tree, folders.c.parent_id == tree.c.id
        )
    )


def extent(connection: sa.Connection, folder_id: int) -> Extent:
    """Return the extent of a folder's subtree."""
    tree = subtree(folders.c.id == folder_id)
    row = connection.execute(sa.select(sa.func.max(tree.c.level), sa.func.max(tree.c.characters))).one()
    return Extent(*row)


def location_of(text: str, field: str) -> ContentsPath:
    """Return the folder of a location. Raises `Invalid` and `NotFound` as `parse_path` does, naming `field`."""
    path = parse_path(text, field)
    if path.is_above_roots:
        return path
    root = ContentsPath((COMMON,)) if path.owner is None else user_root(path.owner)
    return ContentsPath((*root.parts, *(name_of(part, field) for part in path.inside)))


def name_of(text: str, field: str = "name") -> str:
    """Return a name as it is stored. Raises `Invalid`, naming `field`, for an invalid one."""
    name = unicodedata.normalize("NFC", text)
    check_name(name, field)
    return name


def require_room(path: ContentsPath, extent: Extent, field: str) -> None:
    """Raise `Invalid` when a folder and its subtree would be too deep for any location to name it."""
    if len(path.parts) + extent.levels > MAX_DEPTH:
        raise Invalid(f"{field}: {path} would reach deeper than {MAX_DEPTH} folders")
    if len(str(path)) + extent.characters > MAX_LENGTH:
        raise Invalid(f"{field}: locations in it would be longer than {MAX_LENGTH} characters")


def copy_names(name: str) -> Iterator[str]:
    """Yield the names for a copy: `report-Copy1`, `report-Copy2`, …; too long ones are shortened."""
    name = _COPY_MARK.sub("", name)
    for number in count(1):
        mark = f"-Copy{number}"
        stem = name.encode()[: MAX_NAME_BYTES - len(mark)].decode(errors="ignore")
        yield stem + mark


def require_free(connection: sa.Connection, table: sa.Table, where: LocatedFolder, name: str, what: str) -> None:
    """Raise `Invalid` when a folder already has a note or dashboard of this name."""
    known = connection.execute(
        sa.select(table.c.id).where(table.c.folder_id == where.id, table.c.name == name)
    ).scalar()
    if known is not None:
        raise Invalid(f"name: there is a {what} {where.path / name} already ({what} {known})")


def free_copy_name(connection: sa.Connection, table: sa.Table, where: LocatedFolder, name: str) -> str:
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
