"""Commands that wait for a cluster or run on it. Every function is one step inside the caller's transaction."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.commands.rows import CommandRow, RootName, read_rows
from svc_jupyter.service.schema.clusters import clusters
from svc_jupyter.service.schema.commands import commands


def end_waiting_for(connection: sa.Connection, cluster_id: int, *, now: float, message: str) -> list[CommandRow]:
    """End the commands that wait for a cluster with `error`; return their rows."""
    ended = connection.execute(
        sa.update(commands)
        .where(commands.c.cluster_id == cluster_id, commands.c.status == CommandStatus.WAITING)
        .values(status=CommandStatus.ERROR, end_time=now, message=message)
        .returning(commands)
    )
    return read_rows(ended)


def some_wait_for(connection: sa.Connection, cluster_id: int) -> bool:
    """Return whether any command waits for a cluster."""
    waits = (commands.c.cluster_id == cluster_id) & (commands.c.status == CommandStatus.WAITING)
    return bool(connection.execute(sa.select(sa.exists().where(waits))).scalar())


def waiting_for(connection: sa.Connection, instance_id: int) -> list[RootName]:
    """Return the names of the folders of the commands that wait for an instance's cluster, oldest first."""
    cluster = sa.select(clusters.c.id).where(clusters.c.instance_id == instance_id)
    query = sa.select(commands.c.id, commands.c.folder_key).where(
        commands.c.status == CommandStatus.WAITING, commands.c.cluster_id.in_(cluster)
    )
    return [RootName(*row) for row in connection.execute(query.order_by(commands.c.id))]


def running_on(connection: sa.Connection, cluster_id: int) -> list[int]:
    """Return the ids of the commands that run on a cluster."""
    query = sa.select(commands.c.id).where(
        commands.c.cluster_id == cluster_id, commands.c.status == CommandStatus.RUNNING
    )
    return list(connection.execute(query).scalars())
