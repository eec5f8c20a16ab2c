"""The parts of the service that are about Hive's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.s3.account_store import NoStore, Store
from svc_jupyter.service.hive.catalogue import Catalogue
from svc_jupyter.service.hive.connections import HiveConnections
from svc_jupyter.service.hive.metastore import Metastore
from svc_jupyter.service.hive.metastore_probe import MetastoreProbe
from svc_jupyter.service.hive.partition_search import PartitionSearch
from svc_jupyter.service.settings import Settings


@dataclass(frozen=True, slots=True)
class Hive:
    """The metastore and those who ask it."""

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

        Of `environment` the metastore's process gets the locale and the like; `store` is the account's.
        """
        metastore = Metastore(settings, engines, environment, store=store)
        connections = HiveConnections(metastore)
        catalogue = Catalogue(connections)
        return cls(metastore, connections, MetastoreProbe(metastore), catalogue, PartitionSearch(catalogue))

    async def start(self) -> None:
        """Find the metastore again that an earlier service has left running."""
        await self.metastore.start()

    async def stop(self) -> None:
        """Close the connections, then end the metastore unless somebody else uses it."""
        await self.connections.stop()
        self.probe.close()
        await self.metastore.stop()
