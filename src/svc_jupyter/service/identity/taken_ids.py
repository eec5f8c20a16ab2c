"""Ids that have been given, as the folders named by them tell.

A database that was restored from a backup, or lost its last transactions, would give them again, and what is new would
be taken for what lies there: a cluster's files, a pipeline's checkpoints, a user's notebooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import sqlalchemy as sa

from svc_jupyter.service.access.tables import users
from svc_jupyter.service.clusters.tables import cluster_instances, clusters
from svc_jupyter.service.commands.roots import parse_root_name
from svc_jupyter.service.commands.tables import commands
from svc_jupyter.service.packages.tables import activities, environments
from svc_jupyter.service.pipelines.tables import pipelines

_FOLDERS: Mapping[sa.Table, str] = {
    clusters: "clusters/*",
    cluster_instances: "clusters/*/*",
    environments: "environments/*",
    activities: "environments/*/*",
    pipelines: "pipelines/*",
    users: "jupyter/*/users/*",
}
_LAST_VALUE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")


def highest_on_disk(data_dir: Path) -> dict[sa.Table, int]:
    """Return the highest id of each table that a folder is named by; nothing for a table without folders."""
    highest = {table: _highest(folder.name for folder in data_dir.glob(where)) for table, where in _FOLDERS.items()}
    highest[commands] = max(commands_on_disk(data_dir / "commands", above=0), default=0)
    return {table: number for table, number in highest.items() if number}


def commands_on_disk(commands_dir: Path, *, above: int) -> set[int]:
    """Return the ids above a number of the commands that have folders; for 0 those of the newest thousand only."""
    parents = sorted((int(item.name) for item in commands_dir.glob("*") if _is_number(item.name)), reverse=True)
    found: set[int] = set()
    for parent in parents:
        names = (parse_root_name(item.name) for item in (commands_dir / str(parent)).iterdir())
        found |= {name.command_id for name in names if name is not None and name.command_id > above}
        if found and not above:
            break
    return found


def go_above(connection: sa.Connection, highest: Mapping[sa.Table, int]) -> None:
    """Let each table give its next id above a number, in a write transaction; changes nothing where it does already."""
    for table, number in highest.items():
        if connection.dialect.name == "sqlite":
            _go_above_on_sqlite(connection, table.name, number)
        else:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            last = f"(SELECT coalesce(pg_sequence_last_value({sequence}::regclass), 0))"
            connection.execute(
                sa.text(f"SELECT setval({sequence}, :number) WHERE {last} < :number"), {"number": number}
            )


def next_id(connection: sa.Connection, table: sa.Table) -> dict[str, int]:
    """Return the value of `id` for a new row of a table to which SQLite would give its highest id plus one.

    Nothing on PostgreSQL, which counts itself. In a write transaction.
    """
    if connection.dialect.name != "sqlite":
        return {}
    highest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    return {"id": 1 + max(highest, connection.execute(_LAST_VALUE, {"name": table.name}).scalar() or 0)}


def _go_above_on_sqlite(connection: sa.Connection, name: str, number: int) -> None:
    """SQLite's own table of the last ids takes rows for any table; those without AUTOINCREMENT ask it by `next_id`."""
    last = connection.execute(_LAST_VALUE, {"name": name}).scalar()
    values = {"name": name, "number": number}
    if last is None:
        connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), values)
    elif last < number:
        connection.execute(sa.text("UPDATE sqlite_sequence SET seq = :number WHERE name = :name"), values)


def _highest(names: Iterator[str]) -> int:
    """Return the highest number that a name begins with; a build's name has its attempt after a dash."""
    numbers = (name.partition("-")[0] for name in names)
    return max((int(number) for number in numbers if _is_number(number)), default=0)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 19
