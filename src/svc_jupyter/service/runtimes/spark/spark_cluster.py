"""Spark clusters: Hadoop with a session server on the coordinator, or the session server alone."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType, NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.bootstrap import Bootstrap
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, ClusterFailure, Sample, Say, quietly
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import Machine, Provider
from svc_jupyter.service.clusters.supervision import Daemons, Supervision
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.causes import explain
from svc_jupyter.service.runtimes.hadoop.configuration import check as check_hadoop
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine, HealthOf
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnRest
from svc_jupyter.service.runtimes.spark.program import IDLE_SETTING, forbidden, runs_on_yarn
from svc_jupyter.service.runtimes.spark.session_client import ServerSilent, SessionClient
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers

_BUSY_STATES = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")
_WHERE = "hadoop_settings.custom_config"
_LOCAL_ONLY = "provider: Spark clusters run on the service's own machine only; give the cluster the provider local"


class SparkEngine(ClusterEngine):
    """Runs Spark clusters; see `ClusterEngine`. A cluster is UP once its session server has run a query."""

    cluster_type = ClusterType.SPARK

    def __init__(
        self,
        providers: Mapping[str, Provider],
        on_yarn: HadoopEngine,
        alone: LocalClusters,
        servers: SessionServers,
        yarn: YarnRest,
        health: HealthOf,
    ) -> None:
        self._providers = providers
        self._on_yarn = on_yarn
        self._alone = alone
        self._servers = servers
        self._yarn = yarn
        self._health = health

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""
        check(configuration)

    async def start(self, instance: Instance, say: Say) -> None:
        """Start the daemons, then the session server."""
        if instance.provider != "local":
            raise ClusterFailure(_LOCAL_ONLY)
        if not _has_hadoop(instance):
            await self._alone.start(instance, say)
            return
        await self._on_yarn.start(instance, say)
        await self._servers.ensure(await self._on_yarn.instances.get(instance.id), say)

    async def supervise(self, instance: Instance) -> None:
        """Restart daemons that died, including the session server."""
        await (self._on_yarn if _has_hadoop(instance) else self._alone).supervise(instance)

    async def terminate(self, instance: Instance, say: Say) -> None:
        """End everything and release the machines."""
        self._alone.forget(instance)
        await self._on_yarn.terminate(instance, say)

    async def is_busy(self, instance: Instance) -> bool:
        """Return whether a program runs in a session or as its own application. True if the daemons do not answer."""
        try:
            address = self._servers.address(instance)
            async with SessionClient(address.host, address.port, address.secret) as client:
                vitals = await client.ping()
            if vitals["running"] or not _has_hadoop(instance):
                return bool(vitals["running"])
            resource_manager = Addresses.of(instance).resource_manager_http
            applications = await self._yarn.applications(resource_manager, _BUSY_STATES)
        except (ClusterFailure, ServerSilent, DaemonSilent):
            return True
        return any(each.id != vitals["application"] for each in applications)

    async def health(self, instance: Instance) -> Sample:
        """Return a live sample."""
        return await self._health.sample(instance)


def _has_hadoop(instance: Instance) -> bool:
    return runs_on_yarn(instance.configuration.custom_settings)


def check(configuration: ClusterConfiguration) -> None:
    """Raise `Invalid` for settings that would break the cluster's own wiring, and for those of other engines."""
    if configuration.provider == "hosts":
        raise Invalid(_LOCAL_ONLY)
    custom = configuration.custom_settings
    master = custom.get("spark.master", "yarn")
    if master != "yarn" and not (master == "local" or (master.startswith("local[") and master.endswith("]"))):
        raise Invalid(f"{_WHERE}: spark.master={master[:40]} is not there: it is yarn, local or local[…]")
    try:
        is_time = 0 < float(custom.get(IDLE_SETTING, "1")) < math.inf
    except ValueError:
        is_time = False
    if not is_time:
        raise Invalid(f"{_WHERE}: {IDLE_SETTING} is a number of minutes above 0")
    if configuration.hive_settings.is_hs2_enabled:
        raise Invalid("hive_settings.is_hs2_enabled: HiveServer2 is a part of Hadoop clusters, not of Spark clusters")
    check_hadoop(configuration, forbidden)


class LocalClusters(Daemons):
    """Spark clusters without Hadoop (`spark.master=local[…]`): one node, whose only daemon is the session server."""

    def __init__(
        self,
        instances: Instances,
        providers: Mapping[str, Provider],
        servers: SessionServers,
        bootstrap: Bootstrap,
    ) -> None:
        self._instances = instances
        self._providers = providers
        self._servers = servers
        self._bootstrap = bootstrap
        self._supervision = Supervision(instances, self)

    async def start(self, instance: Instance, say: Say) -> None:
        """Make the node and start the session server there; return once it answers."""
        if instance.master is None:
            say("making the coordinator")
            made = await self._providers[instance.provider].make(instance, NodeRole.MASTER, 1)
            await self._instances.add_nodes(instance.id, made)
            instance = await self._instances.get(instance.id)
        node = instance.master
        assert node is not None
        await self._bootstrap(instance, self._providers[instance.provider].machine(instance, node), node, say)
        await self._servers.ensure(instance, say)
        now = time.time()
        await self._instances.change_node(node.id, status=NodeStatus.RUNNING.value, up_at=now, last_seen_at=now)

    async def supervise(self, instance: Instance) -> None:
        """Restart the server when it has died, with growing delays when it dies again."""
        await self._supervision.look(instance)

    def forget(self, instance: Instance) -> None:
        """Drop the state of a cluster that ends."""
        self._supervision.forget(instance)

    def machine(self, instance: Instance, node: Node) -> Machine:
        """See `Daemons.machine`."""
        return self._providers[instance.provider].machine(instance, node)

    def daemons_of(self, node: Node) -> Collection[str]:  # noqa: ARG002
        """Return the only daemon, the session server."""
        return (self._servers.name,)

    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:
        """See `Daemons.cause`."""
        return explain(daemon, node.private_dns, output, exit_code)

    async def registered(self, instance: Instance) -> Collection[str] | None:  # noqa: ARG002
        """Return nothing: there are no workers."""
        return ()

    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:  # noqa: ARG002
        """See `Daemons.restart`."""
        await self._servers.restart(instance, node, quietly)
