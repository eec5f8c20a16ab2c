"""The end of a command's applications, with a double of YARN: a real one is over sooner or later by chance."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.service.runtimes.hadoop.nodes import worker

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import TaggedJobs, Waits

APPLICATION = "application_1700000000000_0003"
CONTAINER = "container_1700000000000_0003_01_000001"
_LIVING = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
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
    """An application that is called over as soon as it is told to end, while its container takes some looks to.

    Its process writes for a while after its container has ended.
    """

    def __init__(self, container_looks: int, silent: str = "") -> None:
        self.is_killed = False
        self.has_process = True
        self.left = container_looks
        self._silent = silent

    async def get(self, url: str, states: str = "", **_parameters: str) -> Any:
        if self._silent and self._silent in url:
            raise DaemonSilent(f"{url} does not answer")
        if url.endswith("/cluster/apps"):
            return {"apps": None if self.is_killed and states else {"app": [{"id": APPLICATION}]}}
        if url.endswith("/node/containers") and worker(2).private_ip in url and self.left:
            self.left -= 1
            if not self.left:
                asyncio.get_running_loop().call_later(0.4, self._end_process)
            return {"containers": {"container": [{"id": CONTAINER, "state": "KILLING"}]}}
        return {}

    async def put(self, url: str, body: Any) -> Any:
        assert url.endswith(f"/{APPLICATION}/state")
        assert body == {"state": "KILLED"}
        self.is_killed = True

    def _end_process(self) -> None:
        self.has_process = False


@pytest.mark.parametrize("silent", ["", worker(1).private_ip])
async def test_an_application_is_over_when_its_last_process_has_ended(silent: str):
    yarn = Yarn(3, silent)
    assert await TaggedJobs(Clusters(), yarn).end(1, "svc-command-7-1") == [APPLICATION]
    assert yarn.left == 0
    assert not yarn.has_process


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


class Queues:
    """A double of YARN with applications that have not ended: each an id, a queue, a state, tags and diagnostics."""

    def __init__(self, *applications: tuple[int, str, str, str, str]) -> None:
        self.applications = list(applications)
        self.containers = 0

    async def get(self, url: str, states: str = _LIVING, applicationTags: str = "") -> Any:  # noqa: N803  YARN's own
        assert url.endswith("/cluster/apps")
        entries = [
            {
                "id": f"application_1700000000000_{number:04}",
                "queue": queue,
                "state": state,
                "finalStatus": "UNDEFINED",
                "applicationTags": tags,
                "diagnostics": diagnostics,
                "runningContainers": self.containers,
            }
            for number, queue, state, tags, diagnostics in self.applications
            if state in states.split(",") and applicationTags in tags
        ]
        return {"apps": {"app": entries} if entries else None}


MINE = "svc-command-7-1"
NEXT = "waiting for YARN: it is next, without room for it yet"


async def looked(waits: Waits, times: int = 2) -> None:
    for _ in range(times):
        await waits.look([{"status": "ACCEPTED"}])


async def test_a_wait_in_a_queue_of_yarn_is_reported_when_it_changes():
    yarn, said = Queues(), list[str]()
    waits = Waits(TaggedJobs(Clusters(), yarn), 1, MINE, said.append)
    first, second = (9998, "default", "RUNNING", "x", ""), (9999, "default", "ACCEPTED", "", "")
    others = [(9997, "other", "RUNNING", "", ""), (10001, "default", "ACCEPTED", "", "")]
    own = (10000, "default", "ACCEPTED", f"x,{MINE}", "")
    for applications in ([first, second, *others, own], [first, second, own], [first, own], [own]):
        yarn.applications = applications
        await looked(waits)
    assert said == ["waiting for YARN: 2 jobs before it", "waiting for YARN: 1 job before it", NEXT]


async def test_a_wait_is_told_with_yarns_reason_once_although_its_time_and_its_node_change():
    words = "Application is added to the scheduler and is not yet activated. "
    words += " (Resource request: <memory:2816, vCores:1> exceeds the available resources of the node and the request "
    yarn, said = Queues(), list[str]()
    waits = Waits(TaggedJobs(Clusters(), yarn), 1, MINE, said.append)
    for second, end in ((11, "is reserved)"), (12, "cannot be reserved)"), (13, "is reserved)")):
        yarn.applications = [
            (1, "default", "RUNNING", "", ""),
            (2, "default", "ACCEPTED", MINE, f"[Wed Nov 25 07:46:{second} +0000 2026] {words}{end}"),
        ]
        await looked(waits)
    assert said == [
        "waiting for YARN: 1 job before it. "
        "Resource request (2,816 MB, 1 vCore) exceeds the available resources of the node"
    ]


async def test_an_application_that_waits_for_a_moment_or_for_its_master_to_start_is_not_reported():
    yarn, said = Queues((4, "default", "ACCEPTED", MINE, "")), list[str]()
    waits = Waits(TaggedJobs(Clusters(), yarn), 1, MINE, said.append)
    await looked(waits, times=1)
    yarn.containers = 1
    await looked(waits)
    assert said == []


async def test_each_job_of_a_script_tells_of_its_wait_and_of_its_end():
    yarn, said = Queues((4, "default", "ACCEPTED", MINE, "")), list[str]()
    waits = Waits(TaggedJobs(Clusters(), yarn), 1, MINE, said.append)
    await looked(waits)
    await waits.look([{"status": "RUNNING"}])
    await waits.look([{"status": "SUCCEEDED"}])
    await looked(waits)
    assert said == [NEXT, "started by YARN", NEXT]


@pytest.mark.parametrize("status", ["FAILED", "KILLED"])
async def test_an_application_that_ends_while_it_waits_was_not_started(status: str):
    said = list[str]()
    waits = Waits(TaggedJobs(Clusters(), Queues((4, "default", "ACCEPTED", MINE, ""))), 1, MINE, said.append)
    await looked(waits)
    await waits.look([{"status": status}])
    assert said == [NEXT]


async def test_a_command_whose_application_runs_does_not_wait():
    yarn = Queues((4, "default", "ACCEPTED", MINE, ""), (5, "default", "RUNNING", MINE, ""))
    said = list[str]()
    waits = Waits(TaggedJobs(Clusters(), yarn), 1, MINE, said.append)
    await looked(waits)
    await waits.look([{"status": "FAILED"}])
    assert said == []


@pytest.mark.parametrize("reason", [DaemonSilent("no answer"), DatabaseAway("away")])
async def test_a_wait_is_watched_while_yarn_or_the_database_is_silent_at_times(monkeypatch, reason):
    monkeypatch.setattr("svc_jupyter.service.runtimes.hadoop.tagged_jobs._WATCH_SECONDS", 0.01)
    told = asyncio.Event()

    class Fitful(Queues):
        """A double of YARN whose first answer does not come, for a reason of its own or of the service."""

        is_silent = True

        async def get(self, url: str, **parameters: str) -> Any:
            if self.is_silent:
                self.is_silent = False
                raise reason
            return await super().get(url, **parameters)

    yarn = Fitful((4, "default", "ACCEPTED", MINE, ""))
    watch = asyncio.create_task(Waits(TaggedJobs(Clusters(), yarn), 1, MINE, lambda _line: told.set()).watch())
    try:
        await asyncio.wait_for(told.wait(), 10)
    finally:
        watch.cancel()
