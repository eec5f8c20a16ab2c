"""The parts of the service for Hive's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.hive.catalogue import Catalogue
from svc_jupyter.service.hive.partitions import PartitionSearch
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.runtimes.metastore.connections import HiveConnections, MetastoreProbe
from svc_jupyter.service.runtimes.metastore.metastore import Metastore
from svc_jupyter.service.runtimes.s3.account_store import NoStore, Store


@dataclass(frozen=True, slots=True)
class Hive:
    """The metastore and its clients."""

    metastore: Metastore
    connections: HiveConnections
    probe: MetastoreProbe
    catalogue: Catalogue
    search: PartitionSearch

    @classmethod
    def of(
        cls,
        settings: Settings,
        engines: Engines,
        environment: Mapping[str, str],
        store: Store = NoStore(),  # noqa: B008  it holds nothing
    ) -> Hive:
        """Return the parts; nothing runs yet.

        The metastore's process gets the locale and the like from `environment`; `store` is the account's.
        """
        metastore = Metastore(settings, engines, environment, store=store)
        connections = HiveConnections(metastore)
        catalogue = Catalogue(connections)
        return cls(metastore, connections, MetastoreProbe(metastore), catalogue, PartitionSearch(catalogue))

    async def start(self) -> None:
        """Find a metastore that an earlier service has left running."""
        await self.metastore.start()

    async def stop(self) -> None:
        """Close the connections, then end the metastore unless another service uses it."""
        await self.connections.stop()
        self.probe.close()
        await self.metastore.stop()
