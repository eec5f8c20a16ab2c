"""Streaming pipelines."""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from svc_jupyter.api.fields import Id, Name, Record, Request

MAX_CODE_BYTES = 2**20
_PROPERTY = re.compile(r"spark\.[A-Za-z0-9._-]{1,200}")


class PipelineStatus(StrEnum):
    """Where a pipeline stands: never started, started at least once, or put away."""

    DRAFT = "draft"
    ACTIVE = "active"
    ARCHIVE = "archive"


class CreateType(StrEnum):
    """What a pipeline is made of."""

    CODE = "code"
    JAR = "jar"


class InstanceStatus(StrEnum):
    """How the last run of a pipeline stands."""

    WAITING = "WAITING"
    """It was started and waits for its cluster."""
    RUNNING = "RUNNING"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    FINISHED = "FINISHED"
    """Its queries ended by themselves."""
    FAILED = "FAILED"


def _check_properties(value: dict[str, Any]) -> dict[str, Any]:
    for key, item in value.items():
        if not _PROPERTY.fullmatch(key):
            raise ValueError(f"{key[:60]!r} is not a property of Spark, as in spark.sql.shuffle.partitions")
        if isinstance(item, str) and not item.isprintable():
            raise ValueError(f"the value of {key} holds control characters")
    return value


def _check_arguments(value: str) -> str:
    try:
        shlex.split(value)
    except ValueError as error:
        raise ValueError(f"cannot be split as a shell does: {str(error).lower()}") from None
    return value


def _check_code(value: str) -> str:
    if len(value.encode("utf-8", "replace")) > MAX_CODE_BYTES:
        raise ValueError("must have at most 1 MiB")
    return value


def _flattened(value: Any) -> Any:
    """Take the attributes out of a `{"data": {"attributes": {...}}}`, the form in which pipelines are answered."""
    if isinstance(value, dict) and isinstance(value.get("data"), dict):
        attributes = value["data"].get("attributes")
        return attributes if isinstance(attributes, dict) else value
    return value


Code = Annotated[str, Field(min_length=1), AfterValidator(_check_code)]
JarPath = Annotated[str, Field(min_length=1, max_length=2048, pattern=r"^[^-\s\x00-\x1f][^\s\x00-\x1f]*\.jar$")]
MainClass = Annotated[str, Field(max_length=500, pattern=r"^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$")]
UserArguments = Annotated[str, Field(max_length=4096), AfterValidator(_check_arguments)]
Properties = Annotated[dict[str, str | bool | int | float], Field(max_length=100), AfterValidator(_check_properties)]
CheckpointLocation = Annotated[str, Field(min_length=1, max_length=2048, pattern=r"^[^\s\x00-\x1f]+$")]
Label = Annotated[str, Field(min_length=1, max_length=255)]


class _PipelineFields(Request):
    """What a creation and a change have in common."""

    description: str | None = Field(default=None, max_length=10_000)
    cluster_label: Label | None = None
    code: Code | None = None
    jar_path: JarPath | None = None
    main_class: MainClass | None = None
    user_arguments: UserArguments | None = None
    properties: Properties | None = None
    checkpoint_location: CheckpointLocation | None = None
    notification_channels: list[Id] | None = Field(default=None, max_length=100)

    @model_validator(mode="before")
    @classmethod
    def _take_attributes(cls, value: Any) -> Any:
        return _flattened(value)


class PipelineCreate(_PipelineFields):
    """A new pipeline: of `code` in Python, or of a jar with its main class."""

    name: Name = Field(min_length=1)
    create_type: Annotated[CreateType, Field(strict=False)] = CreateType.CODE
    language: Literal["python"] = "python"

    @model_validator(mode="after")
    def _has_what_it_is_made_of(self) -> PipelineCreate:
        wanted, other = ("code", "jar_path") if self.create_type is CreateType.CODE else ("jar_path", "code")
        if getattr(self, wanted) is None:
            raise ValueError(f"{wanted} is missing; a pipeline of type {self.create_type} runs it")
        if getattr(self, other) is not None:
            raise ValueError(f"{other} does not belong to a pipeline of type {self.create_type}")
        if self.create_type is CreateType.JAR and self.main_class is None:
            raise ValueError("main_class is missing; a pipeline of type jar begins there")
        return self


class PipelineUpdate(_PipelineFields):
    """The attributes to change; the others stay. They count from the next start on."""

    name: Name | None = Field(default=None, min_length=1)


class PipelineHealth(Record):
    """How a pipeline is: `green` as it runs, `yellow` at its start and end, `red` after a failure, else `grey`."""

    status: str
    reason: str


class PipelineAttributes(Record):
    """What there is to say of a pipeline."""

    name: str
    description: str | None = None
    status: str
    created_at: str
    updated_at: str
    cluster_label: str | None = None
    owner_name: str
    pipeline_instance_status: str | None = None
    create_type: str
    health: PipelineHealth | None = None
    # Extensions that another service may lack.
    language: str | None = None
    code: str | None = None
    jar_path: str | None = None
    main_class: str | None = None
    user_arguments: str | None = None
    properties: dict[str, Any] | None = None
    checkpoint_location: str | None = Field(default=None, description="Where its progress is kept across pauses")
    notification_channels: list[int] | None = Field(default=None, description="Notified when a run fails")
    command_id: int | None = Field(default=None, description="The command of its last run")
    runs: int | None = Field(default=None, description="How often it was started")


class PipelineData(Record):
    """A pipeline with its id."""

    id: int
    type: str = "pipeline"
    attributes: PipelineAttributes


class Pipeline(Record):
    """A pipeline as every call but the list answers it."""

    data: PipelineData
    meta: dict[str, Any] = Field(default_factory=dict)


class PipelineList(Record):
    """One page of pipelines, newest first; `meta` says where it stands."""

    data: list[PipelineData]
    meta: dict[str, Any] = Field(default_factory=dict)
