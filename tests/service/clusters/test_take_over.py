"""Instances of replicas that are gone, on the database that several replicas share."""

from __future__ import annotations

import time

import sqlalchemy as sa
from tests.service.clusters.world import NewWorld, World
from tests.service.conftest import ON_POSTGRESQL
from tests.support.until import until

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import replicas

pytestmark = ON_POSTGRESQL


def driven_by(world: World) -> str:
    with world.database.connect() as connection:
        return str(connection.execute(sa.select(cluster_instances.c.replica_id)).scalar_one())


async def test_another_replica_takes_over_when_one_is_gone(new_world: NewWorld):
    first, second = new_world(lease_seconds=5.0), new_world(lease_seconds=5.0)
    await first.start()
    await second.start()
    await first.clusters.change_state("default", "start", by=first.by)
    instance = await first.reaches(ClusterState.UP)
    pids = await first.engine.pids(instance)
    owner, other = (first, second) if driven_by(first) == first.runner.replica.id else (second, first)
    await owner.stop()
    with other.database.begin() as connection:  # as its heir does
        connection.execute(sa.delete(replicas).where(replicas.c.id == owner.runner.replica.id))
    await until(lambda: other.engine.supervised)
    assert driven_by(other) == other.runner.replica.id
    assert await other.engine.pids(instance) == pids
    await other.clusters.change_state("default", "terminate", by=other.by)
    await other.reaches(ClusterState.DOWN)


async def test_a_replica_that_lost_its_lease_lets_go_of_its_instances(new_world: NewWorld):
    first: World = new_world()
    await first.start()
    await first.clusters.change_state("default", "start", by=first.by)
    await first.reaches(ClusterState.UP)
    with first.database.begin() as connection:
        connection.execute(sa.update(cluster_instances).values(replica_id="another"))
        connection.execute(
            sa.insert(replicas).values(
                id="another", host="elsewhere", pid=1, boot_id="", start_ticks=0, lease_until=time.time() + 60
            )
        )
    await until(lambda: not first.driver.is_driving)
    looks = first.engine.supervised
    await first.clusters.change_state("default", "terminate", by=first.by)
    assert (await first.state())["state"] == "TERMINATING"
    assert first.engine.supervised == looks


async def test_the_cluster_of_a_host_that_is_gone_is_given_up(new_world: NewWorld):
    first: World = new_world()
    await first.start()
    await first.clusters.change_state("default", "start", by=first.by)
    await first.reaches(ClusterState.UP)
    waits = await first.submit("echo never")
    await first.end_of(waits["id"])
    with first.database.begin() as connection:
        connection.execute(sa.update(cluster_instances).values(replica_id="gone", host="elsewhere"))
    await first.reaches(ClusterState.DOWN)
    assert (await first.state())["terminate_reason"] == (
        "the service on elsewhere, where the cluster runs, no longer answers"
    )
