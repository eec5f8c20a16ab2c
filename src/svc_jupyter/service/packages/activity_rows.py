"""Activities of environments as rows: how to request one, and the packages requested after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.package_environments import ActivityAction, ActivityStatus
from svc_jupyter.service.packages.requirements import Requirements
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
