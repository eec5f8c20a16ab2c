"""The state of a pipeline's last run, from the orders it got and its command. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from svc_jupyter.api.pipelines import InstanceStatus, PipelineHealth
from svc_jupyter.api.states import CommandStatus


class Told(StrEnum):
    """The state of the last run in a pipeline's row."""

    STARTED = "STARTED"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"
    FAILED = "FAILED"


ACTIVE = (Told.STARTED, Told.PAUSING)
"""While its command exists: such a pipeline cannot be started, archived or deleted."""


def is_active(pipeline: Mapping[Any, Any]) -> bool:
    """Return whether the pipeline has a run."""
    return pipeline["instance_status"] in ACTIVE


def after_end(told: str, command_status: str) -> Told:
    """Return the state of a pipeline once its command has ended; only a pause or a kill leave it paused."""
    if told == Told.PAUSING or command_status == CommandStatus.CANCELLED:
        return Told.PAUSED
    return Told.FINISHED if command_status == CommandStatus.DONE else Told.FAILED


def instance_status(told: str | None, command_status: str | None) -> InstanceStatus | None:
    """Return the status that the record shows."""
    if told is None:
        return None
    if told == Told.STARTED:
        return InstanceStatus.WAITING if command_status == CommandStatus.WAITING else InstanceStatus.RUNNING
    return InstanceStatus(told)


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
