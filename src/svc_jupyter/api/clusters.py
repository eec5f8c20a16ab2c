"""Clusters: configuration, state, nodes, health."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from svc_jupyter.api.cluster_texts import ClusterLabel, ClusterLabels, CustomConfig, parse_custom_config
from svc_jupyter.api.fields import Id, PagingInfo, Record, Request
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.api.text import HIDDEN

MAX_NODES = 1000
_Text = Annotated[str, Field(max_length=1024)]
ProviderName = Literal["local", "hosts", "external"]
"""Where the nodes of a cluster run: on the service's own machine, on machines of its inventory, reached by SSH, or
where others run the cluster, to which the service only connects.
"""
ADDRESSES = ("presto_url", "trino_url", "hiveserver2", "spark_connect")
"""The fields of `ExternalSettings` that hold an address."""
_NOT_YET = ("metastore", "hadoop_conf")
_TOKEN = re.compile(r";token=([^;]*)")


class ClusterType(StrEnum):
    """What a cluster runs; it follows from its settings."""

    HADOOP = "hadoop"
    SPARK = "spark"
    PRESTO = "presto"
    HIVE = "hive"
    """A HiveServer2 that others run; on the service's own clusters it is a part of Hadoop."""
    SPARK_CONNECT = "spark_connect"
    """A Spark Connect server that others run."""

    @property
    def words(self) -> str:
        """The name in texts."""
        return self.value.replace("_", " ").title()


class NodeRole(StrEnum):
    """What a node does in its cluster."""

    MASTER = "master"
    WORKER = "worker"


class SecuritySettings(Request):
    """Validated, stored and shown; the providers of this version encrypt nothing by themselves."""

    encrypted_ephemerals: bool = False


class CloudSettings(Request):
    """Where machines would come from; the keys are write-only."""

    compute_validated: bool = False
    compute_access_key: _Text | None = None
    compute_secret_key: _Text | None = None
    cloud_region: _Text = ""
    cloud_preferred_availability_zone: _Text = "Any"
    vpc_id: _Text | None = None
    subnet_id: _Text | None = None


class FairSchedulerSettings(Request):
    """Pools of YARN's fair scheduler: the default one, and more in the scheduler's own XML."""

    default_pool: Annotated[str, Field(max_length=255, pattern=r"^[A-Za-z0-9_.-]+$")] | None = None
    fairscheduler_config_xml: Annotated[str, Field(max_length=65_536)] | None = None


class HadoopSettings(Request):
    """Hadoop, or Spark on it."""

    use_hadoop2: bool = True
    use_spark: bool = False
    custom_config: CustomConfig | None = None
    fairscheduler_settings: FairSchedulerSettings = Field(default_factory=FairSchedulerSettings)


class HiveSettings(Request):
    """HiveServer2 on the coordinator: always there when switched on, else started by the first Hive command."""

    is_hs2_enabled: bool = False


class PigSettings(Request):
    """There is one version of Pig, on MapReduce or local; another one asked for is refused."""

    pig_version: _Text | None = None
    execution_engine: _Text | None = None

    @field_validator("pig_version")
    @classmethod
    def _one_version(cls, value: str | None) -> str | None:
        if value not in {None, "", "0.18", "0.18.0"}:
            raise ValueError(f"Pig {value[:20]!r} is not there: the only version is 0.18.0")
        return value

    @field_validator("execution_engine")
    @classmethod
    def _no_tez(cls, value: str | None) -> str | None:
        if value is not None and value.lower() not in {"", "mr", "mapreduce", "local"}:
            raise ValueError(f"{value[:20]!r} is not there: Pig runs on mapreduce or local")
        return value


class PrestoSettings(Request):
    """Presto instead of Hadoop."""

    enable_presto: bool = False
    custom_config: CustomConfig | None = None


class ExternalSettings(Request):
    """The cluster of the provider `external`: one address, and how to log in there; the password is write-only."""

    presto_url: _Text | None = None
    trino_url: _Text | None = None
    hiveserver2: _Text | None = None
    """`host:port`, or a URL as `hive2://host:port/;auth=noSasl;ssl=true`."""
    spark_connect: _Text | None = None
    """`sc://host:port`, `sc://host:port/;use_ssl=true;token=…`; the token becomes the password."""
    user: Annotated[str, Field(max_length=255)] | None = None
    """The login that goes with `password`; commands run in the name of their own users."""
    password: _Text | None = None
    tls_ca: Annotated[str, Field(max_length=65_536)] | None = None
    """Certificates in PEM of the only authorities to trust; null stands for those of the machine."""
    source: Annotated[str, Field(max_length=255)] | None = None
    """The source name of the queries, by which a coordinator may choose their resource group."""
    session_properties: dict[str, str] = Field(default_factory=dict)
    """Properties of every session; an empty text removes one. HiveServer2 takes them as `SET` does."""

    @model_validator(mode="before")
    @classmethod
    def _is_supported(cls, value: Any) -> Any:
        for name in _NOT_YET if isinstance(value, dict) else ():
            if value.get(name) not in (None, ""):
                raise ValueError(
                    f"{name} is not supported yet: this version connects to coordinators of Presto (presto_url) and "
                    "Trino (trino_url), to HiveServer2 (hiveserver2) and to Spark Connect (spark_connect) only"
                )
        return _with_token_apart(value)

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses that are given, by the names of their fields; a cluster has one."""
        given = {name: getattr(self, name) for name in ADDRESSES}
        return {name: address for name, address in given.items() if address}

    @property
    def url(self) -> str | None:
        """The address to connect to, None where there is none."""
        return next(iter(self.addresses.values()), None)


def _with_token_apart(value: Any) -> Any:
    """Return settings whose address of Spark Connect has no token: it is the password, since addresses are shown."""
    address = value.get("spark_connect") if isinstance(value, dict) else None
    if not isinstance(address, str) or (found := _TOKEN.search(address)) is None:
        return value
    if value.get("password") not in (None, "", HIDDEN, found[1]):
        raise ValueError("there are two tokens: give it in external.spark_connect or as external.password")
    return {**value, "spark_connect": _TOKEN.sub("", address), "password": found[1]}


class SpotInstanceSettings(Request):
    """Validated, stored and shown; the providers of this version have no spot machines."""

    maximum_bid_price_percentage: _Text = "100"
    timeout_for_request: Annotated[int, Field(ge=0)] = 10
    """Minutes."""
    maximum_spot_instance_percentage: Annotated[int, Field(ge=0, le=100)] = 50


class NodeConfiguration(Request):
    """How many workers, and of what kind."""

    initial_nodes: Annotated[int, Field(ge=1, le=MAX_NODES)] = 1
    max_nodes: Annotated[int, Field(ge=1, le=MAX_NODES)] = 1
    master_instance_type: _Text = "local"
    slave_instance_type: _Text = "local"
    slave_request_type: Literal["ondemand", "spot", "hybrid"] = "ondemand"
    use_stable_spot_nodes: bool = False
    spot_instance_settings: SpotInstanceSettings = Field(default_factory=SpotInstanceSettings)


class ClusterChanges(Request):
    """What is to change of a cluster: the body of an edit and of a clone. What is not given stays as it is."""

    label: ClusterLabels = Field(default_factory=list)
    enable_ganglia_monitoring: bool = False
    disallow_cluster_termination: bool = False
    idle_cluster_timeout: Annotated[float, Field(ge=0, le=8760)] | None = None
    """Hours without work after which the cluster is terminated; null is the service's default."""
    node_bootstrap_file: _Text = ""
    provider: ProviderName | None = None
    """Where its nodes run, from its next start on; null is the service's default."""
    security_settings: SecuritySettings = Field(default_factory=SecuritySettings)
    cloud_settings: CloudSettings = Field(default_factory=CloudSettings)
    hadoop_settings: HadoopSettings = Field(default_factory=HadoopSettings)
    hive_settings: HiveSettings = Field(default_factory=HiveSettings)
    pig_settings: PigSettings = Field(default_factory=PigSettings)
    presto_settings: PrestoSettings = Field(default_factory=PrestoSettings)
    external: ExternalSettings = Field(default_factory=ExternalSettings)
    node_configuration: NodeConfiguration = Field(default_factory=NodeConfiguration)


class ClusterConfiguration(ClusterChanges):
    """What a cluster is to be: the body of a creation. Counts are of workers."""

    @model_validator(mode="after")
    def _is_consistent(self) -> ClusterConfiguration:
        nodes = self.node_configuration
        if "max_nodes" not in nodes.model_fields_set:  # then the initial size is the largest
            nodes.max_nodes = nodes.initial_nodes
        if nodes.max_nodes < nodes.initial_nodes:
            raise ValueError(
                f"node_configuration.max_nodes ({nodes.max_nodes}) must not be below initial_nodes "
                f"({nodes.initial_nodes})"
            )
        if self.presto_settings.enable_presto and self.hadoop_settings.use_spark:
            raise ValueError("presto_settings.enable_presto and hadoop_settings.use_spark exclude each other")
        self._check_external()
        return self

    def _check_external(self) -> None:
        given = [f"external.{name}" for name in self.external.addresses]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other: clear all but one")
        if self.is_external and not given:
            raise ValueError(f"external: give the address to connect to, one of {', '.join(ADDRESSES)}")
        if self.external.url and not self.is_external:
            raise ValueError('external: needs "provider": "external"; for another provider clear its address')

    @property
    def is_external(self) -> bool:
        """Whether others run the cluster."""
        return self.provider == "external"

    @property
    def cluster_type(self) -> ClusterType:
        """What the cluster runs."""
        if self.is_external and self.external.hiveserver2:
            return ClusterType.HIVE
        if self.is_external and self.external.spark_connect:
            return ClusterType.SPARK_CONNECT
        if self.is_external or self.presto_settings.enable_presto:
            return ClusterType.PRESTO
        return ClusterType.SPARK if self.hadoop_settings.use_spark else ClusterType.HADOOP

    @property
    def custom_settings(self) -> dict[str, str]:
        """The `key=value` lines of the cluster's engine."""
        if self.presto_settings.enable_presto:
            return parse_custom_config(self.presto_settings.custom_config)
        return parse_custom_config(self.hadoop_settings.custom_config)


class ClusterRecord(Record):
    """A cluster as answers show it: its configuration with `id` and `state`, secrets as `<hidden>`."""

    id: int
    label: list[str]
    state: ClusterState
    enable_ganglia_monitoring: bool = False
    disallow_cluster_termination: bool = False
    idle_cluster_timeout: float | None = None
    node_bootstrap_file: str | None = None
    provider: str | None = None
    """Where its nodes run from its next start on; the service's default where none was given."""
    security_settings: dict[str, Any] = Field(default_factory=dict)
    cloud_settings: dict[str, Any] = Field(default_factory=dict)
    hadoop_settings: dict[str, Any] = Field(default_factory=dict)
    hive_settings: dict[str, Any] = Field(default_factory=dict)
    pig_settings: dict[str, Any] = Field(default_factory=dict)
    presto_settings: dict[str, Any] = Field(default_factory=dict)
    external: dict[str, Any] = Field(default_factory=dict)
    node_configuration: dict[str, Any] = Field(default_factory=dict)


class ClusterItem(Record):
    """An entry of the list under v1.2."""

    cluster: ClusterRecord


class ClusterList(Record):
    """A page of clusters, newest first, under v1.3 and later."""

    clusters: list[ClusterRecord]
    paging_info: PagingInfo


class ClusterStateChange(Request):
    """What is wanted of a cluster."""

    state: Literal["start", "terminate"]


class ClusterMessage(Record):
    """What was begun, in a sentence."""

    message: str


class ClusterNode(Record):
    """A node; times are ISO 8601 UTC with `Z`."""

    role: NodeRole
    hostname: str
    private_ip: str
    private_dns: str
    instance_type: str
    is_spot_instance: bool = False
    status: NodeStatus
    up_time: str | None = None
    """When it became RUNNING."""
    last_seen_time: str | None = None


class ClusterStateRecord(Record):
    """Where a cluster stands, with its nodes; times are ISO 8601 UTC with `Z`."""

    state: ClusterState
    cluster_id: int
    config_id: int
    cluster_inst_id: int | None = None
    start_at: str | None = None
    up_at: str | None = None
    down_at: str | None = None
    terminate_reason: str | None = None
    message: str | None = None
    """What is being done right now."""
    nodes: list[ClusterNode] = Field(default_factory=list)


class LabelMove(Request):
    """A label and the cluster that is to have it, by id or label."""

    destination_cluster: Id | str
    label: ClusterLabel


def _without_envelope(value: Any) -> Any:
    """Clients may send the fields inside `parameters`."""
    if isinstance(value, dict) and isinstance(value.get("parameters"), dict):
        return {**value["parameters"], **{key: item for key, item in value.items() if item is not None}}
    return value


class NodesToAdd(Request):
    """How many workers to add."""

    node_count: Annotated[int, Field(ge=1, le=MAX_NODES)] = 1

    @model_validator(mode="before")
    @classmethod
    def _open_envelope(cls, value: Any) -> Any:
        return _without_envelope(value)


class NodeToRemove(Request):
    """Which worker goes; without one the idlest, then the youngest."""

    private_dns: Annotated[str, Field(max_length=255)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _open_envelope(cls, value: Any) -> Any:
        return _without_envelope(value)
