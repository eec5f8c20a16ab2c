"""The state of the metastore, for the health of clusters."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.runtimes.metastore.connections import HiveConnection
from svc_jupyter.service.runtimes.metastore.failures import MetastoreLost
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

_LOOK_SECONDS: Final = 1.5
_HEAP: Final = "svc.heap"
"""The key that `java/Handler.java` answers with the heap's used bytes and limit."""


class MetastoreProbe:
    """The `ServiceProbe` of the metastore; it has its own connection, so that no queue delays it."""

    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore
        self._connection: HiveConnection | None = None
        self._lock = threading.Lock()

    async def look(self, instance: Instance) -> ServiceLook | None:  # noqa: ARG002  one for all clusters
        """Return the metastore's state; None when it was never needed."""
        address = self._metastore.address
        if address is None:
            return ServiceLook(is_alive=False, is_responsive=False) if self._metastore.is_wanted else None
        return await asyncio.to_thread(self._look, address)

    def close(self) -> None:
        """Close its connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _look(self, address: MetastoreAddress) -> ServiceLook:
        is_alive = self._metastore.process.is_running()
        if is_alive:
            with suppress(MetastoreLost), self._lock:
                return ServiceLook(is_alive, is_responsive=True, heap_percent=self._connected(address).ask(_heap))
        return ServiceLook(is_alive, is_responsive=False)

    def _connected(self, address: MetastoreAddress) -> HiveConnection:
        connection = self._connection
        if connection is None or connection.address != address or not connection.is_open:
            if connection is not None:
                connection.close()
            connection = self._connection = HiveConnection(address, answer_seconds=_LOOK_SECONDS)
        return connection


def _heap(client: Client) -> float:
    """Run a real request against its database; return the heap in use, in percent."""
    client.get_database("default")
    used, limit = client.getMetaConf(_HEAP).split()
    return 100 * int(used) / int(limit)
