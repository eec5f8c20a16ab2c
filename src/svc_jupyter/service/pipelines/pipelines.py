"""The rules of streaming pipelines."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.api.pipelines import Pipeline, PipelineCreate, PipelineList, PipelineStatus, PipelineUpdate
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import require, require_to_write_code
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import NotFound, StateConflict
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.notifications.channels import check_channels
from svc_jupyter.service.pipelines.definition import changed, definition_of, runs_otherwise
from svc_jupyter.service.pipelines.records import PIPELINES, is_active, pipeline_list, pipeline_record
from svc_jupyter.service.schema.pipelines import pipelines

Result = TypeVar("Result")


class Pipelines:
    """Pipelines, apart from running them (`runs.py`).

    Every method raises `Forbidden` for a caller without the permission, and `NotFound` for an unknown pipeline.
    """

    def __init__(self, settings: Settings, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._folder = settings.data_dir / "pipelines"
        self._database = database
        self._clock = clock

    async def list(self, wanted: Sequence[PipelineStatus], page: Page, *, by: Caller) -> PipelineList:
        """Return a page of the pipelines with one of these statuses that the caller may read, newest first."""
        query = PIPELINES.where(
            pipelines.c.account_id == by.account_id,
            pipelines.c.status.in_([status.value for status in wanted]),
            readable(by, Resource.PIPELINE, pipelines.c.id),
        )
        query = query.order_by(pipelines.c.id.desc()).offset(page.offset).limit(page.fetch)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        shown, paging_info = page.cut(rows)
        return pipeline_list(list(shown), paging_info)

    async def get(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """Return a pipeline."""
        return await self._database.read(
            lambda connection: pipeline_record(found(connection, pipeline_id, Action.READ, by))
        )

    async def create(self, body: PipelineCreate, *, by: Caller) -> Pipeline:
        """Store a new pipeline as a draft. Raises `Invalid` for an unknown channel.

        `Forbidden` also for a caller who may not submit commands: the pipeline's code runs when it is started.
        """
        require(by, Action.CREATE, Resource.PIPELINE)
        require_to_write_code(by, "what a pipeline runs")
        return await self._database.write(partial(self._insert, body, by))

    async def update(self, pipeline_id: int, body: PipelineUpdate, *, by: Caller) -> Pipeline:
        """Change the given attributes, which take effect at the next start. Raises `Invalid`.

        `Forbidden` also for a change of what runs by a caller who may not submit commands.
        """
        return await self._database.write(partial(self._update, pipeline_id, body, by))

    async def archive(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """Archive a pipeline; its next start takes it out again. Raises `StateConflict` while it runs."""
        return await self._database.write(partial(self._archive, pipeline_id, by))

    async def delete(self, pipeline_id: int, *, by: Caller) -> Pipeline:
        """Delete a pipeline with its progress; return its last record. Raises `StateConflict` while it runs."""
        return await self._database.write(partial(self._delete, pipeline_id, by))

    def _insert(self, body: PipelineCreate, by: Caller, connection: sa.Connection) -> Pipeline:
        channels = body.notification_channels or []
        check_channels(connection, by.account_id, channels)
        now = self._clock()
        values = {
            "account_id": by.account_id,
            "user_id": by.user_id,
            "name": body.name,
            "description": body.description,
            "status": PipelineStatus.DRAFT.value,
            "create_type": body.create_type.value,
            "definition": definition_of(body),
            "cluster_label": body.cluster_label,
            "notification_channels": channels,
            "created_at": now,
            "updated_at": now,
        }
        made = sa.insert(pipelines).values(values).returning(pipelines.c.id)
        pipeline_id: int = connection.execute(made).scalar_one()
        trail.record(connection, by, "create", Resource.PIPELINE, pipeline_id, name=body.name)
        return _shown(connection, pipeline_id)

    def _update(self, pipeline_id: int, body: PipelineUpdate, by: Caller, connection: sa.Connection) -> Pipeline:
        row = locked(connection, pipeline_id, Action.UPDATE, by)
        if runs_otherwise(row, body):
            require_to_write_code(by, f"what pipeline {pipeline_id} runs")
        values: dict[str, Any] = {"definition": changed(row["definition"], row["create_type"], body)}
        for name in ("name", "description", "cluster_label", "notification_channels"):
            if (value := getattr(body, name)) is not None:
                values[name] = value
        check_channels(connection, by.account_id, values.get("notification_channels", []))
        names = sorted(body.model_fields_set)
        trail.record(connection, by, "update", Resource.PIPELINE, pipeline_id, changed=names)
        return self._changed(connection, pipeline_id, **values)

    def _archive(self, pipeline_id: int, by: Caller, connection: sa.Connection) -> Pipeline:
        row = locked(connection, pipeline_id, Action.UPDATE, by)
        require_inactive(row, "archived")
        trail.record(connection, by, "archive", Resource.PIPELINE, pipeline_id, name=row["name"])
        return self._changed(connection, pipeline_id, status=PipelineStatus.ARCHIVE.value)

    def _delete(self, pipeline_id: int, by: Caller, connection: sa.Connection) -> Pipeline:
        row = locked(connection, pipeline_id, Action.DELETE, by)
        require_inactive(row, "deleted")
        record = _shown(connection, pipeline_id)
        record.data.attributes.status = "deleted"
        policy_versions.forget(connection, SourceType.PIPELINE, [pipeline_id])
        connection.execute(sa.delete(pipelines).where(pipelines.c.id == pipeline_id))
        trail.record(connection, by, "delete", Resource.PIPELINE, pipeline_id, name=row["name"])
        folder = self._folder / str(pipeline_id)
        self._database.after_commit(connection, lambda: shutil.rmtree(folder, ignore_errors=True))
        return record

    def _changed(self, connection: sa.Connection, pipeline_id: int, **values: Any) -> Pipeline:
        changes = {"updated_at": self._clock(), **values}
        connection.execute(sa.update(pipelines).where(pipelines.c.id == pipeline_id).values(changes))
        return _shown(connection, pipeline_id)


def found(connection: sa.Connection, pipeline_id: int, action: Action, by: Caller) -> Mapping[Any, Any]:
    """Return a row of `PIPELINES` to which the caller may do `action`. Raises `NotFound`, `Forbidden`."""
    query = PIPELINES.where(pipelines.c.id == pipeline_id, pipelines.c.account_id == by.account_id)
    row = connection.execute(query).mappings().one_or_none()
    require(by, action, Resource.PIPELINE, pipeline_id)  # the same for a pipeline that does not exist
    if row is None:
        raise NotFound(f"there is no pipeline {pipeline_id} in this account")
    return row


def locked(connection: sa.Connection, pipeline_id: int, action: Action, by: Caller) -> Mapping[Any, Any]:
    """As `found`; locks the pipeline until this transaction ends."""
    lock = sa.select(pipelines.c.id).where(pipelines.c.id == pipeline_id).with_for_update()
    connection.execute(lock)
    return found(connection, pipeline_id, action, by)


def require_inactive(row: Mapping[Any, Any], what: str) -> None:
    """Raise `StateConflict` while the pipeline has a run."""
    if is_active(row):
        raise StateConflict(
            f"pipeline {row['id']} ({row['name']}) is active: command {row['command_id']} runs it; "
            f"it can be {what} once it is paused (PUT pipelines/{row['id']}/pause)"
        )


def _shown(connection: sa.Connection, pipeline_id: int) -> Pipeline:
    return pipeline_record(connection.execute(PIPELINES.where(pipelines.c.id == pipeline_id)).mappings().one())
