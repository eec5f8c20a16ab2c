"""The end of a command's applications, with a double of YARN: a real one is over sooner or later by chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.service.runtimes.hadoop.nodes import worker

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import TaggedJobs

APPLICATION = "application_1700000000000_0003"
CONTAINER = "container_1700000000000_0003_01_000001"
MASTER = Node(9, NodeRole.MASTER, "m", "127.1.1.1", "m", "local", NodeStatus.RUNNING, 0.0, 0.0, 0.0, {})


class Clusters:
    """One cluster with two workers."""

    async def up_instance(self, cluster_id: int) -> Instance:
        return Instance(
            id=1,
            cluster_id=cluster_id,
            account_id=1,
            state=ClusterState.UP,
            configuration=ClusterConfiguration(),
            provider="local",
            folder=Path("/data/clusters/1"),
            details={},
            start_at=0.0,
            up_at=0.0,
            last_used_at=0.0,
            terminate_reason=None,
            nodes=(MASTER, worker(1), worker(2)),
        )


class Yarn:
    """An application that is called over as soon as it is told to end, while its container takes some looks to."""

    def __init__(self, container_looks: int, silent: str = "") -> None:
        self.is_killed = False
        self.left = container_looks
        self._silent = silent

    async def get(self, url: str, states: str = "", **_parameters: str) -> Any:
        if self._silent and self._silent in url:
            raise DaemonSilent(f"{url} does not answer")
        if url.endswith("/cluster/apps"):
            return {"apps": None if self.is_killed and states else {"app": [{"id": APPLICATION}]}}
        if url.endswith("/node/containers") and worker(2).private_ip in url and self.left:
            self.left -= 1
            return {"containers": {"container": [{"id": CONTAINER, "state": "KILLING"}]}}
        return {}

    async def put(self, url: str, body: Any) -> Any:
        assert url.endswith(f"/{APPLICATION}/state")
        assert body == {"state": "KILLED"}
        self.is_killed = True


@pytest.mark.parametrize("silent", ["", worker(1).private_ip])
async def test_an_application_is_over_when_its_last_container_has_ended(silent: str):
    yarn = Yarn(3, silent)
    assert await TaggedJobs(Clusters(), yarn).end(1, "svc-command-7-1") == [APPLICATION]
    assert yarn.left == 0


async def test_a_container_that_does_not_end_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr("svc_jupyter.service.runtimes.hadoop.tagged_jobs._END_SECONDS", 0.5)
    yarn = Yarn(1_000_000)
    assert await TaggedJobs(Clusters(), yarn).end(1, "svc-command-7-1") == [APPLICATION]
    assert yarn.left > 0


async def test_one_that_its_own_program_has_ended_is_waited_for_as_well():
    yarn = Yarn(3)
    yarn.is_killed = True
    assert await TaggedJobs(Clusters(), yarn).end(1, "svc-command-7-1") == []
    assert yarn.left == 0
