"""Claims commands and runs them: the working part of a replica."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import psutil
import sqlalchemy as sa
import structlog

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.children import ChildClusters, Children
from svc_jupyter.service.commands.cluster_gate import ClusterGate
from svc_jupyter.service.commands.ends import STOP, AtEnd, EndWriter, StopReason, parse_stop_request
from svc_jupyter.service.commands.job import Job, Values
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.commands.queue import WAITING
from svc_jupyter.service.commands.record import Live
from svc_jupyter.service.commands.rows import CommandRow, RootName, command_root, parse_root_name
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import run_forever
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.marks import mark_of, marked_processes

_FLUSH_SECONDS = 1.0
_SWEEP_SECONDS = 60.0
_SETTLING_SECONDS = 10.0
"""How long, besides the grace of a kill, a command that is being ended may take before the service stops without it."""
log = structlog.get_logger(__name__)


class Runner:
    """Runs claimed commands, keeps the lease, and takes over from replicas that are gone."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        bus: Bus,
        kinds: Mapping[str, Kind],
        *,
        gate: ClusterGate,
        at_end: Sequence[AtEnd],
    ) -> None:
        self._settings = settings
        self._database = database
        self._bus = bus
        self._kinds = kinds
        self._lease = Lease(database, settings.lease_seconds)
        self._ends = EndWriter(database, bus, self._lease, at_end)
        place = ChildClusters(database, gate, kinds)
        self._children = Children(database, bus, self._lease, place, launch=self._launch, end_job=self._end_child)
        self._jobs: dict[int, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._some_wait = False
        self._unsaved: set[int] = set()
        self._unknown: set[int] = set()
        bus.subscribe(WAITING, self._on_waiting)
        bus.subscribe(STOP, self._on_stop)

    @property
    def replica(self) -> queue.Replica:
        """The process's identity among the replicas; also for work other than commands."""
        return self._lease.replica

    @property
    def is_busy(self) -> bool:
        """Whether a command runs here."""
        return bool(self._jobs)

    def live(self, command_id: int) -> Live | None:
        """Return the current state of a command that runs here, else None."""
        job = self._jobs.get(command_id)
        return None if job is None else job.live

    async def start(self) -> None:
        """Register, take over from replicas that are gone, and begin to claim."""
        await self._lease.register()
        await self._take_over()
        loops: dict[str, Callable[[], Awaitable[None]]] = {"claim": self._claim_next, "sweep": self._sweep_next}
        if not self._database.on_sqlite:
            loops["lease"] = self._keep_lease
        self._loops = [asyncio.create_task(run_forever(name, step), name=name) for name, step in loops.items()]
        self._on_waiting("")

    async def stop(self) -> None:
        """Stop the work without ending processes; the next service on this host finds them again.

        A command that is being ended gets some time for that: it may wait for the database, which may stay away.
        """
        tasks = [*self._loops, *self._tasks]
        while any(not task.done() for task in tasks):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=self._settings.kill_grace_seconds + _SETTLING_SECONDS)
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Unavailable):
            await self._lease.leave()

    # Claiming

    def _on_waiting(self, account_id: str) -> None:
        self._some_wait = True
        here = sum(
            1 for job in self._jobs.values() if str(job.row.account_id) == account_id and job.row.parent_id is None
        )
        if here < self._settings.running_limit:  # else the next end frees a slot
            self._wake.set()

    async def _claim_next(self) -> None:
        with contextlib.suppress(TimeoutError):
            # On PostgreSQL a notification can be lost with its connection: check regularly.
            async with asyncio.timeout(None if self._database.on_sqlite else self._settings.lease_seconds):
                await self._wake.wait()
        self._wake.clear()
        again = True  # also after a failure
        try:
            rows = await self._database.write(self._claim)
            for row in rows:
                self._launch(row)
            self._some_wait = await self._database.look_up(queue.some_wait)
            again = bool(rows) and self._some_wait
        finally:
            if again:
                self._wake.set()

    def _claim(self, connection: sa.Connection) -> Sequence[CommandRow]:
        return queue.claim(
            connection,
            self._lease.replica,
            limit=self._settings.running_limit,
            now=time.time(),
            on_sqlite=self._database.on_sqlite,
        )

    def _launch(self, row: CommandRow) -> None:
        command_id = row.id
        if command_id in self._jobs:
            return
        job = Job(
            row,
            self._kinds[row.command_type],
            self._settings,
            root=command_root(self._settings.commands_dir, row.id, row.folder_key),
            note=partial(self._note, command_id),
            on_progress=partial(self._plan_flush, command_id),
            children=self._children,
        )
        self._jobs[command_id] = job
        task = asyncio.create_task(self._run(job), name=f"command-{command_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if row.stop_reason is not None:
            job.stop(*parse_stop_request(row.stop_reason))

    async def _run(self, job: Job) -> None:
        timeout = asyncio.get_running_loop().call_later(job.kill_in_seconds(time.time()), job.stop, StopReason.TIMEOUT)
        try:
            with contextlib.suppress(Unavailable):
                await self._look_for_stops()  # one that was asked for since the claim found no job here
            values = await job.run()
            await self._ends.write(job.row, values)
        except Exception:
            log.exception("command_not_ended", command_id=job.id)
            raise
        finally:
            timeout.cancel()
            if self._jobs.get(job.id) is job:
                del self._jobs[job.id]
            self._unsaved.discard(job.id)
            if self._some_wait:
                self._wake.set()

    async def _note(self, command_id: int, values: Values) -> None:
        with contextlib.suppress(Unavailable):
            await self._database.write(
                partial(queue.note, replica=self._lease.replica, command_id=command_id, values=values), durable=False
            )

    # Progress: kept in memory, saved once a second.

    def _plan_flush(self, command_id: int) -> None:
        if not self._unsaved:
            asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._flush)
        self._unsaved.add(command_id)
        job = self._jobs.get(command_id)
        if job is not None and (composite := self._jobs.get(job.row.parent_id or 0)) is not None:
            composite.child_progressed(job.live.progress)

    def _flush(self) -> None:
        jobs = [self._jobs[command_id] for command_id in self._unsaved if command_id in self._jobs]
        self._unsaved.clear()
        for job in jobs:
            values = {"progress": job.live.progress, "result_rows": job.live.rows}
            task = asyncio.create_task(self._note(job.id, values))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    # Stopping commands

    def _on_stop(self, payload: str) -> None:
        command_id, _, request = payload.partition(" ")
        job = self._jobs.get(int(command_id)) if command_id else None
        if job is not None:
            job.stop(*parse_stop_request(request))

    def _end_child(self, command_id: int) -> None:
        if (job := self._jobs.get(command_id)) is not None:
            job.stop(StopReason.COMPOSITE)

    async def _sweep_next(self) -> None:
        await self._ends.call_owed()
        await asyncio.sleep(_SWEEP_SECONDS)
        await _end_leftovers(self._settings.commands_dir, self._database)

    # The lease

    async def _keep_lease(self) -> None:
        await asyncio.sleep(self._lease.seconds / 3)
        if not await self._lease.renew():
            await self._let_go()
        await self._take_over()
        await self._look_for_stops()
        await self._look_for_unknown()

    async def _let_go(self) -> None:
        """Give up all commands: another replica has taken over while this one was blocked."""
        log.warning("lease_lost", commands=len(self._jobs))
        for task in list(self._tasks):
            task.cancel()
        await self._lease.begin_anew()

    async def _take_over(self) -> None:
        for row in await self._lease.take_over(self.call_hooks):
            log.info("command_found_again", command_id=row.id)
            self._launch(row)

    def call_hooks(self, connection: sa.Connection, row: CommandRow) -> None:
        """Call the hooks for a command that no job of this replica ended, in the transaction that ends it."""
        self._ends.call_hooks(connection, row)

    async def _look_for_stops(self) -> None:
        """Find requests to stop whose announcement was lost, or came before the job. Raises `Unavailable`."""
        wanted = await self._database.read(partial(queue.stops_wanted, replica=self._lease.replica))
        for command_id, request in wanted:
            self._on_stop(f"{command_id} {request}")

    async def _look_for_unknown(self) -> None:
        """Run commands that this replica has claimed but does not run, after a commit without an answer.

        Requires two consecutive findings, since a command that is just ending also looks like this.
        """
        ours = await self._database.read(partial(queue.running_ids, replica=self._lease.replica))
        unknown = {command_id for command_id in ours if command_id not in self._jobs}
        if lasting := unknown & self._unknown:
            log.warning("claims_found_again", commands=len(lasting))
            for row in await self._database.read(partial(queue.rows_of, command_ids=lasting)):
                self._launch(row)
        self._unknown = unknown


async def _end_leftovers(commands_dir: Path, database: Database) -> None:
    """End the processes with the mark of a command that no longer runs; raises `Unavailable`."""
    for name, process in await asyncio.to_thread(_marked_under, commands_dir):
        if not await database.read(partial(queue.is_running, command_id=name.command_id, folder_key=name.key)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
                log.warning("leftover_process_ended", command_id=name.command_id, pid=process.pid)


def _marked_under(commands_dir: Path) -> list[tuple[RootName, psutil.Process]]:
    marked = [(Path(mark_of(process) or "/"), process) for process in marked_processes()]
    # A program may itself set the mark to any value.
    ours = [(parse_root_name(mark.parent.name), process) for mark, process in marked if commands_dir in mark.parents]
    return [(name, process) for name, process in ours if name is not None]
