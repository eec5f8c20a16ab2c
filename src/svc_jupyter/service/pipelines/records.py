"""Records of pipelines, with the state of the last run, from the orders it got and its command. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.pipelines import (
    InstanceStatus,
    Pipeline,
    PipelineAttributes,
    PipelineData,
    PipelineHealth,
    PipelineList,
)
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.pipelines.definition import FIELDS
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.pipelines import pipelines

PIPELINES = (
    sa.select(pipelines, users.c.email, commands.c.status.label("command_status"))
    .join(users, users.c.id == pipelines.c.user_id)
    .outerjoin(commands, commands.c.id == pipelines.c.command_id)
)
"""Pipelines with the fields of related rows in their records."""


class StoredStatus(StrEnum):
    """The state of the last run in a pipeline's row."""

    STARTED = "STARTED"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"
    FAILED = "FAILED"


ACTIVE = (StoredStatus.STARTED, StoredStatus.PAUSING)
"""While its command exists: such a pipeline cannot be started, archived or deleted."""


def is_active(pipeline: Mapping[Any, Any]) -> bool:
    """Return whether the pipeline has a run."""
    return pipeline["instance_status"] in ACTIVE


def after_end(stored: str, command_status: str) -> StoredStatus:
    """Return the state of a pipeline once its command has ended; only a pause or a kill leave it paused."""
    if stored == StoredStatus.PAUSING or command_status == CommandStatus.CANCELLED:
        return StoredStatus.PAUSED
    return StoredStatus.FINISHED if command_status == CommandStatus.DONE else StoredStatus.FAILED


def instance_status(stored: str | None, command_status: str | None) -> InstanceStatus | None:
    """Return the status that the record shows."""
    if stored is None:
        return None
    if stored == StoredStatus.STARTED:
        return InstanceStatus.WAITING if command_status == CommandStatus.WAITING else InstanceStatus.RUNNING
    return InstanceStatus(stored)


def health(status: InstanceStatus | None, command_id: int | None, message: str | None) -> PipelineHealth:
    """Return the health of a pipeline, with the reason."""
    if status is None:
        return PipelineHealth(status="grey", reason="never started")
    if status is InstanceStatus.RUNNING:
        return PipelineHealth(status="green", reason=f"command {command_id} runs")
    if status in (InstanceStatus.WAITING, InstanceStatus.PAUSING):
        doing = "waits for its cluster or a free slot" if status is InstanceStatus.WAITING else "is being ended"
        return PipelineHealth(status="yellow", reason=f"command {command_id} {doing}")
    if status is InstanceStatus.FAILED:
        return PipelineHealth(status="red", reason=message or f"command {command_id} failed; its log says why")
    return PipelineHealth(status="grey", reason=status.value.lower())


def pipeline_data(row: Mapping[Any, Any]) -> PipelineData:
    """Return the record of a row of `PIPELINES`."""
    status = instance_status(row["instance_status"], row["command_status"])
    attributes = PipelineAttributes(
        name=row["name"],
        description=row["description"],
        status=row["status"],
        created_at=iso_time(row["created_at"]),
        updated_at=iso_time(row["updated_at"]),
        cluster_label=row["cluster_label"],
        owner_name=row["email"],
        pipeline_instance_status=None if status is None else status.value,
        create_type=row["create_type"],
        health=health(status, row["command_id"], row["message"]),
        notification_channels=row["notification_channels"],
        command_id=row["command_id"],
        runs=row["runs"],
        **{name: row["definition"][name] for name in FIELDS},
    )
    return PipelineData(id=row["id"], attributes=attributes)


def pipeline_record(row: Mapping[Any, Any]) -> Pipeline:
    """Return the answer with one pipeline."""
    return Pipeline(data=pipeline_data(row), meta={})


def pipeline_list(rows: list[Mapping[Any, Any]], paging_info: PagingInfo) -> PipelineList:
    """Return the answer with a page of pipelines."""
    return PipelineList(data=[pipeline_data(row) for row in rows], meta=paging_info.model_dump())
