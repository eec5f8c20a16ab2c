"""Converts the body of a submission to a row of the commands table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from svc_jupyter.api.commands import CommandSource, CommandSubmission, CommandType
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.cluster_gate import ClusterGate
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.validation import explain, fields
from svc_jupyter.service.macros.macros import resolve

_MADE_BY_THE_SERVICE = frozenset({CommandType.ADD_NODE, CommandType.REMOVE_NODE})


async def new_row(
    body: Mapping[str, Any], caller: Caller, kinds: Mapping[str, Kind], gate: ClusterGate
) -> dict[str, Any]:
    """Validate a submission; return the values of its row.

    Raises `Invalid` with the type that could not be created, and why.
    """
    wanted = body.get("command_type")
    with _told_as_not_created(wanted):
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
    with _told_as_not_created(command_type):
        kind = kind_of(command_type, kinds)
        command = await kind.describe(body, caller)
        await gate.cluster_for(kind, body.get("label"), command, caller)
    return command


@contextmanager
def _told_as_not_created(wanted: object) -> Iterator[None]:
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
