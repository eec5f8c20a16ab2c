"""The contents of a node's configuration files: the cluster's wiring, its tuning, and the user's settings.

*Wiring* connects the daemons to each other and their files; a cluster's `custom_config` must not change it. It may
change *tuning*.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.providers.provider import MARKS
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.hadoop import fair_scheduler
from svc_jupyter.service.runtimes.hadoop.addresses import EXCLUDE_FILE, Addresses, Port
from svc_jupyter.service.runtimes.hadoop.own_address import OPTIONS
from svc_jupyter.service.runtimes.hadoop.site_files import parse_pools, site_file
from svc_jupyter.service.runtimes.hadoop.spark_driver import OPTIONS as JAVA_OPTIONS

Settings = dict[str, str]

CORE, HDFS, YARN, MAPRED = "core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml"
SITES: Final = (CORE, HDFS, YARN, MAPRED)
USUAL_MEMORY_MB: Final = 2048
USUAL_CORES: Final = 2
"""A node's cores for containers when its provider does not report them."""
_SMALLEST_MB: Final = 128
"""The memory of the smallest container, and the step from one size to the next."""
POOLS_FILE: Final = PurePosixPath("conf/fair-scheduler.xml")
_OTHER_ENGINES: Final = ("pig.", "hive.", "spark.", "presto.")
"""Prefixes of settings in a cluster's configuration that belong to other engines."""
_PREFIXES: Final = {"dfs.": HDFS, "yarn.app.mapreduce.": MAPRED, "yarn.": YARN, "mapreduce.": MAPRED, "mapred.": MAPRED}
_TASK_JAVA: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Djava.net.preferIPv4Stack=true"
_STORE: Final = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
_LIBRARIES: Final = "$HADOOP_COMMON_HOME/*,$HADOOP_YARN_HOME/*"
"""The jars, by variables that every NodeManager passes on: their paths may differ between hosts."""


_HANDED_ON: Final = (
    *("JAVA_HOME", "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_CONF_DIR", "CLASSPATH_PREPEND_DISTCACHE"),
    *("HADOOP_YARN_HOME", "HADOOP_HOME", "PATH", "LANG", "TZ"),
)
"""Variables that containers inherit from their NodeManager, as by default in YARN; the marks find them at the end."""


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """A node as its files need it: its address, its folder, and its resources for containers."""

    address: str
    folder: PurePosixPath
    memory_mb: int = USUAL_MEMORY_MB
    cores: int = USUAL_CORES
    keeps_containers: bool = True
    """Whether its NodeManager recovers its containers after a restart, which needs a native library for x86."""
    task_options: str = ""
    """Further Java options for the masters and tasks of jobs."""

    @property
    def conf(self) -> PurePosixPath:
        """The folder of the configuration files."""
        return self.folder / "conf"


def of_hadoop(custom: Mapping[str, str]) -> Settings:
    """Return Hadoop's settings, without those for other engines."""
    return {key: value for key, value in custom.items() if not key.startswith(_OTHER_ENGINES)}


def file_of(key: str) -> str:
    """Return the file that a setting belongs to."""
    return next((file for prefix, file in _PREFIXES.items() if key.startswith(prefix)), CORE)


def forbidden(custom: Mapping[str, str]) -> Sequence[str]:
    """Return the settings that would break the cluster's own wiring."""
    place = NodeLayout("0.0.0.0", PurePosixPath("/"))  # noqa: S104  never used: only the names count
    wired = {key for settings in wiring(Addresses(place.address), place).values() for key in settings}
    return [
        key
        for key in of_hadoop(custom)
        if key in wired or (key.startswith(("dfs.", "yarn.", "mapreduce.jobhistory.")) and _is_address(key))
    ]


def _is_address(key: str) -> bool:
    return key.endswith((".bind-host", ".hostname", "-address", ".address", ".port"))


def node_sites(addresses: Addresses, place: NodeLayout, configuration: ClusterConfiguration) -> dict[str, bytes]:
    """Return the four site files of a node, by their names."""
    merged = wiring(addresses, place)
    for file, settings in tuning(place).items():
        merged[file] = settings | merged[file]
    if configuration.cluster_type is ClusterType.SPARK:
        # Only memory limits the number of containers: Spark keeps some that mostly wait, and on a machine with two
        # processors those of the session server would leave none for their own tasks or for another program.
        merged[YARN]["yarn.nodemanager.resource.cpu-vcores"] = str(place.memory_mb // _SMALLEST_MB)
    for key, value in of_hadoop(configuration.custom_settings).items():
        merged[file_of(key)][key] = value
    return {file: site_file(settings) for file, settings in merged.items()}


def client_sites(
    addresses: Addresses, folder: PurePosixPath, custom: Mapping[str, str], task_options: str = ""
) -> dict[str, bytes]:
    """Return the site files for the service's programs that use the cluster; `folder` is theirs."""
    place = NodeLayout("127.0.0.1", folder)
    merged: dict[str, Settings] = {
        CORE: _core(addresses, place),
        HDFS: {**_hdfs_clients(), **_hdfs_of_name_node(addresses)},
        YARN: {**_yarn_clients(addresses), "yarn.application.classpath": f"$HADOOP_CONF_DIR,{_LIBRARIES}"},
        MAPRED: {**_mapred_wiring(addresses), **_mapred_tuning(task_options)},
    }
    for key, value in of_hadoop(custom).items():
        merged[file_of(key)][key] = value
    return {file: site_file(settings) for file, settings in merged.items()}


def wiring(addresses: Addresses, place: NodeLayout) -> dict[str, Settings]:
    """Return the settings that make a node part of the cluster, by file."""
    return {
        CORE: _core(addresses, place),
        HDFS: {**_hdfs_of_name_node(addresses), **_hdfs_of_node(place)},
        YARN: {**_yarn_clients(addresses), **_yarn_of_coordinator(place), **_yarn_of_worker(place)},
        MAPRED: {**_mapred_wiring(addresses), "mapreduce.shuffle.port": str(Port.SHUFFLE)},
    }


def tuning(place: NodeLayout) -> dict[str, Settings]:
    """Return the settings that a user may change, by file."""
    return {
        CORE: _core_tuning(),
        HDFS: _hdfs_clients(),
        YARN: _yarn_tuning(place),
        MAPRED: _mapred_tuning(place.task_options),
    }


def _core(addresses: Addresses, place: NodeLayout) -> Settings:
    return {"fs.defaultFS": addresses.file_system, "hadoop.tmp.dir": str(place.folder / "tmp" / "hadoop")}


def _core_tuning() -> Settings:
    return {"ipc.client.connect.retry.interval": "200"}


def _hdfs_of_name_node(addresses: Addresses) -> Settings:
    return {
        "dfs.namenode.rpc-address": f"{addresses.master}:{Port.NAME_NODE}",
        "dfs.namenode.http-address": f"{addresses.master}:{Port.NAME_NODE_HTTP}",
        # The NameNode identifies a DataNode by its source address: on loopback 127.0.0.1, where nothing listens.
        "dfs.client.use.datanode.hostname": "true",
        "dfs.datanode.use.datanode.hostname": "true",
    }


def _hdfs_of_node(place: NodeLayout) -> Settings:
    return {
        "dfs.namenode.name.dir": f"file://{place.folder}/data/name",
        "dfs.datanode.data.dir": f"file://{place.folder}/data/blocks",
        "dfs.datanode.hostname": place.address,
        "dfs.datanode.address": f"{place.address}:{Port.DATA_NODE}",
        "dfs.datanode.ipc.address": f"{place.address}:{Port.DATA_NODE_IPC}",
        "dfs.datanode.http.address": f"{place.address}:{Port.DATA_NODE_HTTP}",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }


def _hdfs_clients() -> Settings:
    return {
        "dfs.replication": "1",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.handler.count": "4",
        "dfs.datanode.handler.count": "3",
        "dfs.heartbeat.interval": "1",
        # A first block is confirmed within milliseconds here; the default waits 400 ms before it retries.
        "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "20",
    }


def _yarn_clients(addresses: Addresses) -> Settings:
    return {
        "yarn.resourcemanager.hostname": addresses.master,
        "yarn.resourcemanager.address": addresses.resource_manager,
        "yarn.resourcemanager.scheduler.address": f"{addresses.master}:{Port.SCHEDULER}",
        "yarn.resourcemanager.resource-tracker.address": f"{addresses.master}:{Port.RESOURCE_TRACKER}",
        "yarn.resourcemanager.admin.address": f"{addresses.master}:{Port.RESOURCE_MANAGER_ADMIN}",
        "yarn.resourcemanager.webapp.address": f"{addresses.master}:{Port.RESOURCE_MANAGER_HTTP}",
        "yarn.log.server.url": f"{addresses.history_http}/jobhistory/logs",
    }


def _yarn_of_coordinator(place: NodeLayout) -> Settings:
    return {
        "yarn.resourcemanager.scheduler.class": fair_scheduler.CLASS,
        "yarn.scheduler.fair.allocation.file": str(place.folder / POOLS_FILE),
        "yarn.resourcemanager.nodes.exclude-path": str(place.folder / EXCLUDE_FILE),
        "yarn.resourcemanager.recovery.enabled": "true",
        "yarn.resourcemanager.store.class": _STORE,
        "yarn.resourcemanager.fs.state-store.uri": f"file://{place.folder}/data/resourcemanager",
        # With it, any client of the port could run programs as the service's user by one HTTP call.
        "yarn.webapp.enable-rest-app-submissions": "false",
    }


def _yarn_of_worker(place: NodeLayout) -> Settings:
    return {
        "yarn.nodemanager.hostname": place.address,
        "yarn.nodemanager.bind-host": place.address,
        "yarn.nodemanager.address": f"{place.address}:{Port.NODE_MANAGER}",
        "yarn.nodemanager.localizer.address": f"{place.address}:{Port.NODE_MANAGER_LOCALIZER}",
        "yarn.nodemanager.webapp.address": f"{place.address}:{Port.NODE_MANAGER_HTTP}",
        "yarn.nodemanager.local-dirs": str(place.folder / "data" / "local"),
        "yarn.nodemanager.log-dirs": str(place.folder / "logs" / "containers"),
        "yarn.nodemanager.recovery.enabled": str(place.keeps_containers).lower(),
        "yarn.nodemanager.recovery.supervised": str(place.keeps_containers).lower(),
        "yarn.nodemanager.recovery.dir": str(place.folder / "data" / "nodemanager"),
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.env-whitelist": ",".join((*_HANDED_ON, *MARKS)),
        "yarn.application.classpath": f"$HADOOP_CONF_DIR,{_LIBRARIES}",
    }


def _yarn_tuning(place: NodeLayout) -> Settings:
    return {
        "yarn.scheduler.fair.user-as-default-queue": "false",
        "yarn.scheduler.fair.allow-undeclared-pools": "true",
        "yarn.scheduler.fair.assignmultiple": "true",
        "yarn.scheduler.minimum-allocation-mb": str(_SMALLEST_MB),
        "yarn.resource-types.memory-mb.increment-allocation": str(_SMALLEST_MB),
        "yarn.scheduler.maximum-allocation-mb": str(place.memory_mb),
        "yarn.nodemanager.resource.memory-mb": str(place.memory_mb),
        "yarn.nodemanager.resource.cpu-vcores": str(max(2, place.cores)),
        "yarn.nodemanager.vmem-check-enabled": "false",
        # A percentage would stop all work on a large disk that is 90 % full with a terabyte left.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
        "yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb": "256",
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "250",
        "yarn.resourcemanager.decommissioning-nodes-watcher.poll-interval-secs": "1",
        "yarn.resourcemanager.connect.retry-interval.ms": "1000",
        # After its own restart the ResourceManager waits this long for nodes and masters before it gives out new work.
        "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms": "2000",
        "yarn.nm.liveness-monitor.expiry-interval-ms": "30000",
        "yarn.resourcemanager.max-completed-applications": "1000",
        "yarn.resourcemanager.client.thread-count": "8",
        "yarn.resourcemanager.scheduler.client.thread-count": "8",
        "yarn.resourcemanager.resource-tracker.client.thread-count": "8",
        "yarn.nodemanager.container-manager.thread-count": "8",
    }


def _mapred_wiring(addresses: Addresses) -> Settings:
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.jobhistory.address": addresses.history,
        "mapreduce.jobhistory.admin.address": f"{addresses.master}:{Port.HISTORY_ADMIN}",
        "mapreduce.jobhistory.webapp.address": f"{addresses.master}:{Port.HISTORY_HTTP}",
        "mapreduce.application.classpath": _LIBRARIES,
        "yarn.app.mapreduce.am.admin-command-opts": " ".join(OPTIONS),
    }


def _mapred_tuning(task_options: str) -> Settings:
    java = f"-Xmx384m {_TASK_JAVA} {task_options}".rstrip()
    return {
        "mapreduce.map.memory.mb": "512",
        "mapreduce.map.java.opts": java,
        "mapreduce.reduce.memory.mb": "512",
        "mapreduce.reduce.java.opts": java,
        "mapreduce.task.io.sort.mb": "64",
        "yarn.app.mapreduce.am.resource.mb": "512",
        "yarn.app.mapreduce.am.command-opts": java,
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "100",
        "mapreduce.client.completion.pollinterval": "100",
        "mapreduce.client.progressmonitor.pollinterval": "250",
        "mapreduce.jobhistory.move.interval-ms": "1000",
    }


def check(configuration: ClusterConfiguration, forbidden_beside: Callable[[Mapping[str, str]], Sequence[str]]) -> None:
    """Raise `Invalid` for settings that would break the cluster's own wiring, and for invalid XML of pools.

    `forbidden_beside` names the forbidden settings of the other daemons on the coordinator.
    """
    broken = [*forbidden(configuration.custom_settings), *forbidden_beside(configuration.custom_settings)]
    if broken:
        raise Invalid(
            f"hadoop_settings.custom_config: {broken[0]} is set by the service, which wires the cluster's daemons "
            "with it: leave it out"
        )
    try:
        shlex.split(configuration.custom_settings.get(JAVA_OPTIONS, ""))
    except ValueError as error:
        raise Invalid(f"hadoop_settings.custom_config: {JAVA_OPTIONS} lacks a closing quotation mark") from error
    pools = configuration.hadoop_settings.fairscheduler_settings.fairscheduler_config_xml
    if pools:
        try:
            parse_pools(pools)
        except ValueError as error:
            raise Invalid(f"hadoop_settings.fairscheduler_settings.fairscheduler_config_xml {error}") from error
