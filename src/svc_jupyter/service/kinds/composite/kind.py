"""`CompositeCommand`: runs commands one after the other; the first that fails ends it.

A sub-command without `retry` and `retry_delay` uses those of the composite: only the failed step runs again. The
composite itself has one attempt.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from svc_jupyter.api.commands import CommandSubmission, CommandType, CompositeSubmission
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.children import COMMON_FIELDS
from svc_jupyter.service.commands.intake import kind_of
from svc_jupyter.service.commands.kind import Desk, Kind, Outcome, StoredResult, Task
from svc_jupyter.service.commands.rows import CommandRow, command_root
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.validation import explain, fields
from svc_jupyter.service.macros.macros import MacroError, resolve


class CompositeKind:
    """Runs `CompositeCommand`s; the sub-commands may be of any of the given kinds."""

    command_type = CommandType.COMPOSITE

    def __init__(self, kinds: Mapping[str, Kind], gate: ClusterGate) -> None:
        self._kinds = kinds
        self._gate = gate

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission; return the record's `command`: every sub-command as its own type shows it.

        Also uses the body's `macros`, since those of sub-commands may refer to them, and its `label`, the default of
        every sub-command.
        """
        submission = CompositeSubmission.model_validate(body)
        described = []
        for number, sub_command in enumerate(submission.sub_commands, start=1):
            place = f"sub-command {number}{self._shown_type(sub_command)}"
            try:
                described.append(await self._describe_one(sub_command, submission, caller))
            except ValidationError as error:
                raise Invalid(f"{place}: {explain(error)}", _fields_of(number, fields(error))) from None
            except Invalid as error:
                raise Invalid(f"{place}: {error.message}", _fields_of(number, error.fields or {})) from None
        return {"sub_commands": described}

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the sub-commands in order; return the result of the last one that has rows."""
        total = len(task.command["sub_commands"])
        ended: list[CommandRow] = []
        for number in range(1, total + 1):
            try:
                child = await desk.child(number, of=total)
            except (MacroError, ClusterFailure, Invalid) as error:
                return Outcome(False, f"sub-command {number} of {total} could not begin: {error}", may_retry=False)
            if child.status != CommandStatus.DONE:
                return Outcome(False, _failure(child, total), may_retry=False)
            ended.append(child)
        return Outcome(True, result=_last_result(ended, task))

    def _shown_type(self, sub_command: Mapping[str, Any]) -> str:
        wanted = sub_command.get("command_type")
        return f" ({wanted})" if isinstance(wanted, str) and wanted in self._kinds else ""

    async def _describe_one(
        self, sub_command: Mapping[str, Any], submission: CompositeSubmission, caller: Caller
    ) -> dict[str, Any]:
        if sub_command.get("command_type") == self.command_type:
            raise Invalid("a composite command cannot hold another one")
        kind = kind_of(sub_command.get("command_type"), self._kinds)
        common = CommandSubmission.model_validate(sub_command)
        command = await kind.describe(sub_command, caller)
        await self._gate.cluster_for(kind, common.label or submission.label, command, caller)
        if common.macros:
            await asyncio.to_thread(resolve, [*(submission.macros or []), *common.macros], datetime.now(UTC))
        given = common.model_dump(include=set(COMMON_FIELDS), exclude_none=True, exclude_unset=True)
        return {"command_type": str(kind.command_type), **command, **given}


def _failure(child: CommandRow, total: int) -> str:
    place = f"sub-command {child.child_number} of {total} ({child.command_type}, command {child.id})"
    if child.status == CommandStatus.CANCELLED:
        return f"{place} was cancelled"
    return f"{place} failed: {child.message or 'it says no reason'}"


def _last_result(ended: Sequence[CommandRow], task: Task) -> StoredResult | None:
    """Return the last non-empty result, or else the last one, with its file relative to the composite's folder.

    So a final step that prints nothing does not hide the result before it.
    """
    having = [(row, result) for row in ended if (result := StoredResult.of(row)) is not None]
    filled = [(row, result) for row, result in having if result.size]
    if not having:
        return None
    row, result = (filled or having)[-1]
    folder = command_root(task.root.parent.parent, row.id, row.folder_key)
    return replace(result, file=os.path.relpath(folder / result.file, task.root), rows=row.result_rows)


def _fields_of(number: int, found: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of sub-command `number` (from 1), keyed by their paths in the whole body."""
    return {f"sub_commands.{number - 1}.{path}": reason for path, reason in found.items()}
