"""Finds the environment that is attached to a cluster, for what runs there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.service.clusters.cluster_rows import find_labelled
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.packages.python_packages import python_of
from svc_jupyter.service.packages.r_packages import library_of
from svc_jupyter.service.packages.versions import folder_of, use
from svc_jupyter.service.schema.packages import environments

_R_LIBS = "R_LIBS"


@dataclass(frozen=True, slots=True)
class AttachedEnvironment:
    """The version of an environment that a run starts with, and keeps until it ends."""

    name: str
    package_id: int
    folder: Path
    variables: Mapping[str, str]
    """The variables by which R finds its packages; none for Python."""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return python_of(self.folder)


class AttachedEnvironments:
    """Finds the environments of clusters' runs."""

    def __init__(self, settings: Settings, database: Database, inherited: Mapping[str, str]) -> None:
        """`inherited` is the environment of users' programs."""
        self._inherited = inherited
        self._data_dir = settings.data_dir
        self._database = database

    async def of_cluster(
        self,
        cluster_id: int,
        env_type: EnvironmentType = EnvironmentType.PYTHON,
        *,
        command_id: int | None = None,
        instance_id: int | None = None,
    ) -> AttachedEnvironment | None:
        """Return a cluster's environment of a type, None where there is none.

        It stays on disk until the command, or the instance of the cluster, that starts with it has ended.
        """
        if await self._database.look_up(partial(_environment_of, cluster_id=cluster_id, env_type=env_type)) is None:
            return None
        begin = partial(self._begin, cluster_id, env_type, command_id, instance_id)
        return await self._database.write(begin, durable=False)

    async def of_label(
        self, account_id: int, label: str | None, env_type: EnvironmentType = EnvironmentType.PYTHON, *, command_id: int
    ) -> AttachedEnvironment | None:
        """As `of_cluster`, for a command that names its cluster by a label, or has none and runs on the default one."""
        wanted = label or DEFAULT_LABEL
        cluster = await self._database.look_up(partial(find_labelled, account_id=account_id, label=wanted))
        return None if cluster is None else await self.of_cluster(cluster.id, env_type, command_id=command_id)

    def _begin(
        self,
        cluster_id: int,
        env_type: EnvironmentType,
        command_id: int | None,
        instance_id: int | None,
        connection: sa.Connection,
    ) -> AttachedEnvironment | None:
        found = _environment_of(connection, cluster_id, env_type)
        if found is None:
            return None
        version = use(connection, found["id"], command_id=command_id, instance_id=instance_id)
        if version is None:
            return None
        folder = folder_of(self._data_dir, found["id"], version["folder"])
        variables = self._r_variables(folder) if env_type is EnvironmentType.R else {}
        return AttachedEnvironment(found["name"], version["id"], folder, variables)

    def _r_variables(self, folder: Path) -> Mapping[str, str]:
        """Return R's library path: the environment's library first, then what the service's own variable names."""
        libraries = [str(library_of(folder)), self._inherited.get(_R_LIBS)]
        return {_R_LIBS: os.pathsep.join(filter(None, libraries))}


def _environment_of(connection: sa.Connection, cluster_id: int, env_type: EnvironmentType) -> Mapping[Any, Any] | None:
    query = sa.select(environments.c.id, environments.c.name).where(
        environments.c.cluster_id == cluster_id,
        environments.c.env_type == env_type.value,
        environments.c.deleted_at.is_(None),
    )
    return connection.execute(query).mappings().first()
