"""Clusters as their rules keep them: created, cloned, edited, labelled, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError
from tests.service.clusters.world import World

from svc_jupyter.api.access import BuiltinGroup, Resource
from svc_jupyter.api.clusters import ClusterChanges, ClusterConfiguration, LabelMove
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.policy_book import NO_POLICIES, entries_of
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.first_clusters import ensure_clusters
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.audit import audit_entries

EVERY = Page(1, 100)


@pytest.fixture
async def world(new_world: Any) -> World:
    """A service whose loops do not run: its rules on each database."""
    world: World = new_world()
    await world.bus.start()
    return world


async def test_a_cluster_is_created_found_by_each_name_cloned_and_deleted(world: World):
    secrets = {"compute_access_key": "AKIA", "compute_secret_key": "s3cret"}
    made = await create(world, label=["etl", "nightly"], cloud_settings=secrets, idle_cluster_timeout=1)
    assert (made["label"], made["state"], made["idle_cluster_timeout"]) == (["etl", "nightly"], "DOWN", 1.0)
    assert made["cloud_settings"]["compute_secret_key"] == "<hidden>"
    for name in (str(made["id"]), "etl", "nightly"):
        assert await world.clusters.get(name, by=world.by) == made
    changes = ClusterChanges.model_validate({"label": "copy", "cloud_settings": {"cloud_region": "north"}})
    copy = await world.clusters.clone("etl", changes, by=world.by)
    assert copy["cloud_settings"] == {**made["cloud_settings"], "cloud_region": "north"}
    assert (await stored(world, copy["id"]))["secrets"] == (await stored(world, made["id"]))["secrets"]
    assert await world.clusters.delete("etl", by=world.by) == f"Deleted cluster with id {made['id']}."
    for name in (str(made["id"]), "nightly"):
        with pytest.raises(NotFound):
            await world.clusters.get(name, by=world.by)
    log = await audited(world)
    assert [entry["action"] for entry in log] == ["create", "clone", "delete"]
    assert "s3cret" not in str(log)


async def test_a_label_belongs_to_one_cluster_and_is_moved_in_one_step(world: World):
    etl = await create(world, label=["etl", "nightly"])
    taken = f"label: 'nightly' is a label of cluster {etl['id']}"
    with pytest.raises(Invalid, match=taken):
        await create(world, label=["x", "nightly"])
    with pytest.raises(Invalid, match=taken):
        await edit(world, "default", label=["default", "nightly"])
    with pytest.raises(Invalid, match=taken):
        await world.clusters.clone("etl", ClusterChanges(label=["nightly"]), by=world.by)
    with pytest.raises(Invalid, match="give the clone a label"):
        await world.clusters.clone("etl", ClusterChanges(), by=world.by)
    text = await world.clusters.reassign_label(LabelMove(destination_cluster=1, label="nightly"), by=world.by)
    assert text == "Label nightly belongs to cluster with id 1."
    assert (await world.clusters.get("1", by=world.by))["label"] == ["default", "nightly"]
    assert (await world.clusters.get("etl", by=world.by))["label"] == ["etl"]
    await world.clusters.reassign_label(LabelMove(destination_cluster="etl", label="new"), by=world.by)
    assert (await world.clusters.get("new", by=world.by))["id"] == etl["id"]
    with pytest.raises(NotFound):
        await world.clusters.reassign_label(LabelMove(destination_cluster="nowhere", label="new"), by=world.by)


async def test_an_edit_of_a_running_cluster_is_for_its_next_start(world: World):
    await world.clusters.change_state("default", "start", by=world.by)
    before = (await world.clusters.resolve(1, "default")).instance_id
    assert before is not None
    record = await edit(world, "default", node_configuration={"max_nodes": 9}, label="other")
    assert (record["node_configuration"]["max_nodes"], record["label"], record["state"]) == (9, ["other"], "PENDING")
    assert (await world.instances.get(before)).configuration.node_configuration.max_nodes == 4
    with pytest.raises(StateConflict, match="what it runs can be changed once it is DOWN"):
        await edit(world, "other", hadoop_settings={"use_spark": True})
    assert (await audited(world))[-1]["detail"] == {"changed": ["label", "node_configuration.max_nodes"]}


async def test_states_that_forbid_what_is_asked(world: World):
    async def ask(wanted: str) -> str:
        with pytest.raises(StateConflict) as refused:
            await world.clusters.change_state("default", wanted, by=world.by)
        return refused.value.message

    assert await ask("terminate") == "cluster default is already DOWN"
    await world.clusters.change_state("default", "start", by=world.by)
    assert await ask("start") == "cluster default is already PENDING"
    with pytest.raises(ClusterFailure, match="is not UP"):
        await world.clusters.up_instance(1)
    with pytest.raises(StateConflict, match="cluster default is PENDING; terminate it, then delete it"):
        await world.clusters.delete("default", by=world.by)
    await world.clusters.change_state("default", "terminate", by=world.by)
    assert await ask("terminate") == "cluster default is already TERMINATING"
    assert await ask("start") == "cluster default is TERMINATING; start it once it is DOWN"
    assert await world.clusters.are_active()
    assert [entry["action"] for entry in await audited(world)] == ["start", "terminate"]


async def test_invalid_settings_and_an_unsupported_cluster_type_are_refused(world: World):
    bad = {"hadoop_settings": {"custom_config": "fs.defaultFS=x"}}
    for call in (create(world, **bad), edit(world, "default", **bad)):
        with pytest.raises(Invalid, match=r"fs\.defaultFS is the cluster's own"):
            await call
    with pytest.raises(Invalid, match=r"node_configuration\.max_nodes \(1\) must not be below initial_nodes \(2\)"):
        await edit(world, "default", node_configuration={"max_nodes": 1})
    spark = await create(world, hadoop_settings={"use_spark": True})
    with pytest.raises(Invalid, match="Spark clusters are not supported yet"):
        await world.clusters.change_state(str(spark["id"]), "start", by=world.by)


async def test_a_cluster_starts_where_it_is_told_else_where_the_service_starts_its_clusters(
    world: World, tmp_path: Path
):
    world.settings.cluster_provider = "hosts"
    world.settings.hosts_inventory = tmp_path / "inventory.toml"
    usual, own = await create(world, label=["usual"]), await create(world, label=["own"], provider="local")
    assert (usual["provider"], own["provider"]) == ("hosts", "local")
    copy = await world.clusters.clone("own", ClusterChanges.model_validate({"label": "copy"}), by=world.by)
    assert copy["provider"] == "local"
    assert (await edit(world, "copy", provider="hosts"))["provider"] == "hosts"
    for label in ("usual", "own", "copy"):
        await world.clusters.change_state(label, "start", by=world.by)
    started = [(await world.instances.of_cluster(cluster["id"])) for cluster in (usual, own, copy)]
    assert [instance and instance.provider for instance in started] == ["hosts", "local", "hosts"]
    assert (await edit(world, "own", provider="hosts"))["provider"] == "hosts"
    running = await world.instances.of_cluster(own["id"])
    assert running is not None
    assert running.provider == "local"  # until its next start


async def test_a_provider_that_the_service_cannot_use_is_refused_with_what_it_lacks(world: World):
    with pytest.raises(Invalid, match=r"provider: hosts cannot be used here: .* set SVC_HOSTS_INVENTORY"):
        await create(world, label=["far"], provider="hosts")
    with pytest.raises(Invalid, match="SVC_HOSTS_INVENTORY"):
        await edit(world, "default", provider="hosts")
    with pytest.raises(ValidationError, match=r"provider\n.*'local', 'hosts' or 'external'"):
        await create(world, label=["far"], provider="cloud")


async def test_lists_are_newest_first_filtered_and_hide_what_may_not_be_read(world: World):
    etl = await create(world, label="etl")
    ids = [record["id"] for record in await listed(world, world.by)]
    assert ids == [etl["id"], 1]
    assert [record["id"] for record in await listed(world, world.by, label="default")] == [1]
    await world.clusters.change_state("etl", "start", by=world.by)
    assert [record["id"] for record in await listed(world, world.by, state=ClusterState.PENDING)] == [etl["id"]]
    deny = [{"access": "deny", "condition": {"service_users": [7]}, "action": ["read"]}]
    book = NO_POLICIES.with_changes(1, {(Resource.CLUSTER, 1): entries_of(deny)})
    user = Caller(7, 1, "u@example.com", frozenset({BuiltinGroup.USER}), token_id=1, policies=book)
    assert [record["id"] for record in await listed(world, user)] == [etl["id"]]
    with pytest.raises(Forbidden):
        await world.clusters.get("default", by=user)


async def test_a_name_that_no_cluster_can_have_is_not_found(world: World):
    async def refusals(name: str) -> list[str]:
        with pytest.raises(NotFound) as unknown:
            await world.clusters.get(name, by=world.by)
        with pytest.raises(Invalid, match="HadoopCommand could not be created: ") as refused:
            await world.submit("echo never", label=name)
        return [unknown.value.message, refused.value.message.partition(": ")[2]]

    long, number = "x" * 300, "9" * 40
    names = {
        "\0": ["there is no cluster \0", r"no cluster has the label '\x00'; there are: default"],
        "a\0b": ["there is no cluster a\0b", r"no cluster has the label 'a\x00b'; there are: default"],
        "\ud800": [
            "there is no cluster \ud800",
            "label: Input should be a valid string, unable to parse raw data as a unicode string",
        ],
        "a b": ["there is no cluster a b", "no cluster has the label 'a b'; there are: default"],
        long: [f"there is no cluster {long[:100]}", "label: String should have at most 255 characters"],
        number: [f"there is no cluster {number}", f"no cluster has the label '{number}'; there are: default"],
    }
    assert {name: await refusals(name) for name in names} == names
    assert [name for name in names if await listed(world, world.by, label=name)] == []


async def test_the_last_cluster_may_go_and_what_that_means_is_said(world: World):
    text = await world.clusters.delete("default", by=world.by)
    assert "No cluster has the label 'default' now" in text
    with world.database.begin() as connection:
        ensure_clusters(connection, 1)
    assert (await world.clusters.get("default", by=world.by))["hadoop_settings"]["custom_config"] == (
        "pig.exectype=local"
    )


async def create(world: World, **fields: Any) -> dict[str, Any]:
    return await world.clusters.create(ClusterConfiguration.model_validate(fields), by=world.by)


async def edit(world: World, cluster: str, **fields: Any) -> dict[str, Any]:
    return await world.clusters.edit(cluster, ClusterChanges.model_validate(fields), by=world.by)


async def listed(world: World, by: Caller, **filters: Any) -> list[dict[str, Any]]:
    records, _ = await world.clusters.listed(by, EVERY, **{"state": None, "label": None, **filters})
    return records


async def stored(world: World, cluster_id: int) -> Any:
    query = sa.text("SELECT configuration, secrets FROM clusters WHERE id = :id").bindparams(id=cluster_id)
    return await world.database.read(lambda connection: connection.execute(query).mappings().one())


async def audited(world: World) -> list[dict[str, Any]]:
    query = sa.select(audit_entries).where(audit_entries.c.resource == "cluster").order_by(audit_entries.c.id)
    with world.database.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]
