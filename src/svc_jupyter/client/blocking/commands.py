"""Commands: submit, find, cancel."""
# Made from asynchronous/commands.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack
from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord, CommandType, CommandWithRows
from svc_jupyter.api.events import LogPart
from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary
from svc_jupyter.api.retention import CommandFiles
from svc_jupyter.client.blocking.handles import Command
from svc_jupyter.client.blocking.logs import log_part
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.commands.waiting import LONGEST_HOLD
from svc_jupyter.client.errors import Forbidden, NotKnown, StatusError, TooManyRequests, Unauthorized
from svc_jupyter.client.requests.commands import (
    CommandFilters,
    CommonParameters,
    Conditions,
    Macros,
    Part,
    asked_first,
    rows_wanted,
    submission,
)
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Commands:
    """Commands, as `client.commands`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def submit(
        self,
        command_type: str,
        *,
        idempotency_key: str | None = None,
        notebook: str | None = None,
        name: str | None = None,
        label: str | None = None,
        tags: str | Sequence[str] | None = None,
        macros: Macros | None = None,
        timeout: int | None = None,
        retry: int | None = None,
        retry_delay: int | None = None,
        can_notify: bool | None = None,
        pool: str | None = None,
        **fields: Any,
    ) -> Command:
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
        return self._submitted(command_type, {**common, **fields}, idempotency_key, notebook)

    def run(
        self, command_type: str, *, idempotency_key: str | None = None, notebook: str | None = None, **fields: Any
    ) -> Command:
        """Submit a command and wait until it is done, like `submit(...).wait()`; a short command takes one call.

        Takes the arguments of `submit`; raises what `submit` and `wait` raise.
        """
        command = self._submitted(command_type, fields, idempotency_key, notebook, hold=LONGEST_HOLD)
        return command.wait()

    def get(self, command_id: int) -> Command:
        """Return the handle of a command with its current record; raises NotFound for an unknown id."""
        record = self._sender.fetch(Call("GET", paths.command(command_id)), CommandRecord)
        return Command(self._sender, self._sender.link.learn_from(record))

    def list(self, *, page: int = 1, per_page: int = 10, **filters: Unpack[CommandFilters]) -> CommandList:
        """Return one page of records, newest first."""
        params: dict[str, Any] = {"page": page, "per_page": per_page, **filters}
        if "all_users" in params:
            params["all_users"] = int(params["all_users"])
        return self._sender.fetch(Call("GET", paths.api("commands"), params), CommandList)

    def iter(self, **filters: Unpack[CommandFilters]) -> Iterator[CommandRecord]:
        """Yield all records, newest first, a page at a time."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE, **filters),
            lambda found: (found.commands, found.paging_info),
        )

    def logs(self, command_id: int, offset: int = 0) -> LogPart:
        """Return the log from byte `offset` to its current end; `end` is the next offset."""
        return log_part(self._sender, command_id, offset)

    def files(self, command_id: int) -> CommandFiles:
        """Return the size of a command's files, and when and by which rule they were deleted."""
        return self._sender.fetch(Call("GET", paths.command(command_id, "files")), CommandFiles)

    def keep(self, command_id: int, *, keep: bool = True) -> CommandFiles:
        """Keep a command's files whatever the rules say; with `keep=False` no longer."""
        call = Call("PUT", paths.command(command_id, "files"), body={"keep": keep})
        return self._sender.fetch(call, CommandFiles)

    def points(
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
        order = json.dumps([*sort]) if sort else None
        params = {"x": x, "y": y, "chart": chart, "sort": order, **rows_wanted(search, where, part)}
        return self._sender.fetch(Call("GET", paths.command(command_id, "rows/points"), params), ChartPoints)

    def column_summary(
        self, command_id: int, column: str, *, search: str = "", where: Conditions = (), part: Part | None = None
    ) -> ColumnSummary:
        """Return what a column holds in those rows: counts, extremes, a histogram or the most frequent values."""
        path = paths.command(command_id, f"columns/{quote(column, safe='')}/summary")
        return self._sender.fetch(Call("GET", path, rows_wanted(search, where, part)), ColumnSummary)

    def cancel(self, command_id: int) -> CancelAnswer:
        """Request a command's cancellation; the answer says whether it took effect."""
        return self._sender.fetch(Call("PUT", paths.command(command_id), body={"status": "kill"}), CancelAnswer)

    def _submitted(
        self,
        command_type: str,
        fields: Mapping[str, Any],
        idempotency_key: str | None,
        notebook: str | None,
        *,
        hold: int = 0,
    ) -> Command:
        """Submit a command. With `hold` (seconds) our service may answer with its end and a few rows."""
        for field, instead in asked_first(fields):
            self._check_known(field, instead)
        link = self._sender.link
        hold = hold if link.extended else 0
        call = submission(command_type, fields, key=idempotency_key, notebook=notebook, hold=hold)
        record = self._sender.fetch(call, CommandWithRows if hold else CommandRecord)
        return Command(self._sender, link.learn_from(record))

    def _check_known(self, field: str, instead: str) -> None:
        """Raise `NotKnown` if the service ignores a field of queries: it would run all of the query.

        It is asked by a submission that no service accepts, in which one that knows the field says what is wrong with
        it.
        """
        link = self._sender.link
        if field not in link.known_fields:
            try:
                self._sender.send(submission(CommandType.DB_TAP_QUERY, {field: "?"}))
            except StatusError as error:
                if error.status >= 500 or isinstance(error, Unauthorized | Forbidden | TooManyRequests):
                    raise
                link.known_fields |= {field} & error.fields.keys()
        if field not in link.known_fields:
            raise NotKnown(f"the service at {link.address} does not know {field}; nothing was sent: {instead}")
