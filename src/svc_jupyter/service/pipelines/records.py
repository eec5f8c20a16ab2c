"""Records of pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.pipelines import Pipeline, PipelineAttributes, PipelineData, PipelineList
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.pipelines.definition import FIELDS
from svc_jupyter.service.pipelines.states import health, instance_status
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.pipelines import pipelines

PIPELINES = (
    sa.select(pipelines, users.c.email, commands.c.status.label("command_status"))
    .join(users, users.c.id == pipelines.c.user_id)
    .outerjoin(commands, commands.c.id == pipelines.c.command_id)
)
"""Pipelines with the fields of related rows in their records."""


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
