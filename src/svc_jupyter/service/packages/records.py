"""Records of environments and their activities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.account import Features
from svc_jupyter.api.package_environments import EnvironmentType, PackageActivity, PackageEnvironment
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.packages.languages import requirements_of
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.packages import activities, environments

_newest = sa.alias(activities)
ENVIRONMENTS = sa.select(
    environments,
    sa.select(_newest.c.status)
    .where(_newest.c.environment_id == environments.c.id)
    .order_by(_newest.c.id.desc())
    .limit(1)
    .scalar_subquery()
    .label("status"),
)
"""Environments with the status of their newest activity."""
ACTIVITIES = (
    sa.select(activities, environments.c.env_type, users.c.email)
    .join(environments, environments.c.id == activities.c.environment_id)
    .join(users, users.c.id == activities.c.user_id)
)
"""Activities with the fields of related rows in their records."""


def environment_fields(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields of the record of a row of `ENVIRONMENTS`."""
    is_python = row["env_type"] == EnvironmentType.PYTHON
    return {
        "id": row["id"],
        "name": row["name"],
        "env_type": row["env_type"],
        "python_version": row["language_version"] if is_python else None,
        "r_version": None if is_python else row["language_version"],
        "status": row["status"],
        "package_id": row["package_id"],
        "cluster_id": row["cluster_id"],
        "account_id": row["account_id"],
        "user_id": row["user_id"],
        "created_at": iso_time(row["created_at"]),
    }


def environment_record(row: Mapping[Any, Any]) -> PackageEnvironment:
    """Return the record of a row of `ENVIRONMENTS`."""
    return PackageEnvironment(**environment_fields(row))


def activity_record(row: Mapping[Any, Any]) -> PackageActivity:
    """Return the record of a row of `ACTIVITIES`."""
    return PackageActivity(
        id=row["id"],
        env_id=row["environment_id"],
        env_type=row["env_type"],
        action=row["action"],
        status=row["status"],
        packages=row["packages"],
        message=row["message"],
        user_id=row["user_id"],
        email=row["email"],
        created_at=iso_time(row["created_at"]),
        started_at=_time(row["started_at"]),
        finished_at=_time(row["finished_at"]),
        lock=requirements_of(row["env_type"]).pins(row["lock"]),
        restored_id=row["restored_id"],
        cluster_id=row["cluster_id"],
    )


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else iso_time(seconds)


def require_package_management(features: Features) -> None:
    """Raise `Forbidden`, with how an administrator enables it, while the account's package management is off."""
    if not features.package_management:
        raise Forbidden(
            "Package management is switched off for this account; a member of system-admin switches it on by "
            'PUT account/features with {"package_management": true}'
        )
