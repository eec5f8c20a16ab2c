"""How commands end: requests to stop them, waiting for their end, and what follows from it.

Hooks write what follows (e-mails, the state of a pipeline, the next action of a schedule) in the transaction that ends
the command. A hook that fails stops neither the end nor the other hooks: its call is stored in `owed_ends` and repeated
later.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
import structlog

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.database.errors import is_away
from svc_jupyter.service.ground.background import RETRY_SECONDS
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.schema.commands import owed_ends

ENDED = "ended"
"""The bus topic on which the end of a command is announced, with its id."""
STOP = "stop"
"""The bus topic for requests to end a running command: `<id> <stop request>`."""
AtEnd = Callable[[sa.Connection, CommandRow], None]
"""Called with the finished row inside the transaction that ends a command."""
_AT_ONCE: Final = 200
_PATIENCE_SECONDS: Final = 7 * 24 * 3600.0
"""How long a failed hook is repeated; by then, a maintainer has read the log and corrected the cause."""
log = structlog.get_logger(__name__)


class StopReason(StrEnum):
    """Why a running command is to be ended."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    COMPOSITE = "composite"
    """Its composite command is ended."""
    CLUSTER = "cluster"
    """Its cluster is terminated."""


def stop_request(reason: StopReason, detail: str = "") -> str:
    """Return a reason as the commands table and the bus carry it; `detail` is for the user."""
    return f"{reason.value} {detail}" if detail else reason.value


def parse_stop_request(text: str) -> tuple[StopReason, str]:
    """Return the arguments of `stop_request` from its text."""
    reason, _, detail = text.partition(" ")
    return StopReason(reason), detail


class End:
    """The awaited end of a command."""

    def __init__(self) -> None:
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Wake the waiter."""
        self._announced.set()

    async def within(self, seconds: float) -> bool:
        """Return True at the next announcement or one since the last call, False after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return False
        self._announced.clear()
        return True


class Ends:
    """Wakes those who wait for the end of a command. An announcement without an id wakes all."""

    def __init__(self, bus: Bus) -> None:
        self._waiting: dict[int, set[End]] = defaultdict(set)
        bus.subscribe(ENDED, self._on_ended)

    @contextmanager
    def expected(self, command_id: int) -> Iterator[End]:
        """Yield the end of a command; announcements inside the block are not missed."""
        end = End()
        waiting = self._waiting[command_id]
        waiting.add(end)
        try:
            yield end
        finally:
            waiting.discard(end)
            if not waiting:
                self._waiting.pop(command_id, None)

    async def wait(self, command_id: int, seconds: float) -> bool:
        """Wait up to `seconds` for an announcement; return whether there was one."""
        with self.expected(command_id) as end:
            return await end.within(seconds)

    def wake_all(self) -> None:
        """Wake all waiters, as when the service stops."""
        self._on_ended("")

    def _on_ended(self, payload: str) -> None:
        ids = [int(payload)] if payload else list(self._waiting)
        for command_id in ids:
            for end in self._waiting.get(command_id, ()):
                end.announce()


class EndWriter:
    """Writes the ends of a replica's commands, and what follows from them."""

    def __init__(self, database: Database, bus: Bus, lease: Lease, hooks: Sequence[AtEnd]) -> None:
        self._database = database
        self._bus = bus
        self._lease = lease
        self._hooks = hooks

    async def write(self, row: CommandRow, values: Mapping[str, Any]) -> None:
        """Write the final values of a running command's row. Retries while the database is away: no end is lost.

        After a failure, each hook runs in a savepoint of its own, which costs an extra statement per hook.
        """
        call, is_bare = self._call_together, False
        while True:
            try:
                await self._database.write(partial(self._write, row, values, call), durable=False)
            except Unavailable:
                log.warning("end_not_written_yet", command_id=row.id)
                call = self.call_hooks
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                if is_bare:
                    raise
                if call == self.call_hooks:
                    log.exception("end_not_written_whole", command_id=row.id)
                    values, is_bare = _bare_end(values), True
                call = self.call_hooks
            else:
                log.info("command_ended", command_id=row.id, status=str(values["status"]))
                return

    def call_hooks(self, connection: sa.Connection, row: CommandRow) -> None:
        """Call all hooks for the end of a command, each in a savepoint of its own, in the transaction that ends it."""
        call_apart(connection, self._hooks, row)
        self._bus.publish(connection, ENDED, str(row.id))

    async def call_owed(self) -> None:
        """Repeat the stored calls, each in a transaction of its own. Raises `Unavailable`."""
        for owed in await self._database.look_up(_owed):
            try:
                await self._database.write(partial(self._pay, owed), durable=False)
            except Exception:
                log.exception("end_still_not_reported", command_id=owed.command_id, to=owed.owed_to)

    def _write(self, row: CommandRow, values: Mapping[str, Any], call: AtEnd, connection: sa.Connection) -> None:
        if queue.finish(connection, self._lease.replica, row.id, values):
            call(connection, row.updated(values))

    def _call_together(self, connection: sa.Connection, row: CommandRow) -> None:
        for hook in self._hooks:
            hook(connection, row)
        self._bus.publish(connection, ENDED, str(row.id))

    def _pay(self, owed: sa.Row[Any], connection: sa.Connection) -> None:
        """Repeat one stored call and delete its row; another replica may already have done so."""
        is_old = owed.since < time.time() - _PATIENCE_SECONDS
        hook = next((hook for hook in self._hooks if _name(hook) == owed.owed_to), None)
        if hook is None and not is_old:
            return
        this = (owed_ends.c.command_id == owed.command_id) & (owed_ends.c.owed_to == owed.owed_to)
        if connection.execute(sa.delete(owed_ends).where(this)).rowcount == 0:
            return
        if hook is None or is_old:
            log.error("end_never_reported", command_id=owed.command_id, to=owed.owed_to)
            return
        hook(connection, queue.row_of(connection, owed.command_id))


def call_apart(connection: sa.Connection, hooks: Sequence[AtEnd], row: CommandRow) -> None:
    """Call each hook with the ended row. A call that fails is stored and repeated later.

    Raises only errors that mean that the database is away.
    """
    for hook in hooks:
        try:
            with connection.begin_nested():
                hook(connection, row)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("end_not_reported", command_id=row.id, to=_name(hook))
            owed = conflict_insert(connection, owed_ends).values(
                command_id=row.id, owed_to=_name(hook), since=time.time()
            )
            connection.execute(owed.on_conflict_do_nothing())


def _owed(connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    return connection.execute(sa.select(owed_ends).order_by(owed_ends.c.since).limit(_AT_ONCE)).all()


def _name(hook: AtEnd) -> str:
    return getattr(hook, "__qualname__", type(hook).__qualname__)


def _bare_end(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the end of a command without the values that may have made it unwritable."""
    message = "the command ended, but not everything about its end could be stored; the service's log says why"
    return {
        "status": values["status"],
        "end_time": values["end_time"],
        "progress": values["progress"],
        "message": message,
    }
