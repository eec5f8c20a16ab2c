"""The command queue. Every function is one step inside the caller's transaction.

A replica claims a command; its lease limits how long its claims hold. The commands of a replica that is gone go to a
replica on the same host, which finds their processes again; on another host they are reported as lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import ClusterState, CommandStatus
from svc_jupyter.service.commands.rows import CommandRow, read_row, read_rows
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.schema.clusters import clusters
from svc_jupyter.service.schema.commands import commands, replicas

WAITING = "waiting"
"""The topic of the bus that announces, with its account's id, a waiting command that is new or may begin now."""
_CLAIM_LOCK = 0x5C4A01
"""Key of the advisory lock under which PostgreSQL replicas count and claim, so that the limit holds."""
_CLAIM_AT_ONCE = 16
"""A replica claims a few commands at a time, so that replicas share a burst."""
_LOST = (
    "lost: the host {host} that ran it no longer answers, so its result and exit code cannot be known; "
    "check what it did, then submit it again"
)


# Statements of the hot paths are built once: building one takes longer than running it.
_HOLDS_A_SLOT = (
    commands.c.status == CommandStatus.RUNNING.value,
    commands.c.account_id == sa.bindparam("account"),
    commands.c.parent_id.is_(None),  # a child uses its composite's slot
)
_CAN_BEGIN = sa.or_(
    commands.c.cluster_id.is_(None),
    commands.c.cluster_id.in_(sa.select(clusters.c.id).where(clusters.c.state == ClusterState.UP.value)),
)
"""A command whose cluster is not UP keeps waiting and does not block those behind it."""
_RUNNING_COUNT = sa.select(sa.func.count()).where(*_HOLDS_A_SLOT)
_SOME_WAIT = sa.select(sa.exists().where(commands.c.status == CommandStatus.WAITING.value))
_WAITING_ACCOUNTS = sa.select(commands.c.account_id).where(commands.c.status == CommandStatus.WAITING.value).distinct()
_OLDEST = (
    sa.select(commands.c.id)
    .where(
        commands.c.status == CommandStatus.WAITING.value, commands.c.account_id == sa.bindparam("account"), _CAN_BEGIN
    )
    .order_by(commands.c.id)
    .limit(sa.bindparam("free", type_=sa.Integer))
    .with_for_update(skip_locked=True)
)
_CLAIM = (
    sa.update(commands)
    .where(commands.c.id.in_(_OLDEST.scalar_subquery()))
    .values(status=CommandStatus.RUNNING.value, replica_id=sa.bindparam("claimer"), start_time=sa.bindparam("now"))
    .returning(commands)
)
_END = sa.update(commands).where(
    commands.c.id == sa.bindparam("this_command"),
    commands.c.replica_id == sa.bindparam("this_replica"),
    commands.c.status == CommandStatus.RUNNING.value,
)


@dataclass(frozen=True, slots=True)
class Replica:
    """A running service process."""

    id: str
    host: str
    process: Identity


@dataclass(frozen=True, slots=True)
class Inheritance:
    """The commands of replicas that are gone: rows to continue, and rows that ended as lost."""

    adopted: Sequence[CommandRow]
    lost: Sequence[CommandRow]


def is_unclaimed(replica_id: sa.Column[str | None]) -> sa.ColumnElement[bool]:
    """Return the condition that a row is claimed by no replica, or by one that `replicas` no longer has: it is gone."""
    return sa.or_(replica_id.is_(None), replica_id.not_in(sa.select(replicas.c.id)))


def register(connection: sa.Connection, replica: Replica, *, lease_until: float) -> None:
    """Register the replica."""
    connection.execute(
        sa.insert(replicas).values(
            id=replica.id,
            host=replica.host,
            pid=replica.process.pid,
            boot_id=replica.process.boot_id,
            start_ticks=replica.process.start_ticks,
            lease_until=lease_until,
        )
    )


def renew(connection: sa.Connection, replica: Replica, *, lease_until: float) -> bool:
    """Prolong the lease; return False when another replica has taken over and this one must stop its work."""
    changed = connection.execute(sa.update(replicas).where(replicas.c.id == replica.id).values(lease_until=lease_until))
    return changed.rowcount == 1


def running_count(connection: sa.Connection, account_id: int) -> int:
    """Return how many commands of an account run now; a composite and its child count as one."""
    return connection.execute(_RUNNING_COUNT, {"account": account_id}).scalar_one()


def claim(
    connection: sa.Connection, replica: Replica, *, limit: int, now: float, on_sqlite: bool
) -> Sequence[CommandRow]:
    """Move the oldest waiting commands to `running`, up to `limit` running per account; return their rows."""
    accounts = connection.execute(_WAITING_ACCOUNTS).scalars().all()
    if not accounts:
        return []
    if not on_sqlite:
        if not _is_known(connection, replica):
            return []
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CLAIM_LOCK)))
    claimed: list[CommandRow] = []
    for account_id in accounts:
        free = min(limit - running_count(connection, account_id), _CLAIM_AT_ONCE)
        if free > 0:
            claimed += _claim_for(connection, replica, account_id, free, now)
    return claimed


def _is_known(connection: sa.Connection, replica: Replica) -> bool:
    """Return whether no other replica has taken over, and lock that until the end of the transaction.

    A replica must not claim under an id that was taken over: nothing would recover its commands.
    """
    known = sa.select(replicas.c.id).where(replicas.c.id == replica.id).with_for_update(read=True, key_share=True)
    return connection.execute(known).first() is not None


def begin_child(
    connection: sa.Connection, replica: Replica, values: Mapping[str, Any], *, on_sqlite: bool
) -> CommandRow | None:
    """Create a running child of a composite; return its row, None when this replica has lost the composite.

    Creates nothing when the child exists: a commit may have succeeded without an answer.
    """
    if not on_sqlite and not _is_known(connection, replica):
        return None
    composite = sa.select(commands.c.id).where(
        commands.c.id == values["parent_id"],
        commands.c.replica_id == replica.id,
        commands.c.status == CommandStatus.RUNNING,
    )
    if connection.execute(composite).first() is None:
        return None
    same = sa.select(commands).where(
        commands.c.parent_id == values["parent_id"], commands.c.child_number == values["child_number"]
    )
    if (row := read_row(connection.execute(same))) is not None:
        return row
    created = {key: value for key, value in values.items() if key != "id"} | {"replica_id": replica.id}
    return CommandRow.from_row(connection.execute(sa.insert(commands).values(created).returning(commands)).one())


def _claim_for(connection: sa.Connection, replica: Replica, account_id: int, free: int, now: float) -> list[CommandRow]:
    values = {"account": account_id, "free": free, "claimer": replica.id, "now": now}
    rows = connection.execute(_CLAIM, values)
    return sorted(read_rows(rows), key=lambda row: row.id)


def inherit(connection: sa.Connection, replica: Replica, *, gone: Sequence[Replica], now: float) -> Inheritance:
    """Take over the running commands of replicas that are gone; end those of other hosts as lost."""
    adopted: list[CommandRow] = []
    lost: list[CommandRow] = []
    for other in gone:
        # The replica that deletes the row takes over; a second one finds nothing to delete.
        if connection.execute(sa.delete(replicas).where(replicas.c.id == other.id)).rowcount == 0:
            continue
        theirs = (commands.c.replica_id == other.id) & (commands.c.status == CommandStatus.RUNNING)
        if other.host == replica.host:
            rows = connection.execute(
                sa.update(commands).where(theirs).values(replica_id=replica.id).returning(commands)
            )
            adopted += read_rows(rows)
        else:
            ended = connection.execute(
                sa.update(commands)
                .where(theirs)
                .values(status=CommandStatus.ERROR, end_time=now, message=_LOST.format(host=other.host))
                .returning(commands)
            )
            lost += read_rows(ended)
    return Inheritance(adopted, lost)


def other_replicas(connection: sa.Connection, replica: Replica) -> list[tuple[Replica, float]]:
    """Return the other replicas, each with the end of its lease."""
    rows = connection.execute(sa.select(replicas).where(replicas.c.id != replica.id))
    return [
        (Replica(row.id, row.host, Identity(row.pid, row.boot_id, row.start_ticks)), row.lease_until) for row in rows
    ]


def finish(connection: sa.Connection, replica: Replica, command_id: int, values: Mapping[str, Any]) -> bool:
    """Write a final status; return False when the command no longer belongs to this replica."""
    changed = connection.execute(_END, {"this_command": command_id, "this_replica": replica.id, **values})
    return changed.rowcount == 1


def note(connection: sa.Connection, replica: Replica, command_id: int, values: Mapping[str, Any]) -> None:
    """Write the current state of a running command (progress, attempts, pid)."""
    finish(connection, replica, command_id, values)


def cancel_waiting(connection: sa.Connection, command_id: int, *, now: float, message: str) -> CommandRow | None:
    """Cancel a command that has not started; return its row, None when it was no longer waiting."""
    changed = connection.execute(
        sa.update(commands)
        .where(commands.c.id == command_id, commands.c.status == CommandStatus.WAITING)
        .values(status=CommandStatus.CANCELLED, end_time=now, message=message)
        .returning(commands)
    )
    return read_row(changed)


def request_stop(connection: sa.Connection, command_id: int, request: str) -> None:
    """Ask the replica that runs the command to end it; the first request is kept."""
    connection.execute(
        sa.update(commands)
        .where(
            commands.c.id == command_id,
            commands.c.status == CommandStatus.RUNNING,
            commands.c.stop_reason.is_(None),
        )
        .values(stop_reason=request)
    )


def is_running(connection: sa.Connection, command_id: int, folder_key: str) -> bool:
    """Return whether the command of a folder runs on any replica."""
    query = sa.select(commands.c.status).where(commands.c.id == command_id, commands.c.folder_key == folder_key)
    return connection.execute(query).scalar_one_or_none() == CommandStatus.RUNNING


def stops_wanted(connection: sa.Connection, replica: Replica) -> list[tuple[int, str]]:
    """Return the replica's running commands with a request to end, each with its reason."""
    query = sa.select(commands.c.id, commands.c.stop_reason).where(
        commands.c.replica_id == replica.id,
        commands.c.status == CommandStatus.RUNNING,
        commands.c.stop_reason.is_not(None),
    )
    return [(row.id, row.stop_reason) for row in connection.execute(query)]


def running_ids(connection: sa.Connection, replica: Replica) -> list[int]:
    """Return the ids of the commands that the replica runs."""
    query = sa.select(commands.c.id).where(
        commands.c.replica_id == replica.id, commands.c.status == CommandStatus.RUNNING
    )
    return list(connection.execute(query).scalars())


def rows_of(connection: sa.Connection, command_ids: Collection[int]) -> list[CommandRow]:
    """Return the rows of the commands among these that still run."""
    query = sa.select(commands).where(commands.c.id.in_(command_ids), commands.c.status == CommandStatus.RUNNING)
    return read_rows(connection.execute(query))


def row_of(connection: sa.Connection, command_id: int) -> CommandRow:
    """Return the row of an existing command."""
    return CommandRow.from_row(connection.execute(sa.select(commands).where(commands.c.id == command_id)).one())


def running_child(connection: sa.Connection, composite_id: int) -> CommandRow | None:
    """Return the row of a composite's running child, None when there is none."""
    query = sa.select(commands).where(commands.c.parent_id == composite_id, commands.c.status == CommandStatus.RUNNING)
    return read_row(connection.execute(query))


def some_wait(connection: sa.Connection) -> bool:
    """Return whether any command waits."""
    return bool(connection.execute(_SOME_WAIT).scalar())
