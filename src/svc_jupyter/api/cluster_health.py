"""Health of clusters."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from svc_jupyter.api.fields import Record


class Heap(Record):
    """How full a JVM's heap is; `status` is green, from 80 % yellow, from 95 % red."""

    usage_percent: str
    status: str


class ServiceHealth(Record):
    """A service: whether its process is there and whether it answers; `reason` says why not."""

    responsiveness_status: str
    liveliness_status: str
    heap: Heap
    reason: str | None = None


class YarnContainers(Record):
    """Containers that wait for room now; failed and killed since the cluster started."""

    pending: str
    failed: str
    killed: str


class YarnHealth(Record):
    """YARN's figures; `memory` is the percentage that containers hold."""

    memory: str
    containers: YarnContainers


class EngineHealth(Record):
    """What depends on the cluster's type; YARN's figures need `enable_ganglia_monitoring`."""

    yarn: YarnHealth | None = None
    spark: dict[str, Any] | None = None
    presto: dict[str, Any] | None = None


class DaemonsHealth(Record):
    """Each daemon that a cluster of this type has."""

    hive_metastore: ServiceHealth | None = None
    hs2_server: ServiceHealth | None = None
    zeppelin: dict[str, Any] | None = None
    resourcemanager: str | None = None
    namenode: str | None = None


class MasterHealth(Record):
    """The coordinator's machine; `cpu_usage` and `disk_usage` are percentages."""

    cpu_usage: str
    disk_usage: str
    spotloss_count: int


class WorkerHealth(Record):
    """A worker that YARN answers for, with the containers that run there now."""

    private_dns: str
    containers: int


class SystemHealth(Record):
    """The machines; `workers` is an extension, and empty where YARN does not answer or is not used."""

    master: MasterHealth
    workers: list[WorkerHealth] = Field(default_factory=list)


class HealthMetrics(Record):
    """One live look; `captured_at` is ISO 8601 UTC with `Z`."""

    captured_at: str
    engine: EngineHealth
    daemons: DaemonsHealth
    system: SystemHealth


class ClusterPage(Record):
    """A page in which an engine shows itself in a browser, with its address as the service's machine has it."""

    name: str
    url: str


class ClusterHealth(Record):
    """The health of a running cluster; `pages`, an extension, are those that answer now."""

    cluster_id: int
    cluster_inst_id: int
    metrics: HealthMetrics
    pages: list[ClusterPage] = Field(default_factory=list)


class MetricSeries(Record):
    """A metric's samples, oldest first: pairs of Unix seconds and value."""

    unit: str
    samples: list[tuple[float, float]] = Field(default_factory=list)


class ClusterMetrics(Record):
    """Samples of a running cluster over the last `interval` seconds."""

    cluster_id: int
    cluster_inst_id: int
    interval: int
    metrics: dict[str, MetricSeries]
