"""Ids that have been used, as shown by the folders that are named by them.

A database that was restored from a backup, or lost its last transactions, would use them again, and new objects would
find the files of old ones: a cluster's files, a pipeline's checkpoints, a user's notebooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import sqlalchemy as sa

from svc_jupyter.service.commands.rows import parse_root_name
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, clusters
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.packages import activities, environments
from svc_jupyter.service.schema.pipelines import pipelines

_FOLDERS: Mapping[sa.Table, str] = {
    clusters: "clusters/*",
    cluster_instances: "clusters/*/*",
    environments: "environments/*",
    activities: "environments/*/*",
    pipelines: "pipelines/*",
    users: "jupyter/*/users/*",
}


def highest_on_disk(data_dir: Path) -> dict[sa.Table, int]:
    """Return the highest id of each table in names of folders; tables without folders are missing."""
    highest = {table: _highest(folder.name for folder in data_dir.glob(where)) for table, where in _FOLDERS.items()}
    highest[commands] = max(commands_on_disk(data_dir / "commands", above=0), default=0)
    return {table: number for table, number in highest.items() if number}


def commands_on_disk(commands_dir: Path, *, above: int) -> set[int]:
    """Return the ids above a number of commands with folders; for 0 only those of the newest thousand."""
    parents = sorted((int(item.name) for item in commands_dir.glob("*") if _is_number(item.name)), reverse=True)
    found: set[int] = set()
    for parent in parents:
        names = (parse_root_name(item.name) for item in (commands_dir / str(parent)).iterdir())
        found |= {name.command_id for name in names if name is not None and name.command_id > above}
        if found and not above:
            break
    return found


def _highest(names: Iterator[str]) -> int:
    """Return the highest number at the begin of a name; a build's name has its attempt after a dash."""
    numbers = (name.partition("-")[0] for name in names)
    return max((int(number) for number in numbers if _is_number(number)), default=0)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 19
