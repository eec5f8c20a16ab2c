"""Versions of environments on disk: each build has its own folder, and the environment's row names the current one.

So a swap is one update of that row, an unfinished build is never visible, and a run keeps the version it started with.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.package_environments import ActivityStatus
from svc_jupyter.api.states import ClusterState, CommandStatus
from svc_jupyter.service.commands.queue import is_unclaimed
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.packages import activities, environments, uses

_FOLDER = "environments"
_OVER = [status.value for status in CommandStatus if status.is_final]
_RUNNING_COMMANDS = sa.select(commands.c.id).where(commands.c.status.not_in(_OVER))
_RUNNING_INSTANCES = sa.select(cluster_instances.c.id).where(cluster_instances.c.state != ClusterState.DOWN.value)
_IN_USE = sa.select(uses.c.activity_id).where(
    sa.or_(uses.c.command_id.in_(_RUNNING_COMMANDS), uses.c.instance_id.in_(_RUNNING_INSTANCES))
)
_SUPERSEDED = (
    sa.select(activities.c.id)
    .join(environments, environments.c.id == activities.c.environment_id)
    .where(
        activities.c.status == ActivityStatus.SUCCESS.value,
        activities.c.folder.is_not(None),
        sa.or_(environments.c.package_id != activities.c.id, environments.c.deleted_at.is_not(None)),
        activities.c.id.not_in(_IN_USE),
    )
)
_NAMED = sa.select(activities.c.environment_id, activities.c.folder).where(activities.c.folder.is_not(None))


def folder_of(data_dir: Path, environment_id: int, name: str) -> Path:
    """Return the folder of a build."""
    return data_dir / _FOLDER / str(environment_id) / name


def use(
    connection: sa.Connection, environment_id: int, *, command_id: int | None, instance_id: int | None
) -> Mapping[Any, Any] | None:
    """Record that a command, or an instance of a cluster, starts with the current version; return its activity.

    None where there is none. In a write transaction: the version stays until its user has ended.
    """
    query = sa.select(environments.c.package_id).where(environments.c.id == environment_id)
    package_id = connection.execute(query.with_for_update(read=True)).scalar()
    if package_id is None:
        return None
    same = [
        uses.c.activity_id == package_id,
        uses.c.command_id.is_not_distinct_from(command_id),
        uses.c.instance_id.is_not_distinct_from(instance_id),
    ]
    if connection.execute(sa.select(uses.c.id).where(*same)).first() is None:
        values = {"activity_id": package_id, "command_id": command_id, "instance_id": instance_id}
        connection.execute(sa.insert(uses).values(values))
    return connection.execute(sa.select(activities).where(activities.c.id == package_id)).mappings().one()


def forget_superseded(connection: sa.Connection) -> None:
    """Release versions that are neither current nor in use, and deleted environments."""
    superseded = list(connection.execute(_SUPERSEDED).scalars())
    if superseded:
        connection.execute(sa.update(activities).where(activities.c.id.in_(superseded)).values(folder=None))
        connection.execute(sa.delete(uses).where(uses.c.activity_id.in_(superseded)))
    kept = sa.select(activities.c.environment_id).where(
        activities.c.folder.is_not(None),
        sa.or_(activities.c.status != ActivityStatus.RUNNING.value, sa.not_(is_unclaimed(activities.c.replica_id))),
    )
    connection.execute(
        sa.delete(environments).where(environments.c.deleted_at.is_not(None), environments.c.id.not_in(kept))
    )


def some_may_be_forgotten(connection: sa.Connection) -> bool:
    """Return whether a version, or a deleted environment, exists only for possible users of it."""
    deleted = sa.select(environments.c.id).where(environments.c.deleted_at.is_not(None))
    superseded = (
        sa.select(activities.c.id)
        .join(environments, environments.c.id == activities.c.environment_id)
        .where(
            activities.c.folder.is_not(None),
            activities.c.status == ActivityStatus.SUCCESS.value,
            environments.c.package_id != activities.c.id,
        )
    )
    return any(connection.execute(query.limit(1)).first() is not None for query in (deleted, superseded))


def named_folders(connection: sa.Connection) -> set[tuple[str, str]]:
    """Return the folders that rows name, as pairs of the environment's folder and the build's."""
    return {(str(row.environment_id), row.folder) for row in connection.execute(_NAMED)}


def folders_on_disk(data_dir: Path) -> set[tuple[str, str]]:
    """Return the existing folders."""
    root = data_dir / _FOLDER
    return {(folder.parent.name, folder.name) for folder in root.glob("*/*") if folder.is_dir()}


def remove_folders(data_dir: Path, folders: set[tuple[str, str]]) -> None:
    """Remove folders that no row names; what cannot be removed now is retried the next time."""
    for environment, name in folders:
        folder = data_dir / _FOLDER / environment / name
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # a build may start in it at this moment: only an empty one is removed
            folder.parent.rmdir()
