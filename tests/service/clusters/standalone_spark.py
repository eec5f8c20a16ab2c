"""A small engine: Spark's own cluster manager, a master and workers, to show what an engine takes.

See https://spark.apache.org/docs/latest/spark-standalone.html. What every engine shares is in `DaemonEngine`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import httpx

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType, NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import Sample, Say
from svc_jupyter.service.clusters.daemon_engine import POLL_SECONDS, DaemonEngine
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Daemon, Provider
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines

NAMES = {NodeRole.MASTER: "master", NodeRole.WORKER: "worker"}
OPENED = ("lang", "net", "nio", "util", "util.concurrent")


class StandaloneSpark(DaemonEngine):
    """Runs clusters of Spark's own cluster manager."""

    cluster_type = ClusterType.SPARK
    worker_daemon = "worker"
    registry = "the master"

    def __init__(self, instances: Instances, providers: Mapping[str, Provider], engines: Engines) -> None:
        super().__init__(instances, providers)
        self._engines = engines
        self._http = httpx.AsyncClient(trust_env=False, timeout=2)

    def check(self, configuration: ClusterConfiguration) -> None:
        if "spark.master" in configuration.custom_settings:
            raise Invalid("custom_config: spark.master is the cluster's own")

    async def install(self, say: Say) -> Installed:
        return await self._engines.ensure(Engine.SPARK, say)

    async def bring_up(self, instance: Instance, node: Node, say: Say) -> None:
        machine = self.machine(instance, node)
        jars = await machine.engine(Engine.SPARK, (await self.install(say)).jars)
        kind = "Master" if node.role is NodeRole.MASTER else "Worker"
        argv = [str(await machine.java()), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        argv += [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
        argv += ["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-Dspark.decommission.enabled=true"]
        argv += ["-Dspark.master.rest.enabled=false", "-cp", ":".join(map(str, jars))]
        argv += [f"org.apache.spark.deploy.{kind.lower()}.{kind}", "--host", node.private_ip]
        if node.role is NodeRole.MASTER:
            argv += ["--port", "7077", "--webui-port", "8080"]
        else:
            assert instance.master is not None
            argv += ["--port", "7078", "--webui-port", "8081", "--cores", "1", "--memory", "512m"]
            argv += ["--work-dir", str(machine.folder / "work"), f"spark://{instance.master.private_ip}:7077"]
        await machine.start(Daemon(NAMES[node.role], argv, {"SPARK_LOCAL_IP": node.private_ip}))

    async def stop_worker(self, instance: Instance, node: Node) -> None:
        await self.machine(instance, node).stop("worker", grace_seconds=2)

    async def until_ready(self, instance: Instance, say: Say) -> None:
        for node in instance.workers:
            await self.until_registered(instance, node)
        say("all workers are registered")

    async def registered(self, instance: Instance) -> Collection[str] | None:
        workers = await self._workers(instance)
        return None if workers is None else {host for host, worker in workers.items() if worker["state"] == "ALIVE"}

    def daemons_of(self, node: Node) -> Collection[str]:
        return [NAMES[node.role]]

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:
        lines = output.strip().splitlines() or ["it wrote nothing"]
        return f"{daemon} on {node.private_dns} ended ({exit_code}): {lines[-1]}"

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:
        await self.bring_up(instance, node, lambda _line: None)

    async def loads(self, instance: Instance, nodes: Sequence[Node]) -> Sequence[int | None]:
        workers = await self._workers(instance) or {}
        return [workers[node.private_ip]["coresused"] if node.private_ip in workers else None for node in nodes]

    async def is_busy(self, instance: Instance) -> bool:
        return (await self._json(instance) or {"activeapps": ["nobody knows"]})["activeapps"] != []

    async def drain(self, instance: Instance, node: Node, say: Say) -> None:
        await self.instances.change_node(node.id, status=NodeStatus.DECOMMISSIONING.value)
        while (worker := (await self._workers(instance) or {}).get(node.private_ip)) is not None:
            if worker["state"] == "ALIVE":
                await self._http.post(f"{_master(instance)}/workers/kill/", params={"host": node.private_ip})
            elif worker["coresused"] == 0:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def health(self, instance: Instance) -> Sample:
        return Sample({"spark": await self._json(instance)}, {})

    async def close(self) -> None:
        await self._http.aclose()

    async def _workers(self, instance: Instance) -> Mapping[str, Any] | None:
        """Return the workers that the master has, by address; those that are DEAD it remembers for a while."""
        told = await self._json(instance)
        return None if told is None else {each["host"]: each for each in told["workers"] if each["state"] != "DEAD"}

    async def _json(self, instance: Instance) -> dict[str, Any] | None:
        try:
            return dict((await self._http.get(f"{_master(instance)}/json/")).json())
        except (httpx.TransportError, ValueError):
            return None


def _master(instance: Instance) -> str:
    assert instance.master is not None
    return f"http://{instance.master.private_ip}:8080"
