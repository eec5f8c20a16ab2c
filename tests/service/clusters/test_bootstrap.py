"""`node_bootstrap_file` on real nodes of the provider `local`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.service.clusters.world import World

from svc_jupyter.api.clusters import ClusterChanges
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.bootstrap import Bootstrap, bootstrap_log
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
Run = Callable[..., Any]


@pytest.fixture
async def run(world: World) -> Any:
    """Runs a script on the master of a running cluster; returns instance, node and what was said."""
    storage = Storage(world.settings, world.database, SecretBox(world.settings.data_dir / "secret.key"))
    world.settings.storage_dir.mkdir()

    async def run(script: str | None, seconds: float = 20.0) -> tuple[Instance, Node, list[str]]:
        if script is not None:
            (world.settings.storage_dir / "setup.sh").write_text(script)
        if (await world.state())["state"] == "DOWN":
            await world.clusters.edit("default", ClusterChanges(node_bootstrap_file="setup.sh"), by=world.by)
            await world.clusters.change_state("default", "start", by=world.by)
        instance = await world.reaches(ClusterState.UP)
        node = instance.master
        assert node is not None
        said: list[str] = []
        settings = world.settings.model_copy(update={"node_bootstrap_seconds": seconds})
        await Bootstrap(settings, storage)(instance, world.provider.machine(instance, node), node, said.append)
        return instance, node, said

    yield run
    storage.close()


async def test_it_runs_once_in_the_nodes_folder_and_knows_where_it_is(run: Run, world: World):
    script = 'echo "$PWD $SVC_CLUSTER_ID $SVC_CLUSTER_LABEL $SVC_NODE_ROLE $SVC_NODE_PRIVATE_IP" | tee -a ran'
    instance, node, said = await run(script)
    folder = Path(str(world.provider.machine(instance, node).folder))
    line = f"{folder} 1 default master {node.private_ip}\n"
    assert ((folder / "ran").read_text(), bootstrap_log(instance, node).read_text()) == (line, line)
    assert said == [f"{node.private_dns}: running setup.sh"]
    await run(script)
    assert (folder / "ran").read_text() == line


async def test_a_script_that_fails_says_how_with_its_last_lines(run: Run):
    with pytest.raises(ClusterFailure) as failed:
        await run("for n in 1 2 3 4 5 6 7; do printf 'begun\\r\\033[1mline %s\\033[0m\\n' $n; done; exit 3")
    text = failed.value.message
    assert "setup.sh on ip-127-" in text
    assert "ended with exit code 3" in text
    assert text.endswith("line 3\nline 4\nline 5\nline 6\nline 7")
    instance, node, _ = await run("echo well")  # again, after it was put right
    assert bootstrap_log(instance, node).read_text().endswith("line 7\x1b[0m\nwell\n")


async def test_a_script_that_takes_too_long_is_ended(run: Run):
    with pytest.raises(ClusterFailure, match=r"took longer than 4 s .*: begun"):
        await run("echo begun; sleep 1000", seconds=4)


async def test_a_script_that_is_not_there_fails_with_its_location(run: Run):
    with pytest.raises(ClusterFailure, match=r"node_bootstrap_file cannot be read: .*setup\.sh"):
        await run(None)


async def test_its_log_stays_when_the_cluster_is_over_and_goes_with_its_next_start(run: Run, world: World):
    instance, node, _ = await run("echo well")
    await world.clusters.change_state("default", "terminate", by=world.by)
    await world.reaches(ClusterState.DOWN)
    assert bootstrap_log(instance, node).read_text() == "well\n"
    assert [item.name for item in instance.folder.iterdir()] == ["logs"]
    shutil.rmtree(world.settings.storage_dir)
    await world.clusters.change_state("default", "start", by=world.by)
    await world.reaches(ClusterState.UP)
    assert not instance.folder.exists()
