"""The rules of commands that exist: look-up, waiting for the end, history, documents, cancellation."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.retention import CommandFiles, Files
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import kept_files, queue, results
from svc_jupyter.service.commands.children import find_child
from svc_jupyter.service.commands.cluster_gate import ClusterGate
from svc_jupyter.service.commands.ends import STOP, Ends, StopReason
from svc_jupyter.service.commands.history import HistoryFilter, history_query
from svc_jupyter.service.commands.kind import (
    Document,
    DocumentKind,
    JobsKind,
    Kind,
    SessionKind,
    StoredResult,
)
from svc_jupyter.service.commands.record import NO_WAIT, Wait, command_record
from svc_jupyter.service.commands.rows import CommandRow, command_root, read_row, read_rows
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.commands import commands

Record = dict[str, Any]
_WAIT_SLICE_SECONDS = 5.0
"""How long to wait for an announcement before reading the database, where announcements cross a network."""
_KILL_MARGIN_SECONDS = 3.0
# The statement of a hot path is built once: building it takes longer than running it.
_BY_ID = sa.select(commands).where(
    commands.c.id == sa.bindparam("command"), commands.c.account_id == sa.bindparam("account")
)


@dataclass(frozen=True, slots=True)
class Cancellation:
    """The result of a request to cancel."""

    succeeded: bool
    text: str


class Commands:
    """All calls about existing commands. Records are dictionaries in the shape of `CommandRecord`."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        bus: Bus,
        kinds: Mapping[str, Kind],
        runner: Runner,
        gate: ClusterGate,
        recheck: Callable[[Caller], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._database = database
        self._bus = bus
        self._kinds = kinds
        self._runner = runner
        self._gate = gate
        self._recheck = recheck
        self._ends = Ends(bus)
        self._stopping = False

    async def get(self, command_id: int, caller: Caller, *, with_properties: bool = False) -> Record:
        """Return the record of a command of the caller's account; raises `NotFound`."""
        await self._check_token(caller)
        row, wait = await self._database.look_up(partial(self._look_up, command_id, caller.account_id))
        return self._record(row, wait, with_properties=with_properties)

    async def row(self, command_id: int, caller: Caller) -> CommandRow:
        """Return the row of a command; raises `NotFound`."""
        await self._check_token(caller)
        return await self._database.look_up(partial(self._find, command_id, caller.account_id))

    async def child_row(self, composite: CommandRow, number: int) -> CommandRow:
        """Return the row of a composite's sub-command; raises `Invalid` for another type or an unknown number."""
        if composite.command_type != CommandType.COMPOSITE:
            raise Invalid(
                f"sequence_number: command {composite.id} is a {composite.command_type}; only a "
                f"{CommandType.COMPOSITE} has sub-commands"
            )
        total = len(composite.command["sub_commands"])
        if not 1 <= number <= total:
            raise Invalid(f"sequence_number: command {composite.id} has {total} sub-commands, numbered from 1")
        row = await self._database.look_up(partial(find_child, composite_id=composite.id, number=number))
        if row is None:
            raise Invalid(f"sub-command {number} of command {composite.id} has not begun ({composite.status})")
        return row

    async def wait(self, command_id: int, caller: Caller, seconds: float) -> CommandRow:
        """Return the row once the command has ended, the time is over or the service stops."""
        deadline = time.monotonic() + seconds
        with self._ends.expected(command_id) as ended:
            row = await self.row(command_id, caller)
            while not row.is_final and not self._stopping and (left := deadline - time.monotonic()) > 0:
                await ended.within(left if self._database.on_sqlite else min(left, _WAIT_SLICE_SECONDS))
                row = await self.row(command_id, caller)
        return row

    async def record_at_end(
        self, command_id: int, caller: Caller, seconds: float, *, with_properties: bool = False, with_rows: bool = False
    ) -> Record:
        """Return the record once the command has ended, the time is over or the service stops.

        `with_rows` adds the typed rows where they are few.
        """
        row = await self.wait(command_id, caller, seconds)
        if row.status == "waiting":
            return await self.get(command_id, caller, with_properties=with_properties)
        record = self._record(row, NO_WAIT, with_properties=with_properties)
        if with_rows and (result := StoredResult.of(row)) is not None:
            record["arrow"] = results.short_text(self.root(row), result)
        return record

    def record(self, row: CommandRow) -> Record:
        """Return the record of a row that is not waiting."""
        return self._record(row, NO_WAIT)

    async def history(self, caller: Caller, wanted: HistoryFilter, page: Page) -> tuple[list[Record], Any]:
        """Return a page of the account's commands, newest first, and its position."""
        rows, waits = await self._database.read(partial(self._select_history, caller, wanted, page))
        shown, info = page.cut(rows)
        return [self._record(row, waits.get(row.cluster_id, NO_WAIT)) for row in shown], info

    async def cancel(self, command_id: int, caller: Caller) -> Cancellation:
        """End a waiting or running command and wait until it has ended; raises `NotFound`."""
        row = await self.row(command_id, caller)
        if row.is_final:
            return Cancellation(False, f"command {command_id} has already ended ({row.status})")
        await self._database.write(partial(self._ask_to_stop, command_id, caller))
        row = await self.wait(command_id, caller, self._settings.kill_grace_seconds + _KILL_MARGIN_SECONDS)
        if row.status == "cancelled":
            return Cancellation(True, f"command {command_id} was cancelled")
        if row.is_final:
            return Cancellation(False, f"command {command_id} ended before it could be cancelled ({row.status})")
        return Cancellation(False, f"command {command_id} is being cancelled; it has not ended yet")

    @property
    def inline_limit(self) -> int:
        """Bytes up to which results are given inside a JSON answer."""
        return self._settings.inline_result_bytes

    @property
    def is_stopping(self) -> bool:
        """Whether the service is about to stop, so that calls should not be kept waiting."""
        return self._stopping

    async def wait_for_end(self, command_id: int, seconds: float) -> None:
        """Return when the end of a command is announced, or after `seconds`."""
        await self._ends.wait(command_id, seconds)

    def root(self, row: CommandRow) -> Path:
        """Return the folder of a row's command."""
        return command_root(self._settings.commands_dir, row.id, row.folder_key)

    def session_kind(self, row: CommandRow) -> SessionKind:
        """Return the type of a command that runs in sessions. Raises `Invalid` for another one."""
        kind: object = self._kinds.get(row.command_type)
        if not isinstance(kind, SessionKind):
            raise Invalid(f"command {row.id} is a {row.command_type}, which has no session")
        return kind

    async def document(self, row: CommandRow, media_type: str) -> Document | None:
        """Return the document of an ended command; None where its type has none in this form."""
        kind: object = self._kinds.get(row.command_type)
        if not isinstance(kind, DocumentKind) or media_type not in kind.document_types:
            return None
        self.check_final(row)
        return await kind.document(self.root(row), len(row.attempts or []), media_type)

    async def jobs(self, row: CommandRow) -> Sequence[Mapping[str, Any]]:
        """Return the jobs that a command started on an engine; most kinds start none."""
        kind = self._kinds.get(row.command_type)
        try:
            return await kind.jobs(self.root(row), row) if isinstance(kind, JobsKind) else []
        except FileNotFoundError:
            return []  # deleted by a rule

    async def files(self, row: CommandRow) -> CommandFiles:
        """Return what is known about a command's files."""
        return await kept_files.command_files_of(self._database, row)

    async def keep(self, row: CommandRow, caller: Caller, *, keep: bool) -> CommandFiles:
        """Keep a command's files whatever the rules say, or no longer. Raises `StateConflict` when they are gone."""
        return await kept_files.keep_files(self._database, row, caller, keep=keep)

    async def deletion(self, row: CommandRow, what: Files) -> str | None:
        """Return when and by which rule files were deleted; None where they were not."""
        return await kept_files.deletion_of(self._database, row, what)

    @asynccontextmanager
    async def naming_deletion(self, row: CommandRow, what: Files) -> AsyncIterator[None]:
        """Raise `NotFound` with the rule by which files were deleted, where the block misses them."""
        try:
            yield
        except (NotFound, FileNotFoundError):
            if (deletion := await self.deletion(row, what)) is None:
                raise
            raise NotFound(deletion) from None

    def stop(self) -> None:
        """Release the waiting calls."""
        self._stopping = True
        self._ends.wake_all()

    @staticmethod
    def check_final(row: CommandRow) -> None:
        """Raise `Invalid` when a command has not ended yet."""
        if not row.is_final:
            raise Invalid(f"command {row.id} has not ended yet ({row.status})")

    @staticmethod
    def check_ended(row: CommandRow) -> None:
        """Raise `Invalid` when a command has no results because it has not succeeded."""
        if row.status != "done":
            raise Invalid(f"command {row.id} is not done ({row.status})")

    def _look_up(self, command_id: int, account_id: int, connection: sa.Connection) -> tuple[CommandRow, Wait]:
        row = self._find(command_id, account_id, connection)
        return row, self._why_it_waits(connection, row) if row.status == "waiting" else NO_WAIT

    @staticmethod
    def _find(command_id: int, account_id: int, connection: sa.Connection) -> CommandRow:
        row = read_row(connection.execute(_BY_ID, {"command": command_id, "account": account_id}))
        if row is None:
            raise NotFound(f"there is no command {command_id}")
        return row

    def _select_history(
        self, caller: Caller, wanted: HistoryFilter, page: Page, connection: sa.Connection
    ) -> tuple[Sequence[CommandRow], Mapping[int | None, Wait]]:
        """Return the rows, and why the waiting ones wait, by the cluster that they need."""
        query = history_query(caller, wanted).limit(page.fetch).offset(page.offset)
        rows = read_rows(connection.execute(query))
        waiting = {row.cluster_id: row for row in rows if row.status == "waiting"}
        return rows, {cluster_id: self._why_it_waits(connection, row) for cluster_id, row in waiting.items()}

    def _why_it_waits(self, connection: sa.Connection, row: CommandRow) -> Wait:
        """Return why a waiting command cannot begin: its cluster is not UP, or there is no free slot."""
        cluster = None if row.cluster_id is None else self._gate.waits_for(connection, row.cluster_id)
        if cluster is not None:
            return Wait(cluster)
        limit = self._settings.running_limit
        running = queue.running_count(connection, row.account_id)
        return Wait(f"waiting for a free slot ({running} of {limit} running)", True) if running >= limit else NO_WAIT

    def _record(self, row: CommandRow, wait: Wait, *, with_properties: bool = False) -> Record:
        return command_record(
            row,
            live=self._runner.live(row.id),
            wait=wait if row.status == "waiting" else NO_WAIT,
            with_properties=with_properties,
        )

    async def _check_token(self, caller: Caller) -> None:
        """Raise `Unauthorized` when the token has been revoked; called repeatedly while a caller follows a command."""
        if self._recheck is not None:
            await self._recheck(caller)

    def _ask_to_stop(self, command_id: int, caller: Caller, connection: sa.Connection) -> None:
        trail.record(connection, caller, "cancel", Resource.COMMAND, command_id)
        row = queue.cancel_waiting(connection, command_id, now=time.time(), message="cancelled before it began")
        if row is not None:
            self._runner.call_hooks(connection, row)
        else:
            queue.request_stop(connection, command_id, StopReason.CANCEL)
            self._bus.publish(connection, STOP, f"{command_id} {StopReason.CANCEL}")
