"""Package environments: packages for what runs on a cluster."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from svc_jupyter.api.fields import Id, Name, PagingInfo, Record, Request

MAX_PACKAGES = 200
"""Of one call."""
MAX_REQUIREMENT_LENGTH = 255


class EnvironmentType(StrEnum):
    """The packages of which language an environment holds."""

    PYTHON = "python_package"
    R = "r_package"


class ActivityAction(StrEnum):
    """What an activity does to its environment."""

    CREATE = "create"
    ADD = "add"
    REMOVE = "remove"
    RESTORE = "restore"
    ATTACH = "attach_cluster"
    DETACH = "detach_cluster"


class ActivityStatus(StrEnum):
    """Where an activity stands: `waiting` → `running` → `success` | `failed`."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens to it."""
        return self in (ActivityStatus.SUCCESS, ActivityStatus.FAILED)


_Type = Annotated[EnvironmentType, Field(strict=False)]
_Version = Annotated[str, Field(max_length=32, pattern=r"^\d+(\.\d+){0,2}$")]
_Packages = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_REQUIREMENT_LENGTH)]], Field(max_length=MAX_PACKAGES)
]


class EnvironmentCreate(Request):
    """A new environment; without a version it has the one that the service runs on."""

    name: Name = Field(min_length=1)
    env_type: _Type = EnvironmentType.PYTHON
    python_version: _Version | None = None
    r_version: _Version | None = None
    packages: _Packages = Field(default_factory=list, description="What it holds from the start")

    @model_validator(mode="after")
    def _has_the_version_of_its_language(self) -> EnvironmentCreate:
        other = "r_version" if self.env_type is EnvironmentType.PYTHON else "python_version"
        if getattr(self, other) is not None:
            raise ValueError(f"{other} does not belong to a {self.env_type}")
        return self


class PackagesChange(Request):
    """The packages to add, as requirements such as `six==1.16.0`, or to remove, where the name counts."""

    packages: _Packages = Field(min_length=1)


class ClusterAttachment(Request):
    """The cluster whose runs are to use the environment."""

    cluster_id: Id


class Restoration(Request):
    """The successful activity to whose packages the environment is to go back."""

    env_type: _Type = EnvironmentType.PYTHON
    package_id: Id


class PackageActivity(Record):
    """Something that is done to an environment: a row of its history."""

    id: int
    env_type: str
    action: str
    status: str
    packages: list[str]
    message: str | None = None
    user_id: int
    created_at: str
    finished_at: str | None = None
    # Extensions that another service may lack.
    env_id: int | None = None
    email: str | None = Field(default=None, description="Who did it")
    started_at: str | None = None
    lock: list[str] = Field(
        default_factory=list, description="Every package at its exact version, once the activity has succeeded"
    )
    restored_id: int | None = Field(default=None, description="Of a restore: the activity gone back to")
    cluster_id: int | None = Field(default=None, description="Of an attachment: the cluster")


class PackageEnvironment(Record):
    """An environment. `status` is that of its newest activity, `package_id` which one's packages are in force."""

    id: int
    name: str
    env_type: str
    python_version: str | None = None
    r_version: str | None = None
    # Extensions that another service may lack.
    status: str | None = None
    package_id: int | None = None
    cluster_id: int | None = None
    account_id: int | None = None
    user_id: int | None = None
    created_at: str | None = None


class NewPackageEnvironment(PackageEnvironment):
    """An environment as its creation returns it, with the activity that builds it."""

    activity: PackageActivity | None = None


class PackageEnvironmentList(Record):
    """One page of environments, newest first."""

    environments: list[PackageEnvironment]
    paging_info: PagingInfo


class PackageList(Record):
    """What an environment holds: what was asked for, by language and at exact versions, and all that is installed."""

    env_id: int
    packages: dict[str, list[str]]
    # Extensions that another service may lack.
    installed: list[str] = Field(default_factory=list, description="With what the packages need themselves")
    package_id: int | None = None


class ActivityBegun(Record):
    """The answer to a change: it is done later, and its row tells how that ended."""

    success: bool
    activity: PackageActivity


class ActivityHistory(Record):
    """One page of what was done to an environment, newest first."""

    activity_history: list[PackageActivity]
    paging_info: PagingInfo
