"""The rules of package environments.

A change is only recorded here; `builder.py` performs it. All methods block: worker threads call them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.api.package_environments import (
    ActivityAction,
    ActivityBegun,
    ActivityHistory,
    ActivityStatus,
    EnvironmentCreate,
    EnvironmentType,
    NewPackageEnvironment,
    PackageEnvironment,
    PackageEnvironmentList,
    PackageList,
    Restoration,
)
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.accounts import Accounts, lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import require
from svc_jupyter.service.clusters.cluster_rows import cluster_by_id
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.packages import activity_rows
from svc_jupyter.service.packages.activity_rows import (
    ACTIVITIES,
    CHANGED,
    ENVIRONMENTS,
    activity_record,
    environment_fields,
    in_force,
    lock_environment,
    planned,
    requested_then,
    require_package_management,
)
from svc_jupyter.service.packages.languages import language_of, requirements_of
from svc_jupyter.service.packages.r_sources import installed_version
from svc_jupyter.service.schema.packages import activities, environments

RUNNING_PYTHON = "{}.{}".format(*sys.version_info[:2])
"""The Python version of the service, and of the engines that it installs."""
_SHOWS_FROM = environments.c.deleted_at.is_(None)


class PackageEnvironments:
    """The operations on environments.

    Every method raises `Forbidden` while the feature is off and for a caller without the permission.
    """

    def __init__(
        self, database: Database, bus: Bus, accounts: Accounts, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._bus = bus
        self._accounts = accounts
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> PackageEnvironmentList:
        """Return a page of the environments that the caller may read, newest first."""
        self._admit(by)
        query = ENVIRONMENTS.where(
            environments.c.account_id == by.account_id,
            _SHOWS_FROM,
            readable(by, Resource.ENVIRONMENT, environments.c.id),
        ).order_by(environments.c.id.desc())
        with self._database.connect() as connection:
            rows = connection.execute(query.offset(page.offset).limit(page.fetch)).mappings().all()
        shown, paging_info = page.cut(rows)
        records = [PackageEnvironment(**environment_fields(row)) for row in shown]
        return PackageEnvironmentList(environments=records, paging_info=paging_info)

    def get(self, environment_id: int, *, by: Caller) -> PackageEnvironment:
        """Return an environment. Raises `NotFound`."""
        with self._database.connect() as connection:
            return PackageEnvironment(**environment_fields(self._found(connection, environment_id, Action.READ, by)))

    def packages(self, environment_id: int, *, by: Caller) -> PackageList:
        """Return the packages of an environment, none before its first activity succeeds. Raises `NotFound`."""
        with self._database.connect() as connection:
            row = self._found(connection, environment_id, Action.READ, by)
            now = in_force(connection, row)
        language, rules = language_of(row["env_type"]), requirements_of(row["env_type"])
        if now is None:
            return PackageList(env_id=environment_id, packages={language: []})
        return PackageList(
            env_id=environment_id,
            packages={language: rules.pins_of(now["requested"], now["lock"])},
            installed=rules.pins(now["lock"]),
            package_id=now["id"],
        )

    def history(
        self, environment_id: int, env_type: EnvironmentType | None, page: Page, *, by: Caller
    ) -> ActivityHistory:
        """Return a page of an environment's activities, newest first. Raises `NotFound`."""
        with self._database.connect() as connection:
            self._found(connection, environment_id, Action.READ, by)
            query = ACTIVITIES.where(activities.c.environment_id == environment_id)
            if env_type is not None:
                query = query.where(environments.c.env_type == env_type.value)
            query = query.order_by(activities.c.id.desc()).offset(page.offset).limit(page.fetch)
            rows = connection.execute(query).mappings().all()
        shown, paging_info = page.cut(rows)
        return ActivityHistory(activity_history=[activity_record(row) for row in shown], paging_info=paging_info)

    def create(self, body: EnvironmentCreate, *, by: Caller) -> NewPackageEnvironment:
        """Store a new environment, which is built afterwards. Raises `Invalid` for a taken name or a wrong package."""
        self._admit(by)
        require(by, Action.CREATE, Resource.ENVIRONMENT)
        rules = requirements_of(body.env_type)
        requested = requested_then(rules, ActivityAction.CREATE, [], body.packages)
        version = _language_version(body)
        with self._database.begin() as connection:
            lock_account(connection, by.account_id)
            self._check_name(connection, by.account_id, body.name)
            values = {
                "account_id": by.account_id,
                "user_id": by.user_id,
                "name": body.name,
                "env_type": body.env_type.value,
                "language_version": version,
                "created_at": self._clock(),
            }
            made = sa.insert(environments).values(values).returning(environments.c.id)
            environment_id: int = connection.execute(made).scalar_one()
            trail.record(connection, by, "create", Resource.ENVIRONMENT, environment_id, name=body.name)
            activity_id = self._begin(
                connection, environment_id, ActivityAction.CREATE, by, packages=body.packages, requested=requested
            )
            row = connection.execute(ENVIRONMENTS.where(environments.c.id == environment_id)).mappings().one()
            activity = _activity(connection, activity_id)
        return NewPackageEnvironment(**environment_fields(row), activity=activity_record(activity))

    def change(
        self, environment_id: int, action: ActivityAction, packages: Sequence[str], *, by: Caller
    ) -> ActivityBegun:
        """Request to add or remove packages. Raises `NotFound`, and `Invalid` for what cannot be a package."""
        with self._database.begin() as connection:
            row = self._locked(connection, environment_id, by)
            rules = requirements_of(row["env_type"])
            requested = requested_then(rules, action, planned(connection, row), packages)
            detail = {"packages": list(packages)}
            return self._begun(connection, row, action, by, detail, packages=packages, requested=requested)

    def restore(self, environment_id: int, body: Restoration, *, by: Caller) -> ActivityBegun:
        """Request to restore the packages of a successful activity.

        Raises `NotFound`, and `Invalid` for another type, another environment's activity or one without success.
        """
        with self._database.begin() as connection:
            row = self._locked(connection, environment_id, by)
            if body.env_type != row["env_type"]:
                raise Invalid(f"env_type: environment {environment_id} is a {row['env_type']}")
            wanted = connection.execute(
                sa.select(activities).where(
                    activities.c.id == body.package_id, activities.c.environment_id == environment_id
                )
            )
            source = wanted.mappings().one_or_none()
            if source is None:
                raise Invalid(f"package_id: environment {environment_id} has no activity {body.package_id}")
            if source["status"] != ActivityStatus.SUCCESS:
                raise Invalid(
                    f"package_id: activity {body.package_id} is {source['status']}; only one with success can be "
                    "restored (its activity_history names them)"
                )
            return self._begun(
                connection,
                row,
                ActivityAction.RESTORE,
                by,
                {"package_id": body.package_id},
                packages=requirements_of(row["env_type"]).pins_of(source["requested"], source["lock"]),
                requested=source["requested"],
                restored_id=source["id"],
            )

    def attach(self, environment_id: int, cluster_id: int, *, by: Caller) -> ActivityBegun:
        """Request to attach an environment to a cluster.

        Raises `NotFound`, `Invalid` for a cluster that does not exist or cannot run such an environment, and
        `StateConflict` for one that has an environment.
        """
        with self._database.begin() as connection:
            row = self._locked(connection, environment_id, by)
            require(by, Action.UPDATE, Resource.CLUSTER, cluster_id)
            cluster = cluster_by_id(connection, cluster_id)
            if cluster is None or cluster.account_id != by.account_id:
                raise Invalid(f"cluster_id: there is no cluster {cluster_id}")
            if cluster.configuration.is_external:
                raise Invalid(f"cluster_id: cluster {cluster.name} is external: its packages are those it has there")
            if cluster.type is ClusterType.PRESTO:
                raise Invalid(f"cluster_id: cluster {cluster.name} runs Presto, which uses no packages")
            if cluster.type is ClusterType.SPARK and row["env_type"] == EnvironmentType.PYTHON:
                _check_runs_spark(row["language_version"])
            check_free(connection, cluster_id, row)
            detail = {"cluster_id": cluster_id}
            requested = planned(connection, row)
            return self._begun(
                connection, row, ActivityAction.ATTACH, by, detail, requested=requested, cluster_id=cluster_id
            )

    def detach(self, environment_id: int, *, by: Caller) -> ActivityBegun:
        """Request to detach an environment from its cluster. Raises `NotFound`, `StateConflict`."""
        with self._database.begin() as connection:
            row = self._locked(connection, environment_id, by)
            if row["cluster_id"] is None:
                raise StateConflict(f"environment {environment_id} is attached to no cluster")
            detail = {"cluster_id": row["cluster_id"]}
            requested = planned(connection, row)
            return self._begun(
                connection, row, ActivityAction.DETACH, by, detail, requested=requested, cluster_id=row["cluster_id"]
            )

    def delete(self, environment_id: int, *, by: Caller) -> None:
        """Delete an environment; runs that use it keep it. Raises `NotFound`, `StateConflict` while attached."""
        with self._database.begin() as connection:
            row = self._locked(connection, environment_id, by, Action.DELETE)
            if row["cluster_id"] is not None:
                raise StateConflict(
                    f"environment {environment_id} is attached to cluster {row['cluster_id']}; detach it first "
                    f"(POST package/{environment_id}/detach_cluster)"
                )
            deleted = sa.update(environments).where(environments.c.id == environment_id)
            connection.execute(deleted.values(deleted_at=self._clock()))
            policy_versions.forget(connection, SourceType.ENVIRONMENT, [environment_id])
            trail.record(connection, by, "delete", Resource.ENVIRONMENT, environment_id, name=row["name"])
            self._bus.publish(connection, CHANGED)

    def _admit(self, by: Caller) -> None:
        require_package_management(self._accounts.features(by.account_id))

    def _found(self, connection: sa.Connection, environment_id: int, action: Action, by: Caller) -> Mapping[Any, Any]:
        self._admit(by)
        query = ENVIRONMENTS.where(
            environments.c.id == environment_id, environments.c.account_id == by.account_id, _SHOWS_FROM
        )
        row = connection.execute(query).mappings().one_or_none()
        if row is None:
            require(by, action, Resource.ENVIRONMENT)
            raise _not_found(environment_id)
        require(by, action, Resource.ENVIRONMENT, environment_id)
        return row

    def _locked(
        self, connection: sa.Connection, environment_id: int, by: Caller, action: Action = Action.UPDATE
    ) -> Mapping[Any, Any]:
        """Return an environment that the caller wants to change, locked."""
        lock_account(connection, by.account_id)
        self._found(connection, environment_id, action, by)
        row = lock_environment(connection, environment_id)
        if row is None:
            raise _not_found(environment_id)
        return row

    def _begun(
        self,
        connection: sa.Connection,
        row: Mapping[Any, Any],
        action: ActivityAction,
        by: Caller,
        detail: Mapping[str, Any],
        **values: Any,
    ) -> ActivityBegun:
        activity_id = self._begin(connection, row["id"], action, by, **values)
        trail.record(connection, by, action.value, Resource.ENVIRONMENT, row["id"], activity=activity_id, **detail)
        return ActivityBegun(success=True, activity=activity_record(_activity(connection, activity_id)))

    def _begin(
        self, connection: sa.Connection, environment_id: int, action: ActivityAction, by: Caller, **values: Any
    ) -> int:
        now = self._clock()
        activity_id = activity_rows.insert(connection, environment_id, action, user_id=by.user_id, now=now, **values)
        self._bus.publish(connection, CHANGED)
        return activity_id

    def _check_name(self, connection: sa.Connection, account_id: int, name: str) -> None:
        query = sa.select(environments.c.id).where(
            environments.c.account_id == account_id, environments.c.name == name, _SHOWS_FROM
        )
        known = connection.execute(query).scalar()
        if known is not None:
            raise Invalid(f"name: environment {known} is called {name} already")


def check_free(connection: sa.Connection, cluster_id: int, environment: Mapping[Any, Any]) -> None:
    """Raise `StateConflict` when the cluster uses another environment of the same type."""
    query = sa.select(environments.c.id, environments.c.name).where(
        environments.c.cluster_id == cluster_id,
        environments.c.env_type == environment["env_type"],
        environments.c.id != environment["id"],
        _SHOWS_FROM,
    )
    other = connection.execute(query).first()
    if other is not None:
        raise StateConflict(f"cluster {cluster_id} uses environment {other.id} ({other.name}); detach that first")


def _activity(connection: sa.Connection, activity_id: int) -> Mapping[Any, Any]:
    return connection.execute(ACTIVITIES.where(activities.c.id == activity_id)).mappings().one()


def _language_version(body: EnvironmentCreate) -> str:
    """Return the version of Python or R for a new environment. Raises `Invalid` if R is not installed."""
    if body.env_type is EnvironmentType.R:
        return installed_version(body.r_version)
    return body.python_version or RUNNING_PYTHON


def _check_runs_spark(python_version: str) -> None:
    if python_version.split(".")[:2] != RUNNING_PYTHON.split("."):
        raise Invalid(
            f"cluster_id: Spark runs on Python {RUNNING_PYTHON} here, and the environment has {python_version}; "
            "make one with that Python"
        )


def _not_found(environment_id: int) -> NotFound:
    return NotFound(f"there is no environment {environment_id} in this account")
