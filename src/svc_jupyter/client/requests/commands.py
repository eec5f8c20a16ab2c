"""The parameters of submissions and lists of commands, and their forms in a request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypedDict

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandType
from svc_jupyter.client.transport.calls import Call, given
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


_SUBMISSION_PATHS: Final = {CommandType.SPARK.value: paths.api("commands")}
"""Other services may require a trailing slash for the other types; ours accepts both forms."""
_ASKED_FIRST: Final = {
    "dry_run": "write the engine's EXPLAIN before the query instead",
    "limit": "write LIMIT into the query instead",
}
"""Extensions that change what is run, and what to do on a service without them."""


def submission(
    command_type: str, fields: Mapping[str, Any], *, key: str | None = None, notebook: str | None = None, hold: int = 0
) -> Call:
    """Return the call that submits a command; with `hold` (seconds) the answer has its end and a few rows."""
    return Call(
        "POST",
        _SUBMISSION_PATHS.get(command_type, paths.api("commands/")),
        body={"command_type": str(command_type), **wire_form(fields)},
        headers=idempotency(key) + of_notebook(notebook),
        params={"wait": hold, "arrow": True} if hold else None,
        hold=hold,
    )


def asked_first(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a submission that a service must know, since it would run something else without them.

    Each comes with what to do on a service that does not know it.
    """
    bodies = [each for each in (fields, *(fields.get("sub_commands") or ())) if isinstance(each, Mapping)]
    for field, instead in _ASKED_FIRST.items():
        if any(body.get(field) for body in bodies):
            yield field, instead


def rows_wanted(search: str, where: Conditions, part: Part | None) -> dict[str, str | int | None]:
    """Return the parameters of rows with a text that meet some conditions."""
    conditions = json.dumps([list(one) for one in where]) if where else None
    return {"search": search or None, "where": conditions, **(part or {})}


def wire_form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields in wire form: None is omitted, tags and macros are converted."""
    body = given(**fields)
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
