"""Creates commands: reads a submission, validates it, writes its row, and tells the replicas that it waits.

A submission is a JSON object, or a form with the same fields. A form has only texts. Numbers, booleans and objects are
parsed from their texts; an object may also be given field by field, as `parameters[day]=2013-01-01`.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError

from svc_jupyter.api.commands import CommandSource, CommandSubmission, CommandType
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.api.text import NOT_UNICODE, broken_place
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.cluster_gate import ClusterGate
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.record import command_record
from svc_jupyter.service.commands.rows import CommandRow, new_folder_key
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import BadRequest, Invalid, Unavailable
from svc_jupyter.service.http import idempotency
from svc_jupyter.service.http.bodies import may_be_broken, parsed
from svc_jupyter.service.http.idempotency import IdempotentCall
from svc_jupyter.service.http.validation import explain, fields
from svc_jupyter.service.macros.macros import resolve
from svc_jupyter.service.schema.commands import NEW_ROW, commands

FORM: Final = "application/x-www-form-urlencoded"
_FIELDS_LIMIT = 1000
_STRUCTURES: Final = frozenset({"macros", "arguments", "sub_commands"})
_FIELD_OF: Final = re.compile(r"([A-Za-z_]\w*)\[([A-Za-z_]\w*)\]")
Record = dict[str, Any]
_MADE_BY_THE_SERVICE = frozenset({CommandType.ADD_NODE, CommandType.REMOVE_NODE})
# Built once: building the statement takes longer than running it.
_INSERT = sa.insert(commands)


class Intake:
    """Creates commands, which wait until a replica claims them."""

    def __init__(
        self,
        database: Database,
        bus: Bus,
        kinds: Mapping[str, Kind],
        gate: ClusterGate,
    ) -> None:
        self._database = database
        self._bus = bus
        self._kinds = kinds
        self._gate = gate
        self._stopping = False

    async def submit(
        self, body: Mapping[str, Any], caller: Caller, call: IdempotentCall | None = None, notebook: str | None = None
    ) -> Record:
        """Create a command; return its record. `notebook` is what `NOTEBOOK_HEADER` says. Raises `Invalid`."""
        if self._stopping:
            raise Unavailable("the service is stopping; submit again in a moment")
        values = await new_row(body, caller, self._kinds, self._gate)
        if notebook is not None:
            values |= {"command_source": CommandSource.UI.value, "notebook": notebook}
        return await self._written(values, call)

    def place_scheduled(self, connection: sa.Connection, values: Mapping[str, Any]) -> int | None:
        """Return the cluster that must be UP for the command of a row that `insert_scheduled` will create.

        None where none is needed. Raises `Invalid` with a message for the user.
        """
        return self._gate.place(connection, self._kinds[values["command_type"]], values)

    def insert_scheduled(self, connection: sa.Connection, new: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        """Create commands in the caller's write transaction; return their ids in the same order.

        Each item of `new` has columns of the commands table as `new_row` returns them, with `command` from `described`.
        The commands are announced to the replicas with the caller's commit; a rollback discards them.
        """
        defaults = {"status": CommandStatus.WAITING.value, "created_at": time.time()}
        rows = [self._insert(defaults | dict(values), connection) for values in new]
        self._announce(connection, rows)
        return [row.id for row in rows]

    def stop(self) -> None:
        """Refuse further submissions."""
        self._stopping = True

    async def _written(self, values: Mapping[str, Any], call: IdempotentCall | None) -> Record:
        try:
            return await self._database.write(partial(self._answer, values, call))
        except IntegrityError:
            if call is None:
                raise
            # Another replica has just written the same key: its answer is stored now.
            return await self._database.write(partial(self._answer, values, call))

    def _answer(self, values: Mapping[str, Any], call: IdempotentCall | None, connection: sa.Connection) -> Record:
        """Return the record of a new command, or the answer that an earlier call with the same key had."""
        if call is not None and (first := idempotency.first_answer(connection, call)) is not None:
            return dict(json.loads(first[1] or "null"))
        row = self._insert(values, connection)
        self._announce(connection, [row])
        record = command_record(row)
        if call is not None:
            idempotency.remember(connection, call, 200, json.dumps(record))
        return record

    def _insert(self, values: Mapping[str, Any], connection: sa.Connection) -> CommandRow:
        if values.get("cluster_id") is not None:
            self._gate.open_for(connection, values["cluster_id"], values["user_id"])  # starts one that is DOWN
        values = {**NEW_ROW, **values, "folder_key": new_folder_key()}
        inserted = connection.execute(_INSERT, {key: values[key] for key in values if key != "id"}).inserted_primary_key
        assert inserted is not None
        return CommandRow.new(values | {"id": inserted[0]})

    def _announce(self, connection: sa.Connection, created: Sequence[CommandRow]) -> None:
        """Announce new commands to the replicas, once per account."""
        for account_id in {row.account_id for row in created}:
            self._bus.publish(connection, queue.WAITING, str(account_id))


def submission_body(raw: bytes, content_type: str) -> dict[str, Any]:
    """Return the fields of a submission. Raises `BadRequest` for an unreadable body, `Invalid` for a wrong structure.

    JSON that is sent with the content type of a form, the default of some clients, is read as JSON.
    """
    is_form = content_type.partition(";")[0].strip().lower() == FORM
    try:
        body = parsed(raw or b"{}")
    except (ValueError, RecursionError):
        if is_form:
            return form_body(raw)
        raise BadRequest("the body is not JSON") from None
    if not isinstance(body, dict):
        raise Invalid("the body must be a JSON object")
    if may_be_broken(raw):
        _check_unicode(body)
    return body


def form_body(raw: bytes) -> dict[str, Any]:
    """Return the fields of a form. Raises `BadRequest`, and `Invalid` for a field given twice."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_LIMIT)
    except ValueError:
        raise BadRequest(
            "the body is not a form: fields as name=value, joined by &, in UTF-8 with percent-encoding"
        ) from None
    body: dict[str, Any] = {}
    for name, text in pairs:
        part = _FIELD_OF.fullmatch(name)
        holder = body.setdefault(part[1], {}) if part else body
        key = part[2] if part else name
        if not isinstance(holder, dict) or key in holder:
            raise Invalid(f"{name[:100]} is given twice")
        holder[key] = text
    is_pig = body.get("command_type") == CommandType.PIG
    structures = _STRUCTURES | {"parameters"} if is_pig else _STRUCTURES
    fields = {name: _value(name, value, structures) for name, value in body.items() if value != ""}
    _check_unicode(fields)
    return fields


def _check_unicode(body: dict[str, Any]) -> None:
    """Raise `Invalid` for a text that is not valid Unicode, also inside the JSON of a form's field."""
    place = broken_place(body)
    if place is not None:
        command_type = body.get("command_type")
        prefix = f"{command_type} could not be created: " if command_type in list(CommandType) else ""
        raise Invalid(f"{prefix}{place}: {NOT_UNICODE}", {place: NOT_UNICODE})


def _value(name: str, value: Any, structures: frozenset[str]) -> Any:
    """Return the value of a field's text; whole numbers and truths are read by the fields themselves."""
    if not isinstance(value, str):
        return value
    if name in structures:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise Invalid(f"{name}: must be JSON, or given field by field as {name}[x]=…") from None
    return value


async def new_row(
    body: Mapping[str, Any], caller: Caller, kinds: Mapping[str, Kind], gate: ClusterGate
) -> dict[str, Any]:
    """Validate a submission; return the values of its row.

    Raises `Invalid` with the type that could not be created, and why.
    """
    wanted = body.get("command_type")
    with _naming_the_type(wanted):
        kind = kind_of(wanted, kinds)
        common = CommandSubmission.model_validate(body)
        command = await kind.describe(body, caller)
        cluster_id = await gate.cluster_for(kind, common.label, command, caller)
        resolved = await _resolve(common)
    return {
        "account_id": caller.account_id,
        "user_id": caller.user_id,
        "command_type": str(kind.command_type),
        "command_source": CommandSource.API.value,
        "status": CommandStatus.WAITING.value,
        "command": command,
        "created_at": time.time(),
        "name": common.name,
        "tags": common.tags,
        "label": common.label,
        "pool": common.pool,
        "timeout": common.timeout,
        "retry": common.retry or 0,
        "retry_delay": common.retry_delay,
        "can_notify": common.can_notify,
        "resolved_macros": resolved,
        "cluster_id": cluster_id,
    }


async def described(
    command_type: object, body: Mapping[str, Any], caller: Caller, kinds: Mapping[str, Kind], gate: ClusterGate
) -> dict[str, Any]:
    """Validate a type's own fields and the `label`; return the record's `command` object, without macros applied.

    The result can be the `command` of many rows. Raises `Invalid` like `new_row`.
    """
    with _naming_the_type(command_type):
        kind = kind_of(command_type, kinds)
        command = await kind.describe(body, caller)
        await gate.cluster_for(kind, body.get("label"), command, caller)
    return command


@contextmanager
def _naming_the_type(wanted: object) -> Iterator[None]:
    """Raise errors of a request as a 422 that begins with the type that could not be created."""
    name = wanted[:64] if isinstance(wanted, str) and wanted and wanted.isprintable() else "Command"
    try:
        yield
    except ValidationError as error:
        raise Invalid(f"{name} could not be created: {explain(error)}", fields(error)) from None
    except Invalid as error:
        raise Invalid(f"{name} could not be created: {error.message}", error.fields) from None


def kind_of(wanted: object, kinds: Mapping[str, Kind]) -> Kind:
    """Return the kind of a `command_type`; raises `Invalid` with the known types when it is unknown."""
    there = ", ".join(sorted(kinds.keys() - _MADE_BY_THE_SERVICE))
    if wanted is None:
        raise Invalid(f"command_type is missing; it must be one of {there}")
    if not isinstance(wanted, str):
        raise Invalid("command_type must be a string")
    if wanted in _MADE_BY_THE_SERVICE:
        raise Invalid("the service makes it when nodes are added or removed")
    if wanted in kinds:
        return kinds[wanted]
    raise Invalid(f"command_type {wanted[:64]!r} is unknown; it must be one of {there}")


async def _resolve(common: CommandSubmission) -> list[dict[str, Any]] | None:
    """Evaluate the macros; outside a schedule the nominal time is the time of submission."""
    if not common.macros:
        return None
    return await asyncio.to_thread(resolve, common.macros, datetime.now(UTC))
