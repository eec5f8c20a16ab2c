"""Commands: submit, find, cancel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CancelAnswer, CommandList, CommandRecord, CommandType, CommandWithRows
from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary
from svc_jupyter.api.retention import CommandFiles
from svc_jupyter.api.sessions import CellMessages, Completions, Inspection, SessionEnd
from svc_jupyter.client.errors import Forbidden, NotKnown, StatusError, TooManyRequests, Unauthorized
from svc_jupyter.client.transport.calls import Call, Flow, exchange, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency, of_notebook

Macros = Mapping[str, str] | Sequence[Mapping[str, str]]
Conditions = Sequence[Sequence[Any]]
"""What rows must meet: `[column, operator, value]` each, as `["delay", ">", 30]`."""
Part = Mapping[str, str | int]
"""One of several tables of a command: an alias or number as `dump`, a number as `table`, or a `sequence_number`."""


class CommonParameters(TypedDict, total=False):
    """Parameters of every command type.

    `timeout` is in seconds, `retry_delay` in minutes. `tags` is the text `[a,b]` or a sequence of tags; `macros` maps
    names to JavaScript expressions, in order.
    """

    name: str | None
    label: str | None
    tags: str | Sequence[str] | None
    macros: Macros | None
    timeout: int | None
    retry: int | None
    retry_delay: int | None
    can_notify: bool | None
    pool: str | None


class CommandFilters(TypedDict, total=False):
    """Filters of a list of commands; several values of one filter are comma-separated or a sequence.

    Without dates a service searches the last 30 days; without `all_users`, the caller's own commands.
    """

    status: str
    command_type: str | Sequence[str]
    command_source: str | Sequence[str]
    name: str
    tags: str
    label: str
    start_date: str
    end_date: str
    all_users: bool


_ASKED_FIRST: Final = {
    "dry_run": "write the engine's EXPLAIN before the query instead",
    "limit": "write LIMIT into the query instead",
}
"""Extensions that change what is run, and what to do on a service without them."""


class CommandFlows:
    """Requests about commands, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def submit(
        self,
        command_type: str,
        fields: Mapping[str, Any],
        idempotency_key: str | None,
        *,
        notebook: str | None = None,
        hold: int = 0,
    ) -> Flow[CommandRecord]:
        """Submit a command. With `hold` (seconds) our service may return its end and a few rows.

        Raises `NotKnown` when a plan or some rows are wanted and the service does not know that.
        """
        bodies = [each for each in (fields, *(fields.get("sub_commands") or ())) if isinstance(each, Mapping)]
        for field, instead in _ASKED_FIRST.items():
            if any(body.get(field) for body in bodies):
                yield from self._check_known(field, instead)
        hold = hold if self.link.extended else 0
        call = Call(
            "POST",
            _SUBMISSION_PATHS.get(command_type, paths.api("commands/")),
            body=submission(command_type, fields),
            headers=idempotency(idempotency_key or str(uuid4())) + of_notebook(notebook),
            params={"wait": hold, "arrow": True} if hold else None,
            hold=hold,
        )
        return self.link.learn_from((yield from fetch(self.link, call, CommandWithRows if hold else CommandRecord)))

    def _check_known(self, field: str, instead: str) -> Flow[None]:
        """Raise `NotKnown` if the service ignores a field of queries: it would run all of the query.

        It is asked by a submission that no service accepts, in which one that knows the field says what is wrong with
        it.
        """
        if field not in self.link.known_fields:
            body = submission(CommandType.DB_TAP_QUERY, {field: "?"})
            try:
                yield from exchange(self.link, Call("POST", paths.api("commands/"), body=body))
            except StatusError as error:
                if error.status >= 500 or isinstance(error, Unauthorized | Forbidden | TooManyRequests):
                    raise
                self.link.known_fields |= {field} & error.fields.keys()
        if field not in self.link.known_fields:
            raise NotKnown(f"the service at {self.link.address} does not know {field}; nothing was sent: {instead}")

    def get(self, command_id: int) -> Flow[CommandRecord]:
        record = yield from fetch(self.link, Call("GET", paths.command(command_id)), CommandRecord)
        return self.link.learn_from(record)

    def page(self, page: int, per_page: int, filters: CommandFilters) -> Flow[CommandList]:
        params: dict[str, Any] = {"page": page, "per_page": per_page, **filters}
        if "all_users" in params:
            params["all_users"] = int(params["all_users"])
        return fetch(self.link, Call("GET", paths.api("commands"), params), CommandList)

    def messages(self, command_id: int, offset: int) -> Flow[CellMessages]:
        call = Call("GET", paths.command(command_id, "messages"), {"offset": offset})
        return fetch(self.link, call, CellMessages)

    def completions(self, command_id: int, code: str, cursor: int, language: str) -> Flow[Completions]:
        body = {"code": code, "cursor": cursor, "language": language}
        return fetch(self.link, Call("POST", paths.command(command_id, "session/completions"), body=body), Completions)

    def inspection(self, command_id: int, code: str, cursor: int, language: str) -> Flow[Inspection]:
        body = {"code": code, "cursor": cursor, "language": language}
        return fetch(self.link, Call("POST", paths.command(command_id, "session/inspections"), body=body), Inspection)

    def end_session(self, command_id: int) -> Flow[SessionEnd]:
        return fetch(self.link, Call("DELETE", paths.command(command_id, "session")), SessionEnd)

    def files(self, command_id: int) -> Flow[CommandFiles]:
        return fetch(self.link, Call("GET", paths.command(command_id, "files")), CommandFiles)

    def keep(self, command_id: int, keep: bool) -> Flow[CommandFiles]:
        return fetch(self.link, Call("PUT", paths.command(command_id, "files"), body={"keep": keep}), CommandFiles)

    def points(
        self,
        command_id: int,
        x: str,
        y: str,
        chart: str | None,
        sort: Sequence[str],
        search: str,
        where: Conditions,
        part: Part | None,
    ) -> Flow[ChartPoints]:
        ordered = {"sort": json.dumps(list(sort)) if sort else None}
        params = {"x": x, "y": y, "chart": chart, **ordered, **_rows_wanted(search, where), **(part or {})}
        return fetch(self.link, Call("GET", paths.command(command_id, "rows/points"), params), ChartPoints)

    def column_summary(
        self, command_id: int, column: str, search: str, where: Conditions, part: Part | None
    ) -> Flow[ColumnSummary]:
        path = paths.command(command_id, f"columns/{quote(column, safe='')}/summary")
        return fetch(self.link, Call("GET", path, {**_rows_wanted(search, where), **(part or {})}), ColumnSummary)

    def cancel(self, command_id: int) -> Flow[CancelAnswer]:
        return fetch(self.link, Call("PUT", paths.command(command_id), body={"status": "kill"}), CancelAnswer)


def _rows_wanted(search: str, where: Conditions) -> dict[str, str | None]:
    """Return the parameters of rows with a text that meet some conditions."""
    return {"search": search or None, "where": json.dumps([list(one) for one in where]) if where else None}


_SUBMISSION_PATHS = {CommandType.SPARK.value: paths.api("commands")}
"""Other services may require a trailing slash for the other types; ours accepts both forms."""


def submission(command_type: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a submission."""
    return {"command_type": str(command_type), **wire_form(fields)}


def wire_form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields in wire form: None is omitted, tags and macros are converted."""
    body = {name: value for name, value in fields.items() if value is not None}
    tags, macros = body.get("tags"), body.get("macros")
    if tags is not None and not isinstance(tags, str):
        body["tags"] = _tags_text(tags)
    if isinstance(macros, Mapping):
        body["macros"] = [{name: expression} for name, expression in macros.items()]
    return body


def _tags_text(tags: Sequence[str]) -> str:
    if broken := [tag for tag in tags if set(tag) & set("[],")]:
        raise ValueError(f"a tag must not hold a comma or a square bracket: {broken[0]!r}")
    return f"[{','.join(tags)}]"
