"""A service in this process, as far as clusters and the commands that need them go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from tests.service.clusters.small_engine import SmallEngine
from tests.service.commands.scripted import Scripted

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.driver import Driver
from svc_jupyter.service.clusters.first_clusters import DEFAULT, ensure_clusters
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.life_cycle import Changes, LifeCycle
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.clusters.reconciler import Tools
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.composite.kind import CompositeKind
from svc_jupyter.service.schema.access import users


class OnCluster(Scripted):
    """A command type whose scripts need a cluster, unless they say that they do not."""

    command_type = CommandType.HADOOP
    cluster_types = frozenset({ClusterType.HADOOP})

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        return {"inline": body["inline"]}

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:
        return "local" not in str(command["inline"])


class OnSpark(OnCluster):
    """A command type for Spark clusters alone."""

    command_type = CommandType.SPARK
    cluster_types = frozenset({ClusterType.SPARK})


@dataclass
class World:
    settings: Settings
    database: Database
    bus: Bus
    instances: Instances
    provider: LocalProvider
    engine: SmallEngine
    life_cycle: LifeCycle
    clusters: Clusters
    kinds: dict[str, Any]
    runner: Runner
    intake: Intake
    commands: Commands
    driver: Driver
    by: Caller
    ended: list[int]

    @classmethod
    def of(cls, settings: Settings, database: Database, account_id: int) -> World:
        """Return a world with the default cluster; nothing runs yet."""
        bus = Bus(database)
        ended: list[int] = []
        at_end = [lambda _connection, row: ended.append(row.id)]
        instances = Instances(settings, database)
        provider = LocalProvider(settings, _no_java)
        providers: dict[str, Provider] = {"local": provider}
        engine = SmallEngine(instances, providers)
        engines = {ClusterType.HADOOP: engine}
        life_cycle = LifeCycle(settings, bus, engines, at_end)
        gate = ClusterGate(database, bus, life_cycle)
        secrets = SecretBox(settings.data_dir / "secret.key")
        clusters = Clusters(database, secrets, instances, life_cycle, gate)
        script = lambda task: str(task.command["inline"])  # noqa: E731
        kinds: dict[str, Any] = {
            "HadoopCommand": OnCluster(script),
            "SparkCommand": OnSpark(script),
            "ShellCommand": Plain(script),
        }
        kinds["CompositeCommand"] = CompositeKind(dict(kinds), gate)
        runner = Runner(settings, database, bus, kinds, gate=gate, at_end=at_end)
        intake = Intake(database, bus, kinds, gate)
        commands = Commands(settings, database, bus, kinds, runner, gate)
        tools = Tools(
            settings, database, instances, life_cycle, engines, providers, Changes(bus), lambda: runner.replica
        )
        with database.begin() as connection:
            ensure_clusters(connection, account_id, [DEFAULT])
            row = connection.execute(sa.select(users.c.id, users.c.email)).one()
        by = Caller(row.id, account_id, row.email, frozenset({BuiltinGroup.ADMIN}), token_id=1)
        return cls(
            settings, database, bus, instances, provider, engine, life_cycle, clusters, kinds, runner, intake,
            commands, Driver(tools), by, ended,
        )  # fmt: skip

    async def start(self) -> None:
        await self.bus.start()
        await self.runner.start()
        await self.driver.start()

    async def stop(self) -> None:
        """Stop as a service does: what runs goes on."""
        await self.driver.stop()
        await self.runner.stop()
        await self.bus.stop()

    async def state(self, cluster: str = "default") -> dict[str, Any]:
        return await self.clusters.state(cluster, by=self.by)

    async def reaches(self, state: ClusterState, cluster: str = "default") -> Instance:
        """Wait until the cluster is in a state; return its instance."""
        await self.until_state(lambda record: record["state"] == state, cluster)
        found = await self.clusters.resolve(1, cluster)
        assert found.instance_id is not None
        return await self.instances.get(found.instance_id)

    async def submit(self, script: str, kind: str = "HadoopCommand", **fields: Any) -> dict[str, Any]:
        return await self.intake.submit({"command_type": kind, "inline": script, **fields}, self.by)

    async def record(self, command_id: int) -> dict[str, Any]:
        return await self.commands.get(command_id, self.by)

    async def log_of(self, command_id: int) -> Path:
        """Return the file of a command's log, which may not be there yet."""
        return self.commands.root(await self.commands.row(command_id, self.by)) / "log"

    async def end_of(self, command_id: int) -> dict[str, Any]:
        return await self.commands.record_at_end(command_id, self.by, 20)

    async def says(self, command_id: int, text: str) -> None:
        """Wait until the record's message has a text."""

        async def look() -> bool:
            return text in ((await self.record(command_id))["message"] or "")

        await until_true(look)

    async def until_state(self, condition: Callable[[dict[str, Any]], bool], cluster: str = "default") -> None:
        """Wait until a condition holds of the cluster's state record."""

        async def look() -> bool:
            return condition(await self.state(cluster))

        await until_true(look)


async def until_true(look: Callable[[], Awaitable[bool]], seconds: float = 20.0) -> None:
    """Return once a look says so."""
    async with asyncio.timeout(seconds):
        while not await look():  # noqa: ASYNC110  what is waited for happens in other processes
            await asyncio.sleep(0.02)


class Plain(Scripted):
    """A command type that needs no cluster."""

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        return {"inline": body["inline"]}


async def _no_java() -> Path:
    raise NotImplementedError


NewWorld = Callable[..., Any]
