"""The listen addresses of a Hadoop cluster's daemons: the same ports on every node's own address."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.instances import Instance, Node

EXCLUDE_FILE: Final = PurePosixPath("conf/nodes.exclude.xml")
"""YARN's list of leaving nodes, in the folder of the coordinator's machine."""


class Port:
    """Hadoop's default ports; none is in the range that systems use for outgoing connections."""

    NAME_NODE: Final = 8020
    NAME_NODE_HTTP: Final = 9870
    DATA_NODE: Final = 9866
    DATA_NODE_IPC: Final = 9867
    DATA_NODE_HTTP: Final = 9864
    RESOURCE_MANAGER: Final = 8032
    SCHEDULER: Final = 8030
    RESOURCE_TRACKER: Final = 8031
    RESOURCE_MANAGER_ADMIN: Final = 8033
    RESOURCE_MANAGER_HTTP: Final = 8088
    NODE_MANAGER: Final = 8041
    NODE_MANAGER_LOCALIZER: Final = 8040
    NODE_MANAGER_HTTP: Final = 8042
    SHUFFLE: Final = 13562
    HISTORY: Final = 10020
    HISTORY_ADMIN: Final = 10033
    HISTORY_HTTP: Final = 19888


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of a cluster whose coordinator has the address `master`."""

    master: str

    @classmethod
    def of(cls, instance: Instance) -> Addresses:
        """Return the addresses of an instance, once its coordinator exists."""
        master = instance.master
        if master is None:
            raise LookupError(f"the coordinator of cluster {instance.cluster_id} is not made yet")
        return cls(master.private_ip)

    @property
    def file_system(self) -> str:
        """HDFS: the base of paths without a scheme."""
        return f"hdfs://{self.master}:{Port.NAME_NODE}"

    @property
    def resource_manager(self) -> str:
        """The address for submitting applications, `host:port`."""
        return f"{self.master}:{Port.RESOURCE_MANAGER}"

    @property
    def resource_manager_http(self) -> str:
        """YARN's REST calls and the ResourceManager's JMX."""
        return f"http://{self.master}:{Port.RESOURCE_MANAGER_HTTP}"

    @property
    def resource_manager_admin(self) -> tuple[str, int]:
        """The address for refreshing nodes."""
        return self.master, Port.RESOURCE_MANAGER_ADMIN

    @property
    def name_node_http(self) -> str:
        """WebHDFS and the NameNode's JMX."""
        return f"http://{self.master}:{Port.NAME_NODE_HTTP}"

    @property
    def history(self) -> str:
        """The address for queries about finished jobs, `host:port`."""
        return f"{self.master}:{Port.HISTORY}"

    @property
    def history_http(self) -> str:
        """The history server's REST calls."""
        return f"http://{self.master}:{Port.HISTORY_HTTP}"

    @property
    def exclude_file(self) -> PurePosixPath:
        """YARN's list of leaving nodes, in the folder of the coordinator's machine."""
        return EXCLUDE_FILE

    @staticmethod
    def node_manager_http(node: Node) -> str:
        """A NodeManager's REST calls and JMX."""
        return f"http://{node.private_ip}:{Port.NODE_MANAGER_HTTP}"
