"""The children of composite commands: each sub-command is a command of its own.

A child is created `running`, on the replica that runs its composite and in the composite's slot. If children had to
wait for slots, as many composites as there are slots would block each other forever. The rows record how far a
composite has come, so that it continues there after a restart and each child runs once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.cluster_gate import ClusterGate
from svc_jupyter.service.commands.ends import Ends
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.commands.rows import CommandRow, new_folder_key, read_row
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import insist
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.macros.macros import resolve
from svc_jupyter.service.schema.commands import NEW_ROW, commands
from svc_jupyter.service.schema.schedules import actions, schedules

COMMON_FIELDS = ("name", "tags", "label", "pool", "timeout", "retry", "retry_delay", "can_notify", "macros")
"""The fields of a sub-command besides its type's own; its composite's record shows those that were given."""
_FROM_COMPOSITE = ("label", "pool", "retry", "retry_delay")
"""The fields that a sub-command takes from its composite by default."""
_ALL_THE_SAME = ("account_id", "user_id", "edited_by", "command_source", "notebook", "nominal_time")
_LOOK_SECONDS = 5.0
"""How long to wait for the announcement of an end before reading the database: it may have been lost."""
_CHILD = sa.select(commands).where(
    commands.c.parent_id == sa.bindparam("composite"), commands.c.child_number == sa.bindparam("number")
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A child, and whether it was created now or already existed."""

    row: CommandRow
    is_new: bool


class Children:
    """Starts and follows the children of the composites that run on this replica."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        lease: Lease,
        places: ChildClusters,
        *,
        launch: Callable[[CommandRow], None],
        end_job: Callable[[int], None],
    ) -> None:
        self._database = database
        self._lease = lease
        self._places = places
        self._launch = launch
        self._end_job = end_job
        self._ends = Ends(bus)

    async def begin(self, composite: CommandRow, number: int, share: Share, say: Callable[[str], None]) -> Begun:
        """Return a composite's child, created and launched if needed; waits while the database is away.

        Waits first until the child's cluster is UP, unless `share` is to end. Raises `MacroError` when the
        sub-command's own macros have no value, `Invalid` and `ClusterFailure` when there is no cluster to run it.
        """
        found = await insist(partial(self._find, composite.id, number))
        if found is not None:
            if not found.is_final:
                self._launch(found)  # unless its job already runs
            return Begun(found, is_new=False)
        resolved = await insist(partial(self._resolved_macros, composite, number))
        values = child_values(composite, number, resolved)
        values["cluster_id"] = cluster_id = await insist(partial(self._places.cluster_of, values))
        row = None
        while row is None:
            if cluster_id is not None:
                say(f"sub-command {number} ({values['command_type']}) waits until its cluster is UP")
                await insist(partial(self._places.until_up, values, lambda: share.is_to_end))
            row = await insist(partial(self._create, values))
        self._launch(row)
        return Begun(row, is_new=True)

    async def end_of(self, child_id: int) -> CommandRow:
        """Return the row of a child once it has ended."""
        look = partial(self._database.look_up, partial(queue.row_of, command_id=child_id))
        with self._ends.expected(child_id) as ended:
            while not (row := await insist(look)).is_final:
                await ended.within(_LOOK_SECONDS)
        return row

    def end(self, child_id: int) -> None:
        """Begin to end a running child because its composite is to end."""
        self._end_job(child_id)

    async def end_all(self, composite_id: int) -> None:
        """End the child that an earlier service left running, if any; return when it has ended."""
        work = partial(queue.running_child, composite_id=composite_id)
        child = await insist(partial(self._database.look_up, work))
        if child is not None:
            self._launch(child)
            self._end_job(child.id)
            await self.end_of(child.id)

    async def _find(self, composite_id: int, number: int) -> CommandRow | None:
        return await self._database.look_up(partial(find_child, composite_id=composite_id, number=number))

    async def _create(self, values: Mapping[str, Any]) -> CommandRow | None:
        """Return the new row, None when its cluster has gone down."""
        is_open, created = await self._database.write(partial(self._insert, values))
        if is_open and created is None:
            raise Unavailable("the composite command runs on another replica by now")
        return created

    def _insert(self, values: Mapping[str, Any], connection: sa.Connection) -> tuple[bool, CommandRow | None]:
        if not self._places.is_open(connection, values):
            return False, None
        row = {**NEW_ROW, **values, "folder_key": new_folder_key(), "start_time": time.time()}
        on_sqlite = self._database.on_sqlite
        return True, queue.begin_child(connection, self._lease.replica, row, on_sqlite=on_sqlite)

    async def _resolved_macros(self, composite: CommandRow, number: int) -> list[dict[str, Any]]:
        """Return the composite's macros with their values, then the sub-command's own with theirs."""
        given = list(composite.resolved_macros or [])
        own = composite.command["sub_commands"][number - 1].get("macros")
        if not own:
            return given
        known = constants(given, own)
        zone = await self._time_zone(composite)
        resolved = await asyncio.to_thread(resolve, [*known, *own], nominal_time_of(composite), zone)
        return given + resolved[len(known) :]

    async def _time_zone(self, composite: CommandRow) -> str:
        """Return the time zone of the nominal time: the schedule's, else UTC."""
        if composite.command_source != CommandSource.SCHEDULED:
            return "UTC"
        query = (
            sa.select(schedules.c.time_zone)
            .join(actions, actions.c.schedule_id == schedules.c.id)
            .where(actions.c.command_id == composite.id)
        )
        return await self._database.look_up(lambda connection: connection.execute(query).scalar()) or "UTC"


@dataclass(slots=True)
class Share:
    """The current sub-command of a composite, and its part of the composite's progress."""

    number: int
    of: int
    children: Children
    child_id: int | None = None
    is_to_end: bool = False

    def percent(self, of_child: int) -> int:
        """Return the progress of the composite."""
        return (100 * (self.number - 1) + of_child) // self.of

    def has_begun(self, child_id: int) -> None:
        """Record the sub-command's id."""
        self.child_id = child_id
        if self.is_to_end:
            self.children.end(child_id)

    def end(self) -> None:
        """End the sub-command; one that is being created is ended as soon as it exists."""
        self.is_to_end = True
        if self.child_id is not None:
            self.children.end(self.child_id)


def find_child(connection: sa.Connection, composite_id: int, number: int) -> CommandRow | None:
    """Return the row of a composite's sub-command `number`, counted from 1; None when it has not started."""
    return read_row(connection.execute(_CHILD, {"composite": composite_id, "number": number}))


def child_values(composite: CommandRow, number: int, resolved_macros: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the values of a child's row, from the row of its composite."""
    described = composite.command["sub_commands"][number - 1]
    common = {key: described[key] for key in COMMON_FIELDS if key != "macros" and described.get(key) is not None}
    return {
        **{key: getattr(composite, key) for key in (*_ALL_THE_SAME, *_FROM_COMPOSITE)},
        **common,
        "command_type": described["command_type"],
        "command": {key: item for key, item in described.items() if key not in (*COMMON_FIELDS, "command_type")},
        "status": CommandStatus.RUNNING.value,
        "created_at": time.time(),
        "resolved_macros": resolved_macros or None,
        "parent_id": composite.id,
        "child_number": number,
    }


def constants(given: list[dict[str, Any]], own: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the macros among `given` that are named in `own` expressions, as expressions with the same values."""
    expressions = "\n".join(expression for macro in own for expression in macro.values())
    return [
        {name: f"JSON.parse({json.dumps(json.dumps(value))})"}
        for macro in given
        for name, value in macro.items()
        if name in expressions
    ]


def nominal_time_of(row: CommandRow) -> datetime:
    """Return the nominal time of a command; outside a schedule, the time of submission."""
    if row.nominal_time is None:
        return datetime.fromtimestamp(row.created_at, UTC)
    return datetime.fromisoformat(row.nominal_time)


def in_a_line(row: CommandRow) -> str:
    """Return how a command ended, as one line for another command's log."""
    first = (row.message or "").partition("\n")[0]
    return f"{row.status} ({first})" if first else str(row.status)


class ChildClusters:
    """Finds the cluster that a sub-command needs; it must be UP before the sub-command's row is created."""

    def __init__(self, database: Database, gate: ClusterGate, kinds: Mapping[str, Kind]) -> None:
        self._database = database
        self._gate = gate
        self._kinds = kinds

    async def cluster_of(self, values: Mapping[str, Any]) -> int | None:
        """Return the id of the cluster that must be UP for the row of a sub-command, None where none is needed.

        Raises `Invalid` when no cluster can run it.
        """
        kind = self._kinds[values["command_type"]]
        return await self._database.look_up(partial(self._gate.place, kind=kind, values=values))

    async def until_up(self, values: Mapping[str, Any], is_given_up: Callable[[], bool]) -> None:
        """Return once the cluster of a row is UP; start it when it is DOWN. Raises like `ClusterGate.until_up`."""
        await self._gate.until_up(values["cluster_id"], values["user_id"], is_given_up=is_given_up)

    def is_open(self, connection: sa.Connection, values: Mapping[str, Any]) -> bool:
        """Return whether the sub-command of a row may begin in this transaction."""
        cluster_id = values["cluster_id"]
        return cluster_id is None or self._gate.open_for(connection, cluster_id, values["user_id"])
