"""The provider `hosts` over a database with instances, as a service has it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.hosts import HostsProvider
from svc_jupyter.service.clusters.providers.hosts_machine import HostMachine
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, clusters


@dataclass
class HostsWorld:
    """A service's database and its provider; `again` is the provider after a restart of that service."""

    settings: Settings
    database: Database
    instances: Instances
    provider: HostsProvider

    @classmethod
    def of(cls, data_dir: Path, inventory: Path) -> HostsWorld:
        settings = Settings(data_dir=data_dir, cluster_provider="hosts", hosts_inventory=inventory)
        data_dir.mkdir(parents=True, exist_ok=True)
        database = Database(settings)
        migrations.upgrade(database)
        with database.begin() as connection:
            ensure_account(connection, settings)
        return cls(settings, database, Instances(settings, database), HostsProvider(settings, database))

    async def again(self) -> HostsProvider:
        await self.provider.close()
        self.provider = HostsProvider(self.settings, self.database)
        return self.provider

    async def started(self, label: str = "default", **nodes: int) -> Instance:
        """Return a new instance without nodes, of a cluster of its own."""
        configuration = ClusterConfiguration.model_validate({"label": [label], "node_configuration": nodes})
        stored, now = configuration.model_dump(mode="json"), time.time()
        with self.database.begin() as connection:
            user = connection.execute(sa.select(users.c.id, users.c.account_id)).first()
            assert user is not None
            cluster = {"account_id": user.account_id, "user_id": user.id, "created_at": now, "configuration": stored}
            cluster_id = connection.execute(
                sa.insert(clusters).values({**cluster, "state": "PENDING"}).returning(clusters.c.id)
            ).scalar_one()
            row = {"cluster_id": cluster_id, "state": "PENDING", "configuration": stored, "provider": "hosts"}
            instance_id = connection.execute(
                sa.insert(cluster_instances)
                .values({**row, "start_at": now, "last_used_at": now})
                .returning(cluster_instances.c.id)
            ).scalar_one()
        return await self.instances.get(instance_id)

    async def take(self, instance: Instance, role: NodeRole, count: int) -> Instance:
        """Return the instance with further nodes, made and written down."""
        await self.instances.add_nodes(instance.id, await self.provider.make(instance, role, count))
        return await self.instances.get(instance.id)

    async def over(self, instance: Instance) -> Instance:
        """Return the instance as it is once its rows say that it is over, whatever still runs."""
        await self.instances.drop_nodes([node.id for node in instance.nodes])
        await self.instances.change(instance.id, state=ClusterState.DOWN.value)
        return await self.instances.get(instance.id)

    def machine(self, instance: Instance, node: Node | None = None) -> HostMachine:
        return self.provider.machine(instance, node or instance.nodes[0])

    async def close(self) -> None:
        """End what runs for any instance, and let go of the hosts."""
        with self.database.connect() as connection:
            ids: Sequence[int] = connection.execute(sa.select(cluster_instances.c.id)).scalars().all()
        for instance_id in ids:
            await self.provider.sweep(await self.instances.get(instance_id))
        await self.provider.close()
        self.database.close()
