"""The ticker: wakes exactly when work is due, and leaves it to `materialisation`.

There is one per database: on SQLite by the data folder's lock, on PostgreSQL by a lease.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.service_lease import ServiceLease
from svc_jupyter.service.ground.background import Pulse, run_forever
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.schedules.beginnings import Beginnings
from svc_jupyter.service.schedules.dependencies import DependencyChecker
from svc_jupyter.service.schedules.dependency_checks import CHECK_SECONDS, DependencyWatch
from svc_jupyter.service.schedules.materialisation import TICK, Materialisation, next_moments
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import AT_ONCE, actions, schedules

LONGEST_SLEEP_SECONDS = 60.0
"""The longest delay until a clock change or the machine's sleep is noticed."""
_LEFT = "left"
"""Payload of `TICK`: the ticker has stopped, and another replica may take its place."""
_SPACING_SECONDS = 0.02
"""Frequent events are handled together: waiting for the disk takes as long as the work."""
_LONGEST_LOCKED_SECONDS = 1.0
_RECOVER_SECONDS = 300.0
LEASE_SECONDS = 6.0
LEASE = "ticker"
_ENDS_AT_ONCE = 500
log = structlog.get_logger(__name__)


class Ticker:
    """Materialises actions, begins them, and checks their dependencies."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        work: Materialisation,
        checker: DependencyChecker,
        clock: Callable[[], float] = time.time,
        lease: ServiceLease | None = None,
    ) -> None:
        self._database = database
        self._bus = bus
        self._work = work
        self._clock = clock
        self._lease = lease or ServiceLease(LEASE, LEASE_SECONDS)
        self._beginnings = Beginnings(database, work, clock, on_lost=self._find_again)
        self._watch = DependencyWatch(database, work, checker, clock)
        self.pulse = Pulse()
        """How late the ticker's loop is on this replica."""
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        # Times of the monotonic clock, which is never set.
        self._renew_at = self._recover_at = 0.0
        self._is_ticker = database.on_sqlite
        self._locked_seconds = 0.0
        bus.subscribe(TICK, self._on_tick)

    async def start(self) -> None:
        """Start the ticker."""
        self._loop = asyncio.create_task(run_forever("ticker", self._step), name="ticker")

    async def stop(self) -> None:
        """Stop the ticker; due work waits for the next one."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._beginnings.stop()
        await self._watch.stop()
        if self._is_ticker and not self._database.on_sqlite:
            with contextlib.suppress(Unavailable):
                await self._database.write(self._leave)

    def on_command_end(self, connection: sa.Connection, row: CommandRow) -> None:
        """End the action of a scheduled command, in the transaction that ends the command."""
        if row.command_source == CommandSource.SCHEDULED:
            command = {"id": row.id, "status": row.status, "message": row.message}
            self._work.command_ended(connection, command, self._clock())

    def _on_tick(self, payload: str) -> None:
        if payload == _LEFT:
            self._renew_at = 0.0
        self._wake.set()

    def _leave(self, connection: sa.Connection) -> None:
        self._lease.leave(connection)
        self._bus.publish(connection, TICK, _LEFT)

    async def _step(self) -> None:
        """Do what is due now, then sleep until the next work is due or announced."""
        self.pulse.begin()
        self._wake.clear()
        begun = time.monotonic()
        pause = LONGEST_SLEEP_SECONDS
        try:
            await self._renew(begun)
            if self._is_ticker:
                await self._recover(begun)
                pause = await self._do_what_is_due()
        except Unavailable:
            self._recover_at = 0.0  # a commit without an answer may have succeeded
            raise
        if not self._database.on_sqlite:
            pause = min(pause, max(0.0, self._renew_at - time.monotonic()))
        self.pulse.rest(pause)
        await self._sleep(pause, spaced_from=begun)

    async def _sleep(self, pause: float, *, spaced_from: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._wake.wait()
        await asyncio.sleep(spaced_from + _SPACING_SECONDS - time.monotonic())

    async def _renew(self, now: float) -> None:
        if self._database.on_sqlite or now < self._renew_at:
            return
        held = await self._database.write(self._lease.hold)
        if held and not self._is_ticker:
            self._recover_at = 0.0
        self._is_ticker = held
        self._renew_at = now + self._lease.renew_seconds

    async def _recover(self, now: float) -> None:
        """Repair what failures left behind, at the start and regularly."""
        if now < self._recover_at:
            return
        await self._database.write(partial(wake_stranded, now=self._clock()))
        for command in await self._database.read(missed_ends):
            await self._end_missed(command)
        self._recover_at = now + _RECOVER_SECONDS

    async def _end_missed(self, command: Mapping[str, Any]) -> None:
        """End the action of a command; a failure must not stop the others."""
        try:
            await self._database.write(partial(self._work.command_ended, command=command, now=self._clock()))
        except Unavailable:
            raise
        except Exception:
            log.exception("action_not_ended", command_id=command["id"])

    async def _do_what_is_due(self) -> float:
        """Do what is due; return the seconds until there is more work."""
        due_at, look_at = await self._database.look_up(next_moments)
        now = self._clock()
        if now < min(due_at, look_at):
            return float(min(min(due_at, look_at) - now, LONGEST_SLEEP_SECONDS))
        taken = await self._tick() if due_at <= now else 0
        taken += await self._watch.start_due() if look_at <= now else 0
        # Schedules that could not be taken are locked by another transaction, usually briefly.
        longer = min(2 * self._locked_seconds + _SPACING_SECONDS, _LONGEST_LOCKED_SECONDS)
        self._locked_seconds = 0.0 if taken else longer
        return self._locked_seconds

    async def _tick(self) -> int:
        tick = partial(self._work.tick, now=self._clock())
        try:
            ticked = await self._database.write(tick)
        except Unavailable:
            raise
        except Exception:  # noqa: BLE001  whatever it was: find out which schedule
            ticked = await self._database.write(partial(tick, careful=True))
        for item in ticked.ready:
            self._beginnings.add(item)
        return ticked.looked_at

    def _find_again(self) -> None:
        """Plan a recovery: an action may be neither begun nor planned."""
        self._recover_at = 0.0
        self._wake.set()


def wake_stranded(connection: sa.Connection, now: float) -> None:
    """Make schedules with an action that has not begun due at once, and checks that are planned too late.

    These remain after a clock was set back. Rows locked by another transaction are left to it.
    """
    ready = sa.select(actions.c.schedule_id).where(
        sa.not_(actions.c.done), actions.c.command_id.is_(None), actions.c.status == ActionStatus.SUBMITTED
    )
    stranded = sa.select(schedules.c.id).where(schedules.c.id.in_(ready)).with_for_update(skip_locked=True)
    connection.execute(sa.update(schedules).where(schedules.c.id.in_(stranded)).values(due_at=AT_ONCE))
    late = sa.select(actions.c.id).where(actions.c.look_at > now + CHECK_SECONDS).with_for_update(skip_locked=True)
    connection.execute(sa.update(actions).where(actions.c.id.in_(late)).values(look_at=now))


def missed_ends(connection: sa.Connection) -> Sequence[Mapping[str, Any]]:
    """Return ended commands whose action has not ended: `id`, `status` and `message` of each."""
    under_way = sa.select(actions.c.command_id).where(sa.not_(actions.c.done), actions.c.command_id.is_not(None))
    ids = connection.execute(under_way).scalars().all()
    found: list[Mapping[str, Any]] = []
    for start in range(0, len(ids), _ENDS_AT_ONCE):
        ended = connection.execute(
            sa.select(commands.c.id, commands.c.status, commands.c.message).where(
                commands.c.id.in_(ids[start : start + _ENDS_AT_ONCE]),
                commands.c.status.in_([CommandStatus.DONE, CommandStatus.ERROR, CommandStatus.CANCELLED]),
            )
        ).mappings()
        found += [dict(row) for row in ended]
    return found
