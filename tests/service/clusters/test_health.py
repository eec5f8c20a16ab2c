"""Health of clusters: who shares a look, what is kept, what is refused."""

import asyncio

import pytest
from tests.service.clusters.scaled_world import NO_ROOM, ScaledWorld
from tests.support.until import until

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
NOW = 1_790_000_000.0


@pytest.fixture
async def scaled(new_world):
    return await ScaledWorld.of(new_world())


@pytest.fixture
def health(scaled):
    world = scaled.world
    return Health(world.clusters, world.instances, {ClusterType.HADOOP: scaled.engine}, clock=lambda: NOW)


async def test_a_record_names_cluster_instance_and_moment(scaled, health):
    record = await health.record("default", by=scaled.world.by)
    assert (record["cluster_id"], record["cluster_inst_id"]) == (1, scaled.instance_id)
    assert record["metrics"]["captured_at"] == "2026-09-21T14:13:20.000Z"
    assert record["pages"] == [{"name": "YARN", "url": "http://127.0.0.1:8088/cluster/apps"}]


async def test_all_who_ask_at_once_share_one_look(scaled, health):
    scaled.engine.may_go_on.clear()
    asked = [asyncio.create_task(health.record("default", by=scaled.world.by)) for _ in range(20)]
    await until(lambda: scaled.engine.looks)
    scaled.engine.may_go_on.set()
    assert {record["metrics"]["look"] for record in await asyncio.gather(*asked)} == {1}


async def test_who_gives_up_does_not_end_the_look_of_the_others(scaled, health):
    scaled.engine.may_go_on.clear()
    first, second = (asyncio.create_task(health.record("default", by=scaled.world.by)) for _ in range(2))
    await until(lambda: scaled.engine.looks)
    first.cancel()
    scaled.engine.may_go_on.set()
    assert (await second)["metrics"]["look"] == 1


async def test_a_look_is_not_kept_for_longer_than_a_moment(scaled, health, monkeypatch):
    monkeypatch.setattr("svc_jupyter.service.clusters.health.FRESH_SECONDS", 0.0)
    looks = [(await health.record("default", by=scaled.world.by))["metrics"]["look"] for _ in range(2)]
    assert looks == [1, 2]


async def test_a_look_that_failed_is_not_shown_again(scaled, health, monkeypatch):
    monkeypatch.setattr("svc_jupyter.service.clusters.health.FRESH_SECONDS", 0.0)
    scaled.engine.failure = NO_ROOM
    with pytest.raises(ClusterFailure):
        await health.record("default", by=scaled.world.by)
    scaled.engine.failure = None
    assert (await health.record("default", by=scaled.world.by))["metrics"]["look"] == 2


async def test_samples_are_kept_every_few_seconds(scaled, health):
    instance = await scaled.world.instances.get(scaled.instance_id)
    for _ in range(3):
        await health.keep(instance)
    assert scaled.engine.looks == 1
    found = await health.metrics("default", "cpu_usage, namenode_heap", "minute", by=scaled.world.by)
    assert found["interval"] == 60
    assert found["metrics"] == {
        "cpu_usage": {"unit": "percent", "samples": [[NOW, 7.0]]},
        "namenode_heap": {"unit": "percent", "samples": []},
    }


async def test_yarns_metrics_need_monitoring(scaled, health):
    with pytest.raises(Invalid, match="metric: yarn_memory needs enable_ganglia_monitoring, which is off for cluster"):
        await health.metrics("default", "yarn_memory", "hour", by=scaled.world.by)
    everything = await health.metrics("default", None, "hour", by=scaled.world.by)
    assert "yarn_memory" not in everything["metrics"]
    assert "cpu_usage" in everything["metrics"]


async def test_an_unknown_metric_or_invalid_interval_is_refused(scaled, health):
    async def refusal(names, interval):
        with pytest.raises(Invalid) as refused:
            await health.metrics("default", names, interval, by=scaled.world.by)
        return refused.value.message

    names = {
        "nonsense": "metric: 'nonsense' is not kept; there are cpu_usage, disk_usage",
        "": "metric: '' is not kept; there are cpu_usage, disk_usage",
    }
    assert {name: (await refusal(name, "hour")).partition(", resource")[0] for name in names} == names
    told = "interval: must be minute, hour, day or a number of seconds up to 86400"
    intervals = dict.fromkeys(("week", "0", "86401", "-5", "9" * 16), told)
    assert {interval: await refusal("cpu_usage", interval) for interval in intervals} == intervals


async def test_a_cluster_that_is_not_up_has_no_health(scaled, health):
    world = scaled.world
    await world.clusters.create(_other(), by=world.by)
    for call in (health.record("other", by=world.by), health.metrics("other", None, "hour", by=world.by)):
        with pytest.raises(StateConflict, match="cluster other is DOWN: only a cluster that is UP has health"):
            await call


async def test_an_unknown_cluster_is_reported(scaled, health):
    with pytest.raises(NotFound, match="there is no cluster nowhere"):
        await health.record("nowhere", by=scaled.world.by)


async def test_who_may_not_read_the_cluster_does_not_see_its_health(scaled, health):
    by = scaled.world.by
    stranger = Caller(by.user_id + 1, by.account_id, "stranger@example.org", frozenset(), 1)
    with pytest.raises(Forbidden, match="permission to read cluster default"):
        await health.record("default", by=stranger)
    member = Caller(by.user_id + 1, by.account_id, "member@example.org", frozenset({BuiltinGroup.USER}), 1)
    assert await health.record("default", by=member)


def _other():
    return ClusterConfiguration.model_validate({"label": ["other"]})
