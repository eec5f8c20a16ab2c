"""The rooms of package environments in this process, over each database, with the real installer."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from glob import glob
from typing import Any

import pytest
import sqlalchemy as sa
from tests.support.until import until

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.account import FeaturesUpdate
from svc_jupyter.api.package_environments import (
    ActivityAction,
    EnvironmentCreate,
    EnvironmentType,
    PackageActivity,
    Restoration,
)
from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.packages.builder import Builder
from svc_jupyter.service.packages.environments import PackageEnvironments
from svc_jupyter.service.packages.installer import Installer
from svc_jupyter.service.packages.python_packages import PythonPackages
from svc_jupyter.service.packages.r_packages import RPackages
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.schema.clusters import cluster_instances, clusters
from svc_jupyter.service.schema.commands import commands

PAGE = Page(1, 100)


@dataclass
class World:
    """What a service has of environments."""

    settings: Settings
    database: Database
    environments: PackageEnvironments
    attached: AttachedEnvironments
    builder: Builder
    replica: Replica
    admin: Caller
    bus: Bus

    def create(self, name: str = "analysis", **fields: Any) -> int:
        return self.environments.create(EnvironmentCreate(name=name, **fields), by=self.admin).id

    def add(self, environment_id: int, *packages: str) -> int:
        return self.environments.change(environment_id, ActivityAction.ADD, packages, by=self.admin).activity.id

    def remove(self, environment_id: int, *packages: str) -> int:
        return self.environments.change(environment_id, ActivityAction.REMOVE, packages, by=self.admin).activity.id

    def restore(self, environment_id: int, package_id: int, **fields: Any) -> int:
        body = Restoration(package_id=package_id, **fields)
        return self.environments.restore(environment_id, body, by=self.admin).activity.id

    def history(self, environment_id: int) -> list[PackageActivity]:
        """What was done, oldest first."""
        return self.environments.history(environment_id, None, PAGE, by=self.admin).activity_history[::-1]

    def packages(self, environment_id: int) -> list[str]:
        (packages,) = self.environments.packages(environment_id, by=self.admin).packages.values()
        return packages

    async def ended(self, environment_id: int) -> PackageActivity:
        """Return the newest activity once none is open."""
        await until(lambda: all(row.status in ("success", "failed") for row in self.history(environment_id)), 100)
        return self.history(environment_id)[-1]

    def folders(self) -> set[str]:
        return {os.path.basename(path) for path in glob(f"{self.settings.data_dir}/environments/*/*")}

    def command(self) -> int:
        """A command that runs."""
        values = {"account_id": self.admin.account_id, "user_id": self.admin.user_id, "status": "running"}
        values |= {"command_type": "JupyterNotebookCommand", "command_source": "API", "command": {}, "created_at": 1.0}
        return self._insert(commands, {**values, "folder_key": "0a1b", "can_notify": False})

    def command_ends(self, command_id: int) -> None:
        with self.database.begin() as connection:
            connection.execute(sa.update(commands).where(commands.c.id == command_id).values(status="done"))

    def instance_ends(self, instance_id: int) -> None:
        with self.database.begin() as connection:
            ended = sa.update(cluster_instances).where(cluster_instances.c.id == instance_id)
            connection.execute(ended.values(state="DOWN"))

    def scalar(self, query: sa.Select[Any]) -> Any:
        with self.database.connect() as connection:
            return connection.execute(query).scalar()

    def instance(self, cluster_id: int) -> int:
        """An instance of a cluster that is UP."""
        values = {"cluster_id": cluster_id, "state": "UP", "configuration": {}, "provider": "local"}
        return self._insert(cluster_instances, {**values, "start_at": 1.0, "last_used_at": 1.0})

    def cluster(self, **settings: Any) -> int:
        values = {"account_id": self.admin.account_id, "user_id": self.admin.user_id, "created_at": 1.0}
        return self._insert(clusters, {**values, "configuration": settings})

    def _insert(self, table: sa.Table, values: dict[str, Any]) -> int:
        with self.database.begin() as connection:
            return int(connection.execute(sa.insert(table).values(values).returning(table.c.id)).scalar_one())


NewWorld = Callable[..., World]


@pytest.fixture
async def new_world(settings: Settings, database: Database, account_id: int) -> AsyncIterator[NewWorld]:
    """Makes services over one database; their builders are stopped afterwards."""
    admin = Caller(1, account_id, "admin@localhost", frozenset({BuiltinGroup.ADMIN}), 1)
    accounts = Accounts(database, settings)
    accounts.set_features(FeaturesUpdate(package_management=True), by=admin)
    worlds: list[World] = []

    def new_world(python: PythonPackages | None = None, r: RPackages | None = None) -> World:
        bus = Bus(database)
        replica = Replica(f"{len(worlds) + 1:032}", "here", Identity(os.getpid()))
        installers: dict[EnvironmentType, Installer] = {
            EnvironmentType.PYTHON: python or PythonPackages(script_environment(os.environ)),
            EnvironmentType.R: r or RPackages(script_environment(os.environ), settings.data_dir / "r-cache"),
        }
        made = Builder(settings, database, bus, installers, lambda: replica)
        environments = PackageEnvironments(database, bus, accounts)
        attached = AttachedEnvironments(settings, database, {})
        world = World(settings, database, environments, attached, made, replica, admin, bus)
        worlds.append(world)
        return world

    yield new_world
    for world in worlds:
        await world.builder.stop()
        await world.bus.stop()


@pytest.fixture
def idle(new_world: NewWorld) -> World:
    """A service whose builder does nothing yet."""
    return new_world()


@pytest.fixture
async def world(new_world: NewWorld) -> World:
    """A service that builds."""
    return await started(new_world())


async def started(world: World) -> World:
    await world.bus.start()
    register = partial(queue.register, replica=world.replica, lease_until=2e9)
    await world.database.write(register)
    await world.builder.start()
    return world
