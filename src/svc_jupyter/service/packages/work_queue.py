"""The queue of activities. Every function is one step inside the caller's transaction.

Activities of one environment run one after the other, oldest first. Another replica restarts the work of a lost one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.package_environments import ActivityAction, ActivityStatus, EnvironmentType
from svc_jupyter.service.clusters.cluster_rows import cluster_by_id
from svc_jupyter.service.commands.queue import Replica, is_unclaimed
from svc_jupyter.service.ground.errors import StateConflict
from svc_jupyter.service.packages.activity_rows import OPEN, in_force, lock_environment, requested_then
from svc_jupyter.service.packages.environments import check_free
from svc_jupyter.service.packages.languages import requirements_of
from svc_jupyter.service.schema.packages import activities, environments

_CLAIM_LOCK = 0x5C4A09
"""Key of the advisory lock under which PostgreSQL replicas claim: two must not take activities of one environment."""
_MOST_ATTEMPTS = 3
_A = activities.c
_RUNNING = _A.status == ActivityStatus.RUNNING.value
_UNCLAIMED = is_unclaimed(_A.replica_id)
_BUILDS = (ActivityAction.CREATE, ActivityAction.ADD, ActivityAction.REMOVE, ActivityAction.RESTORE)
_NO_BUILD = "the environment was never built: its history says why; build it first"


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed activity, with its starting point."""

    id: int
    environment_id: int
    env_type: EnvironmentType
    action: ActivityAction
    folder: str
    attempt: int
    language_version: str
    packages: tuple[str, ...]
    requested: tuple[str, ...]
    """The requested packages before this activity."""
    lock_now: str | None
    lock_to_restore: str | None
    requested_to_restore: tuple[str, ...]
    left_folder: str | None
    """The folder that a lost replica was building."""

    @property
    def builds(self) -> bool:
        """Whether it builds a new version; otherwise it only changes which cluster uses the environment."""
        return self.action in _BUILDS

    @property
    def was_interrupted_too_often(self) -> bool:
        """Whether it ended the service, or ended with it, too often to be started again."""
        return self.attempt > _MOST_ATTEMPTS


def claim(connection: sa.Connection, replica: Replica, now: float) -> Work | None:
    """Claim the oldest activity that may start; return None when there is none."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CLAIM_LOCK)))
    busy = sa.select(_A.environment_id).where(_RUNNING, sa.not_(_UNCLAIMED))
    claimable = sa.or_(_A.status == ActivityStatus.WAITING.value, sa.and_(_RUNNING, _UNCLAIMED))
    query = (
        sa.select(activities)
        .join(environments, environments.c.id == _A.environment_id)
        .where(claimable, _A.environment_id.not_in(busy), environments.c.deleted_at.is_(None))
        .order_by(_A.id)
        .limit(1)
    )
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    attempt = row["attempts"] + 1
    folder = f"{row['id']}-{attempt}"
    values = {
        "status": ActivityStatus.RUNNING.value,
        "replica_id": replica.id,
        "attempts": attempt,
        "started_at": row["started_at"] or now,
        "folder": folder,
    }
    connection.execute(sa.update(activities).where(_A.id == row["id"]).values(values))
    return _work(connection, row, folder, attempt)


def succeed(
    connection: sa.Connection,
    work: Work,
    replica: Replica,
    *,
    requested: list[str],
    lock: str,
    message: str,
    now: float,
) -> bool:
    """Make a built version current and end its activity; return False if the activity is no longer this replica's."""
    environment = lock_environment(connection, work.environment_id)
    if environment is None or not _is_own(connection, work, replica):
        return False
    values = {"requested": requested, "lock": lock, "message": message}
    _end(connection, work, ActivityStatus.SUCCESS, now, folder=work.folder, **values)
    swapped = sa.update(environments).where(environments.c.id == work.environment_id)
    connection.execute(swapped.values(package_id=work.id))
    return True


def fail(connection: sa.Connection, work: Work, replica: Replica, *, message: str, now: float) -> None:
    """End an activity that changed nothing."""
    if _is_own(connection, work, replica):
        _end(connection, work, ActivityStatus.FAILED, now, folder=None, message=message)


def move(connection: sa.Connection, work: Work, replica: Replica, *, now: float) -> None:
    """Attach an environment to its activity's cluster or detach it, and end the activity."""
    environment = lock_environment(connection, work.environment_id)
    if environment is None or not _is_own(connection, work, replica):
        return
    built = in_force(connection, environment)
    cluster_id = connection.execute(sa.select(_A.cluster_id).where(_A.id == work.id)).scalar_one()
    attaches = work.action is ActivityAction.ATTACH
    cluster = cluster_by_id(connection, cluster_id)
    if attaches and (built is None or cluster is None):
        why = _NO_BUILD if built is None else f"cluster {cluster_id} was deleted meanwhile"
        _end(connection, work, ActivityStatus.FAILED, now, folder=None, message=why)
        return
    if attaches:
        try:
            check_free(connection, cluster_id, environment)
        except StateConflict as conflict:
            _end(connection, work, ActivityStatus.FAILED, now, folder=None, message=conflict.message)
            return
    changed = sa.update(environments).where(environments.c.id == work.environment_id)
    connection.execute(changed.values(cluster_id=cluster_id if attaches else None))
    name = str(cluster_id) if cluster is None else cluster.name
    message = f"runs on cluster {name} {'use it from now on' if attaches else 'go on without it'}"
    lock, requested = (None, []) if built is None else (built["lock"], built["requested"])
    values = {"lock": lock, "requested": requested, "message": message}
    _end(connection, work, ActivityStatus.SUCCESS, now, folder=None, **values)


def give_back(connection: sa.Connection, replica: Replica) -> None:
    """Release this replica's activities, so that others, or its next start, can restart them."""
    mine = sa.update(activities).where(_RUNNING, _A.replica_id == replica.id)
    connection.execute(mine.values(status=ActivityStatus.WAITING.value, replica_id=None, folder=None, attempts=0))


def forget(connection: sa.Connection, activity_id: int) -> None:
    """End an activity whose environment was deleted."""
    gone = sa.update(activities).where(_A.id == activity_id, _RUNNING)
    values = {"status": ActivityStatus.FAILED.value, "message": "the environment was deleted", "folder": None}
    connection.execute(gone.values(replica_id=None, **values))


def some_are_open(connection: sa.Connection) -> bool:
    """Return whether any activity waits or runs."""
    query = sa.select(_A.id).join(environments, environments.c.id == _A.environment_id)
    query = query.where(_A.status.in_(OPEN), environments.c.deleted_at.is_(None)).limit(1)
    return connection.execute(query).first() is not None


def of_deleted(connection: sa.Connection, replica: Replica) -> set[int]:
    """Return the replica's activities whose environment was deleted meanwhile."""
    query = (
        sa.select(_A.id)
        .join(environments, environments.c.id == _A.environment_id)
        .where(_RUNNING, _A.replica_id == replica.id, environments.c.deleted_at.is_not(None))
    )
    return set(connection.execute(query).scalars())


def _work(connection: sa.Connection, row: Mapping[Any, Any], folder: str, attempt: int) -> Work:
    environment = (
        connection.execute(sa.select(environments).where(environments.c.id == row["environment_id"])).mappings().one()
    )
    now = in_force(connection, environment)
    source = None
    if row["restored_id"] is not None:
        source = connection.execute(sa.select(activities).where(_A.id == row["restored_id"])).mappings().one()
    return Work(
        id=row["id"],
        environment_id=row["environment_id"],
        env_type=EnvironmentType(environment["env_type"]),
        action=ActivityAction(row["action"]),
        folder=folder,
        attempt=attempt,
        language_version=environment["language_version"],
        packages=tuple(row["packages"]),
        requested=() if now is None else tuple(now["requested"]),
        lock_now=None if now is None else now["lock"],
        lock_to_restore=None if source is None else source["lock"],
        requested_to_restore=() if source is None else tuple(source["requested"]),
        left_folder=row["folder"],
    )


def requested_after(work: Work) -> list[str]:
    """Return the requested packages after the activity has succeeded.

    Raises `Invalid` if an earlier one failed, so that this one is impossible.
    """
    if work.action is ActivityAction.RESTORE:
        return list(work.requested_to_restore)
    return requested_then(requirements_of(work.env_type), work.action, work.requested, work.packages)


def _is_own(connection: sa.Connection, work: Work, replica: Replica) -> bool:
    query = sa.select(_A.id).where(_A.id == work.id, _RUNNING, _A.replica_id == replica.id, _A.attempts == work.attempt)
    return connection.execute(query).first() is not None


def _end(connection: sa.Connection, work: Work, status: ActivityStatus, now: float, **values: Any) -> None:
    ended = {"status": status.value, "finished_at": now, "replica_id": None, **values}
    connection.execute(sa.update(activities).where(_A.id == work.id).values(ended))
