"""The parts of a running service for clusters: providers, engines, and their users."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.service.application.engines import engines_of
from svc_jupyter.service.clusters.bootstrap import Bootstrap
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.clusters.instances import Instances
from svc_jupyter.service.clusters.life_cycle import LifeCycle
from svc_jupyter.service.clusters.providers.external import ExternalProvider
from svc_jupyter.service.clusters.providers.hosts import HostsProvider
from svc_jupyter.service.clusters.providers.local import LocalProvider
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.commands.ends import AtEnd
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine
from svc_jupyter.service.runtimes.hadoop.health import HadoopHealth
from svc_jupyter.service.runtimes.hadoop.nodes import HadoopNodes
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnRest
from svc_jupyter.service.runtimes.hive_server.external import ExternalHiveServers
from svc_jupyter.service.runtimes.hive_server.server import HiveServerProbe, HiveServers
from svc_jupyter.service.runtimes.presto.external import ExternalPresto
from svc_jupyter.service.runtimes.presto.presto_cluster import PrestoEngine
from svc_jupyter.service.runtimes.s3.account_store import AccountStore
from svc_jupyter.service.runtimes.spark.connect.external import ConnectWorkers, ExternalSparkConnect
from svc_jupyter.service.runtimes.spark.health import SparkHealth
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers
from svc_jupyter.service.runtimes.spark.spark_cluster import LocalClusters, SparkEngine
from svc_jupyter.service.storage.storage import Storage

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClusterParts:
    """What the kinds of commands, the routes and the driver need for clusters."""

    engines: Engines
    daemon_http: DaemonHttp
    hive: Hive
    instances: Instances
    hosts: HostsProvider
    providers: Mapping[str, Provider]
    cluster_engines: Mapping[ClusterType, ClusterEngine]
    hadoop: HadoopEngine
    presto: PrestoEngine
    hive_servers: HiveServers
    external_hive_servers: ExternalHiveServers
    connect_workers: ConnectWorkers
    spark_connect: ExternalSparkConnect
    session_servers: SessionServers
    life_cycle: LifeCycle
    gate: ClusterGate
    clusters: Clusters
    health: Health

    @classmethod
    def of(
        cls,
        settings: Settings,
        database: Database,
        bus: Bus,
        secrets: SecretBox,
        storage: Storage,
        db_taps: DbTaps,
        at_end: Sequence[AtEnd],
    ) -> ClusterParts:
        """Return the parts; nothing runs yet. `at_end` are the hooks for commands that end with their cluster."""
        engines = engines_of(settings)
        daemon_http = DaemonHttp()
        store = AccountStore(storage, database, engines)
        hive = Hive.of(settings, engines, os.environ, store)
        instances = Instances(settings, database)
        hosts = HostsProvider(settings, database)
        local = LocalProvider(settings, lambda: _java(engines))
        external = ExternalProvider()
        providers: Mapping[str, Provider] = {local.name: local, hosts.name: hosts, external.name: external}
        hive_servers = HiveServers(engines, providers, hive.metastore, store)
        hadoop = HadoopEngine(
            instances,
            providers,
            HadoopNodes(engines, providers, Bootstrap(settings, storage)),
            YarnRest(daemon_http),
            HadoopHealth(
                providers,
                daemon_http,
                metastore=hive.probe,
                hive_server=HiveServerProbe(providers, daemon_http),
            ),
            hive_servers,
        )
        presto = PrestoEngine(
            instances,
            providers,
            engines,
            Bootstrap(settings, storage),
            hive.metastore,
            hive.probe,
            db_taps,
            ExternalPresto(instances, secrets),
        )
        attached = AttachedEnvironments(settings, database, script_environment(os.environ))
        session_servers = SessionServers(engines, providers, hive.metastore, attached, store)
        spark = SparkEngine(
            providers,
            HadoopEngine(
                instances,
                providers,
                HadoopNodes(engines, providers, Bootstrap(settings, storage)),
                YarnRest(daemon_http),
                HadoopHealth(providers, daemon_http, metastore=hive.probe),
                further=[session_servers],
            ),
            LocalClusters(instances, providers, session_servers, Bootstrap(settings, storage)),
            session_servers,
            YarnRest(daemon_http),
            SparkHealth(
                providers,
                session_servers,
                HadoopHealth(providers, daemon_http, metastore=hive.probe),
                hive.probe,
            ),
        )
        external_hive_servers = ExternalHiveServers(instances, secrets)
        connect_workers = ConnectWorkers(engines, script_environment(os.environ))
        spark_connect = ExternalSparkConnect(instances, secrets, connect_workers)
        cluster_engines: Mapping[ClusterType, ClusterEngine] = {
            ClusterType.HADOOP: hadoop,
            ClusterType.SPARK: spark,
            ClusterType.PRESTO: presto,
            ClusterType.HIVE: external_hive_servers,
            ClusterType.SPARK_CONNECT: spark_connect,
        }
        life_cycle = LifeCycle(settings, bus, cluster_engines, at_end)
        gate = ClusterGate(database, bus, life_cycle)
        clusters = Clusters(database, secrets, instances, life_cycle, gate)
        return cls(
            engines=engines,
            daemon_http=daemon_http,
            hive=hive,
            instances=instances,
            hosts=hosts,
            providers=providers,
            cluster_engines=cluster_engines,
            hadoop=hadoop,
            presto=presto,
            hive_servers=hive_servers,
            external_hive_servers=external_hive_servers,
            connect_workers=connect_workers,
            spark_connect=spark_connect,
            session_servers=session_servers,
            life_cycle=life_cycle,
            gate=gate,
            clusters=clusters,
            health=Health(clusters, instances, cluster_engines),
        )


async def _java(engines: Engines) -> Path:
    """Return the Java for daemons on this machine; installs it where there is none."""
    return (await engines.java(lambda line: log.info("java", step=line))).java
