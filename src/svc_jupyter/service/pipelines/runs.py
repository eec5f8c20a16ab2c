"""Runs of pipelines: each is a `SparkCommand`, so that it outlives the service and has a log, a result and an end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.pipelines import CreateType, Pipeline, PipelineStatus
from svc_jupyter.files import write_whole
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import require
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.intake import Intake, new_row
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import StateConflict
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.pipelines.definition import submit_line
from svc_jupyter.service.pipelines.pipelines import found, locked, require_inactive
from svc_jupyter.service.pipelines.records import PIPELINES, StoredStatus, after_end, is_active, pipeline_record
from svc_jupyter.service.schema.pipelines import pipelines

_FOR_EVER_SECONDS = 2**31 - 1
"""The longest timeout, since a stream has no end; commands otherwise have 36 hours."""


class PipelineRuns:
    """Starts and pauses pipelines, and receives the ends of their commands."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        intake: Intake,
        commands: Commands,
        kinds: Mapping[str, Kind],
        gate: ClusterGate,
        notifications: Notifications,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = settings.data_dir / "pipelines"
        self._database = database
        self._intake = intake
        self._commands = commands
        self._kinds = kinds
        self._gate = gate
        self._notifications = notifications
        self._clock = clock

    async def start(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """Start a run, which continues from the last pause.

        Raises `StateConflict` when a run exists, and `Invalid` where Spark cannot run it (no cluster with the label).
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

        Raises `StateConflict` when there is no run.
        """
        command_id = await self._database.write(partial(self._begin_pause, pipeline_id, by))
        await self._commands.cancel(command_id, by)
        return await self._database.read(
            lambda connection: pipeline_record(found(connection, pipeline_id, Action.UPDATE, by))
        )

    def on_command_end(self, connection: sa.Connection, command: CommandRow) -> None:
        """Record the state of a command's pipeline in the transaction that ends the command."""
        if command.command_type != CommandType.SPARK:
            return
        query = sa.select(pipelines).where(pipelines.c.command_id == command.id).with_for_update()
        row = connection.execute(query).mappings().one_or_none()
        if row is None or not is_active(row):
            return
        stored = after_end(row["instance_status"], command.status)
        values = {
            "instance_status": stored.value,
            "message": command.message if stored is StoredStatus.FAILED else None,
        }
        changed = sa.update(pipelines).where(pipelines.c.id == row["id"])
        connection.execute(changed.values(updated_at=self._clock(), **values))
        if stored is StoredStatus.FAILED:
            self._notifications.on_pipeline_failure(connection, dict(row), asdict(command))

    def _begin(self, pipeline_id: int, values: Mapping[str, Any], by: Caller, connection: sa.Connection) -> Pipeline:
        row = locked(connection, pipeline_id, Action.UPDATE, by)
        require_inactive(row, "started again")
        (command_id,) = self._intake.insert_scheduled(connection, [values])
        changes = {
            "status": PipelineStatus.ACTIVE.value,
            "instance_status": StoredStatus.STARTED.value,
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
        connection.execute(pausing.values(instance_status=StoredStatus.PAUSING.value, updated_at=self._clock()))
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
        """Return the path of the code, named by its content: a run keeps its own while the pipeline is changed."""
        code: str = row["definition"]["code"] or ""
        digest = sha256(code.encode("utf-8", "replace")).hexdigest()[:16]
        suffix = ".py" if row["create_type"] == CreateType.CODE else ".none"
        return self._folder / str(row["id"]) / f"{digest}{suffix}"


def _write(file: Path, code: str | None) -> None:
    """Write the code of a pipeline, if any, atomically, readable only by the service's user."""
    if code is None or file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(file, code.encode("utf-8", "replace"), mode=0o600)
