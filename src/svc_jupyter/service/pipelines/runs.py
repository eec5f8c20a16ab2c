"""Running pipelines: a run is a `SparkCommand`, so that it outlives the service and has a log, a result and an end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.pipelines import CreateType, Pipeline, PipelineStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import require
from svc_jupyter.service.audit import trail
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.submissions import new_row
from svc_jupyter.service.commands.tables import commands
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import StateConflict
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.pipelines.definition import submit_line
from svc_jupyter.service.pipelines.pipelines import found, locked, require_inactive
from svc_jupyter.service.pipelines.records import PIPELINES, pipeline_record
from svc_jupyter.service.pipelines.states import Told, after_end, is_active
from svc_jupyter.service.pipelines.tables import pipelines
from svc_jupyter.service.settings import Settings

_FOR_EVER_SECONDS = 2**31 - 1
"""A stream has no end, and commands have a timeout of 36 hours unless they say otherwise: this is the longest."""


class PipelineRuns:
    """Starts and pauses pipelines, and learns how their commands ended."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        commands: Commands,
        kinds: Mapping[str, Kind],
        gate: ClusterGate,
        notifications: Notifications,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = settings.data_dir / "pipelines"
        self._database = database
        self._commands = commands
        self._kinds = kinds
        self._gate = gate
        self._notifications = notifications
        self._clock = clock

    async def start(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """Begin a run, which goes on where the last one was paused.

        Raises `StateConflict` when one is there, and `Invalid` where Spark cannot run it (no cluster with the label).
        """
        row = await self._database.read(partial(found, pipeline_id=pipeline_id, action=Action.UPDATE, by=by))
        require(by, Action.CREATE, Resource.COMMAND)
        require_inactive(row, "started again")
        code_file = self._code_file(row)
        values = await new_row(self._submission(row, code_file), by, self._kinds, self._gate)
        await asyncio.to_thread(_write, code_file, row["definition"]["code"])
        return await self._database.write(partial(self._begin, pipeline_id, values, by))

    async def pause(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """End the run and keep its progress; returns once it has ended, or after some seconds as PAUSING.

        Raises `StateConflict` when none is there.
        """
        command_id = await self._database.write(partial(self._begin_pause, pipeline_id, by))
        await self._commands.cancel(command_id, by)
        return await self._database.read(
            lambda connection: pipeline_record(found(connection, pipeline_id, Action.UPDATE, by))
        )

    def on_command_end(self, connection: sa.Connection, command: Mapping[str, Any]) -> None:
        """Note, in the transaction that ends a command, how the pipeline stands that it ran."""
        if command["command_type"] != CommandType.SPARK:
            return
        query = sa.select(pipelines).where(pipelines.c.command_id == command["id"]).with_for_update()
        row = connection.execute(query).mappings().one_or_none()
        if row is None or not is_active(row):
            return
        told = after_end(row["instance_status"], command["status"])
        ended = connection.execute(sa.select(commands).where(commands.c.id == command["id"])).mappings().one()
        values = {"instance_status": told.value, "message": ended["message"] if told is Told.FAILED else None}
        changed = sa.update(pipelines).where(pipelines.c.id == row["id"])
        connection.execute(changed.values(updated_at=self._clock(), **values))
        if told is Told.FAILED:
            self._notifications.on_pipeline_failure(connection, dict(row), dict(ended))

    def _begin(self, pipeline_id: int, values: Mapping[str, Any], by: Caller, connection: sa.Connection) -> Pipeline:
        row = locked(connection, pipeline_id, Action.UPDATE, by)
        require_inactive(row, "started again")
        (command_id,) = self._commands.insert_scheduled(connection, [values])
        changes = {
            "status": PipelineStatus.ACTIVE.value,
            "instance_status": Told.STARTED.value,
            "command_id": command_id,
            "message": None,
            "runs": row["runs"] + 1,
            "updated_at": self._clock(),
        }
        connection.execute(sa.update(pipelines).where(pipelines.c.id == pipeline_id).values(changes))
        trail.record(connection, by, "start", Resource.PIPELINE, pipeline_id, name=row["name"], command=command_id)
        return pipeline_record(connection.execute(PIPELINES.where(pipelines.c.id == pipeline_id)).mappings().one())

    def _begin_pause(self, pipeline_id: int, by: Caller, connection: sa.Connection) -> int:
        row = locked(connection, pipeline_id, Action.UPDATE, by)
        if not is_active(row):
            raise StateConflict(f"pipeline {pipeline_id} ({row['name']}) does not run: there is nothing to pause")
        pausing = sa.update(pipelines).where(pipelines.c.id == pipeline_id)
        connection.execute(pausing.values(instance_status=Told.PAUSING.value, updated_at=self._clock()))
        trail.record(connection, by, "pause", Resource.PIPELINE, pipeline_id, name=row["name"])
        return int(row["command_id"])

    def _submission(self, row: Mapping[Any, Any], code_file: Path) -> dict[str, Any]:
        own = self._folder / str(row["id"])
        checkpoints = row["definition"]["checkpoint_location"] or (own / "checkpoints").as_uri()
        line = submit_line(row["definition"], row["create_type"], checkpoints=checkpoints, code_file=code_file)
        return {
            "command_type": CommandType.SPARK.value,
            "cmdline": line,
            "label": row["cluster_label"],
            "name": f"pipeline {row['id']} ({row['name']})"[:255],
            "timeout": _FOR_EVER_SECONDS,
        }

    def _code_file(self, row: Mapping[Any, Any]) -> Path:
        """Return where the code lies, named by what it is: a run keeps its own while the pipeline is changed."""
        code: str = row["definition"]["code"] or ""
        digest = sha256(code.encode("utf-8", "replace")).hexdigest()[:16]
        suffix = ".py" if row["create_type"] == CreateType.CODE else ".none"
        return self._folder / str(row["id"]) / f"{digest}{suffix}"


def _write(file: Path, code: str | None) -> None:
    """Write the code of a pipeline that has some, whole or not at all, where only the service's user reads it."""
    if code is None or file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_suffix(f".{os.getpid()}.part")
    with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as opened:
        opened.write(code.encode("utf-8", "replace"))
    draft.replace(file)
