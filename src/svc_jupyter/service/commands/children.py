"""The children of composite commands: each sub-command is a command of its own, which begins beside its composite.

A child is created `running`, on the replica that runs its composite and in one slot with it: if it had to wait for a
slot, as many composites as there are slots would wait for each other for ever. The rows say how far a composite has
come, so that it goes on there after a restart, and each child runs once.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.background import RETRY_SECONDS
from svc_jupyter.service.commands.child_places import ChildPlaces
from svc_jupyter.service.commands.ends import Ends
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.commands.record import Row, is_final
from svc_jupyter.service.commands.roots import new_folder_key
from svc_jupyter.service.commands.tables import NEW_ROW, commands
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Unavailable
from svc_jupyter.service.schedules.macros import resolve
from svc_jupyter.service.schedules.tables import actions, schedules

Result = TypeVar("Result")
COMMON_FIELDS = ("name", "tags", "label", "pool", "timeout", "retry", "retry_delay", "can_notify", "macros")
"""What a sub-command may have besides its type's own fields; its composite's record shows those that were given."""
_FROM_COMPOSITE = ("label", "pool", "retry", "retry_delay")
"""What a sub-command has of its composite when it says nothing itself."""
_ALL_THE_SAME = ("account_id", "user_id", "edited_by", "command_source", "nominal_time")
_LOOK_SECONDS = 5.0
"""How long one waits for the announcement of an end before looking at the database: it may have been lost."""
_CHILD = sa.select(commands).where(
    commands.c.parent_id == sa.bindparam("composite"), commands.c.child_number == sa.bindparam("number")
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A child, and whether it was created just now rather than found."""

    row: Row
    is_new: bool


class Children:
    """Begins and follows the children of the composites that run on this replica."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        lease: Lease,
        places: ChildPlaces,
        *,
        launch: Callable[[Row], None],
        end_job: Callable[[int], None],
    ) -> None:
        self._database = database
        self._lease = lease
        self._places = places
        self._launch = launch
        self._end_job = end_job
        self._ends = Ends(bus)

    async def begin(self, composite: Row, number: int, share: Share, say: Callable[[str], None]) -> Begun:
        """Return a composite's child, created and launched if it was not there; waits while the database is away.

        Before, its cluster is UP; `share` tells when nobody wants it any more. Raises `MacroError` when the
        sub-command's own macros have no value, `Invalid` and `ClusterFailure` when there is no cluster to run it.
        """
        found = await self._insisting(partial(self._find, composite["id"], number))
        if found is not None:
            if not is_final(found):
                self._launch(found)  # unless its job is there already
            return Begun(found, is_new=False)
        resolved = await self._insisting(partial(self._resolved_macros, composite, number))
        values = child_values(composite, number, resolved)
        values["cluster_id"] = cluster_id = await self._insisting(partial(self._places.cluster_of, values))
        row = None
        while row is None:
            if cluster_id is not None:
                say(f"sub-command {number} ({values['command_type']}) waits until its cluster is UP")
                await self._insisting(partial(self._places.until_up, values, lambda: share.is_to_end))
            row = await self._insisting(partial(self._create, values))
        self._launch(row)
        return Begun(row, is_new=True)

    async def end_of(self, child_id: int) -> Row:
        """Return the row of a child once it has ended."""
        look = partial(self._database.look_up, partial(queue.row_of, command_id=child_id))
        with self._ends.expected(child_id) as ended:
            while not is_final(row := await self._insisting(look)):
                await ended.within(_LOOK_SECONDS)
        return row

    def end(self, child_id: int) -> None:
        """Begin to end a running child, since its composite is to end."""
        self._end_job(child_id)

    async def end_all(self, composite_id: int) -> None:
        """End the child that an earlier service left running, if there is one, and return when it has ended."""
        work = partial(queue.running_child, composite_id=composite_id)
        child = await self._insisting(partial(self._database.look_up, work))
        if child is not None:
            self._launch(child)
            self._end_job(child["id"])
            await self.end_of(child["id"])

    async def _find(self, composite_id: int, number: int) -> Row | None:
        return await self._database.look_up(partial(find_child, composite_id=composite_id, number=number))

    async def _create(self, values: Mapping[str, Any]) -> Row | None:
        """Return the new row, None when its cluster went down meanwhile."""
        is_open, created = await self._database.write(partial(self._insert, values))
        if is_open and created is None:
            raise Unavailable("the composite command runs on another replica by now")
        return created

    def _insert(self, values: Mapping[str, Any], connection: sa.Connection) -> tuple[bool, Row | None]:
        if not self._places.is_open(connection, values):
            return False, None
        row = {**NEW_ROW, **values, "folder_key": new_folder_key(), "start_time": time.time()}
        on_sqlite = self._database.on_sqlite
        return True, queue.begin_child(connection, self._lease.replica, row, on_sqlite=on_sqlite)

    async def _resolved_macros(self, composite: Row, number: int) -> list[dict[str, Any]]:
        """Return the composite's macros with their values, then the sub-command's own with theirs."""
        given = list(composite["resolved_macros"] or [])
        own = composite["command"]["sub_commands"][number - 1].get("macros")
        if not own:
            return given
        known = constants(given, own)
        zone = await self._time_zone(composite)
        resolved = await asyncio.to_thread(resolve, [*known, *own], nominal_time_of(composite), zone)
        return given + resolved[len(known) :]

    async def _time_zone(self, composite: Row) -> str:
        """Return the zone in which the nominal time is meant: the schedule's, or else UTC."""
        if composite["command_source"] != CommandSource.SCHEDULED:
            return "UTC"
        query = (
            sa.select(schedules.c.time_zone)
            .join(actions, actions.c.schedule_id == schedules.c.id)
            .where(actions.c.command_id == composite["id"])
        )
        return await self._database.look_up(lambda connection: connection.execute(query).scalar()) or "UTC"

    async def _insisting(self, step: Callable[[], Awaitable[Result]]) -> Result:
        """Do a step, however long the database is away: a composite that has begun must be able to go on."""
        while True:
            try:
                return await step()
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)


@dataclass(slots=True)
class Share:
    """The sub-command that a composite is at, and what that means for its progress."""

    number: int
    of: int
    children: Children
    child_id: int | None = None
    is_to_end: bool = False

    def percent(self, of_child: int) -> int:
        """Return the progress of the composite."""
        return (100 * (self.number - 1) + of_child) // self.of

    def has_begun(self, child_id: int) -> None:
        """Take note of the sub-command's own id."""
        self.child_id = child_id
        if self.is_to_end:
            self.children.end(child_id)

    def end(self) -> None:
        """End the sub-command; one that is just being created is ended when it is there."""
        self.is_to_end = True
        if self.child_id is not None:
            self.children.end(self.child_id)


def find_child(connection: sa.Connection, composite_id: int, number: int) -> Row | None:
    """Return the row of a composite's sub-command `number`, counted from 1, or None when it has not begun."""
    row = connection.execute(_CHILD, {"composite": composite_id, "number": number}).mappings().one_or_none()
    return None if row is None else dict(row)


def child_values(composite: Row, number: int, resolved_macros: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the values of a child's row, from the row of its composite."""
    described = composite["command"]["sub_commands"][number - 1]
    common = {key: described[key] for key in COMMON_FIELDS if key != "macros" and described.get(key) is not None}
    return {
        **{key: composite[key] for key in (*_ALL_THE_SAME, *_FROM_COMPOSITE)},
        **common,
        "command_type": described["command_type"],
        "command": {key: item for key, item in described.items() if key not in (*COMMON_FIELDS, "command_type")},
        "status": CommandStatus.RUNNING.value,
        "created_at": time.time(),
        "resolved_macros": resolved_macros or None,
        "parent_id": composite["id"],
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


def nominal_time_of(row: Row) -> datetime:
    """Return the nominal time of a command: outside a schedule the time of submission."""
    if row["nominal_time"] is None:
        return datetime.fromtimestamp(row["created_at"], UTC)
    return datetime.fromisoformat(row["nominal_time"])


def in_a_line(row: Mapping[str, Any]) -> str:
    """Return how a command ended, for the log of another one."""
    first = (row["message"] or "").partition("\n")[0]
    return f"{row['status']} ({first})" if first else str(row["status"])
