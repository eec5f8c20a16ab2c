"""Activities of environments as rows: how to request one, and the packages requested after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.account import Features
from svc_jupyter.api.package_environments import (
    ActivityAction,
    ActivityStatus,
    EnvironmentType,
    PackageActivity,
    PackageEnvironment,
)
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.packages.languages import requirements_of
from svc_jupyter.service.packages.requirements import Requirements
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.packages import activities, environments

CHANGED = "packages"
"""Topic of the bus: an environment has work waiting."""
OPEN = (ActivityStatus.WAITING.value, ActivityStatus.RUNNING.value)


def in_force(connection: sa.Connection, environment: Mapping[Any, Any]) -> Mapping[Any, Any] | None:
    """Return the activity that built the current packages, None before the first that succeeds."""
    if environment["package_id"] is None:
        return None
    query = sa.select(activities).where(activities.c.id == environment["package_id"])
    return connection.execute(query).mappings().one()


def requested_then(
    rules: Requirements, action: ActivityAction, requested: Sequence[str], packages: Sequence[str]
) -> list[str]:
    """Return the requested packages of an environment after an action other than a restore. Raises `Invalid`."""
    if action in (ActivityAction.CREATE, ActivityAction.ADD):
        return rules.merged(requested, packages)
    if action is ActivityAction.REMOVE:
        return rules.without(requested, packages)
    return list(requested)


def planned(connection: sa.Connection, environment: Mapping[Any, Any]) -> list[str]:
    """Return the requested packages of an environment after all waiting activities."""
    query = (
        sa.select(activities.c.requested)
        .where(activities.c.environment_id == environment["id"], activities.c.status.in_(OPEN))
        .order_by(activities.c.id.desc())
        .limit(1)
    )
    waiting = connection.execute(query).scalar()
    if waiting is not None:
        return list(waiting)
    now = in_force(connection, environment)
    return [] if now is None else list(now["requested"])


def insert(
    connection: sa.Connection,
    environment_id: int,
    action: ActivityAction,
    *,
    user_id: int,
    now: float,
    packages: Sequence[str] = (),
    requested: Sequence[str] = (),
    **others: Any,
) -> int:
    """Add a waiting activity; return its id. The caller wakes the builder."""
    values = {
        "environment_id": environment_id,
        "user_id": user_id,
        "action": action.value,
        "status": ActivityStatus.WAITING.value,
        "packages": list(packages),
        "requested": list(requested),
        "created_at": now,
        **others,
    }
    return int(connection.execute(sa.insert(activities).values(values).returning(activities.c.id)).scalar_one())


def lock_environment(connection: sa.Connection, environment_id: int) -> Mapping[Any, Any] | None:
    """Lock an environment against other transactions until this one ends, and return it; None when it is gone."""
    query = sa.select(environments).where(environments.c.id == environment_id, environments.c.deleted_at.is_(None))
    return connection.execute(query.with_for_update()).mappings().one_or_none()


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
