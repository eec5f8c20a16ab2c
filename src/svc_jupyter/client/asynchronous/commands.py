"""Commands: submit, find, cancel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Unpack

from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary
from svc_jupyter.api.retention import CommandFiles
from svc_jupyter.client.asynchronous.handles import AsyncCommand, log_part
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.commands.waiting import LONGEST_HOLD
from svc_jupyter.client.conversations.commands import (
    CommandFilters,
    CommandFlows,
    CommonParameters,
    Conditions,
    Macros,
    Part,
)
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncCommands:
    """Commands, as `client.commands`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = CommandFlows(performer.link)

    async def submit(
        self,
        command_type: str,
        *,
        idempotency_key: str | None = None,
        notebook: str | None = None,
        name: str | None = None,
        label: str | None = None,
        tags: str | Sequence[str] | None = None,
        macros: Macros | None = None,
        timeout: int | None = None,  # noqa: ASYNC109  the command's, kept by the service
        retry: int | None = None,
        retry_delay: int | None = None,
        can_notify: bool | None = None,
        pool: str | None = None,
        **fields: Any,
    ) -> AsyncCommand:
        """Submit a command and return its handle at once.

        `fields` are those of the command type, as in `submit("ShellCommand", inline="echo hi")` or
        `submit("DbTapQueryCommand", db_tap_id=7, query="select 1")`; `timeout` is in seconds, `retry_delay` in
        minutes, `tags` the text `[a,b]` or a sequence, `macros` a mapping of names to JavaScript expressions. The same
        `idempotency_key` within 24 hours returns the same command. `notebook` is the name of the notebook whose cell
        submits it, empty where that is not known: our service keeps it. Raises Invalid when it cannot be created.
        """
        common: CommonParameters = {
            "name": name,
            "label": label,
            "tags": tags,
            "macros": macros,
            "timeout": timeout,
            "retry": retry,
            "retry_delay": retry_delay,
            "can_notify": can_notify,
            "pool": pool,
        }
        flow = self._flows.submit(command_type, {**common, **fields}, idempotency_key, notebook=notebook)
        record = await self._performer.run(flow)
        return AsyncCommand(self._performer, record)

    async def run(
        self, command_type: str, *, idempotency_key: str | None = None, notebook: str | None = None, **fields: Any
    ) -> AsyncCommand:
        """Submit a command and wait until it is done, like `submit(...).wait()`; a short command takes one call.

        Takes the arguments of `submit`; raises what `submit` and `wait` raise.
        """
        flow = self._flows.submit(command_type, fields, idempotency_key, notebook=notebook, hold=LONGEST_HOLD)
        return await AsyncCommand(self._performer, await self._performer.run(flow)).wait()

    async def get(self, command_id: int) -> AsyncCommand:
        """Return the handle of a command with its current record; raises NotFound for an unknown id."""
        return AsyncCommand(self._performer, await self._performer.run(self._flows.get(command_id)))

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: Unpack[CommandFilters]) -> CommandList:
        """Return one page of records, newest first."""
        return await self._performer.run(self._flows.page(page, per_page, filters))

    def iter(self, **filters: Unpack[CommandFilters]) -> AsyncIterator[CommandRecord]:
        """Yield all records, newest first, a page at a time."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE, filters), lambda found: (found.commands, found.paging_info)
        )

    async def logs(self, command_id: int, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` to its current end; `end` is the next offset."""
        return await log_part(self._performer, command_id, offset)

    async def files(self, command_id: int) -> CommandFiles:
        """Return the size of a command's files, and when and by which rule they were deleted."""
        return await self._performer.run(self._flows.files(command_id))

    async def keep(self, command_id: int, *, keep: bool = True) -> CommandFiles:
        """Keep a command's files whatever the rules say; with `keep=False` no longer."""
        return await self._performer.run(self._flows.keep(command_id, keep))

    async def points(
        self,
        command_id: int,
        x: str,
        y: str,
        *,
        chart: str | None = None,
        sort: Sequence[str] = (),
        search: str = "",
        where: Conditions = (),
        part: Part | None = None,
    ) -> ChartPoints:
        """Return the points of a chart (line, bar or scatter) of the rows of a command that is done.

        They stand for all rows with the text `search` that meet the conditions of `where`, as in
        `[["origin", "=", "JFK"], ["delay", ">", 30]]`. Without `chart` it is a line or, where `x` has neither numbers
        nor times, bars; bars of such values come in the order of the columns `sort`, those with a `-` descending.
        `part` names one of several tables: `{"dump": "late"}` of a Pig command, `{"table": 2}` of a note's run.
        """
        return await self._performer.run(self._flows.points(command_id, x, y, chart, sort, search, where, part))

    async def column_summary(
        self, command_id: int, column: str, *, search: str = "", where: Conditions = (), part: Part | None = None
    ) -> ColumnSummary:
        """Return what a column holds in those rows: counts, extremes, a histogram or the most frequent values."""
        return await self._performer.run(self._flows.column_summary(command_id, column, search, where, part))

    async def cancel(self, command_id: int) -> CancelAnswer:
        """Request a command's cancellation; the answer says whether it took effect."""
        return await self._performer.run(self._flows.cancel(command_id))
