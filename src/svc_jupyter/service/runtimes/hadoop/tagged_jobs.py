"""YARN applications by a tag that they carry from their submission.

So a command's applications are found again whatever happened to the service and to the command's own process.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent
from svc_jupyter.service.runtimes.hadoop.queue_waits import wait_in
from svc_jupyter.service.runtimes.hadoop.yarn_rest import RUNNING, YarnRest

_BEFORE_ITS_START: Final = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED")
UNKNOWN_NOW: Final = (ClusterFailure, DaemonSilent, DatabaseAway)
"""Why the state of jobs may be unknown for a moment."""
_LIVING: Final = ",".join((*_BEFORE_ITS_START, RUNNING))
_FAILED: Final = ("FAILED", "KILLED")
_END_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.1
_DYING_SECONDS: Final = 1.0
"""How long a process may go on after its container has ended for YARN. A container is a shell that starts a Java: told
to end, the shell ends at once, the Java when it has cleaned up or is killed, 250 ms later. Until then it may write.
"""
_WATCH_SECONDS: Final = 1.0
_BEGINNING: Final = "svc-command-"


def tag_of(command_id: int, attempt: int) -> str:
    """Return the tag of an attempt's applications."""
    return f"{_BEGINNING}{command_id}-{attempt}"


def is_tag(name: str) -> bool:
    """Return whether a name is an attempt's tag."""
    return name.startswith(_BEGINNING)


class TaggedJobs:
    """Finds and ends applications. All raise `ClusterFailure` when the cluster is not UP, and `DaemonSilent`."""

    def __init__(self, clusters: Clusters, http: DaemonHttp) -> None:
        self._clusters = clusters
        self._http = http
        self._yarn = YarnRest(http)

    async def find(self, cluster_id: int, tags: Iterable[str]) -> list[dict[str, Any]]:
        """Return the applications with these tags that the cluster remembers, oldest first, as jobs of a command."""
        addresses = await self._addresses(cluster_id)
        found = []
        for tag in tags:
            found += [_job(application, addresses) for application in await self._applications(addresses, tag)]
        return sorted(found, key=lambda job: str(job["job_id"]))

    async def wait(self, cluster_id: int, tag: str) -> str | None:
        """Return why no application with the tag runs yet; None when one runs or there is none."""
        addresses = await self._addresses(cluster_id)
        answer = await self._http.get(f"{addresses.resource_manager_http}/ws/v1/cluster/apps", states=_LIVING)
        return wait_in((answer.get("apps") or {}).get("app") or (), tag)

    async def end(self, cluster_id: int, tag: str) -> list[str]:
        """End the applications with a tag; return the ids of the running ones, once none has a running process."""
        instance = await self._clusters.up_instance(cluster_id)
        addresses = Addresses.of(instance)
        ended: list[str] = []
        deadline = time.monotonic() + _END_SECONDS
        while living := await self._applications(addresses, tag, states=_LIVING):
            if time.monotonic() > deadline:
                raise DaemonSilent(f"{living[0]['id']} continues after the request to end it")
            for name in (str(application["id"]) for application in living):
                place = f"{addresses.resource_manager_http}/ws/v1/cluster/apps/{name}/state"
                await self._http.put(place, {"state": "KILLED"})
                if name not in ended:
                    ended.append(name)
            await asyncio.sleep(_LOOK_SECONDS)
        # YARN reports an application as finished before its processes end, which may write until then: also one that
        # its own program has ended.
        known = [str(application["id"]) for application in await self._applications(addresses, tag)]
        while time.monotonic() < deadline and await self._any_runs(instance.workers, known):  # noqa: ASYNC110  no event
            await asyncio.sleep(_LOOK_SECONDS)
        if known:
            await asyncio.sleep(_DYING_SECONDS)
        return ended

    async def _any_runs(self, workers: Sequence[Node], applications: Sequence[str]) -> bool:
        """Return whether a worker still has a container of these applications; a silent one counts as having none."""
        for worker in workers if applications else ():
            with suppress(DaemonSilent):
                holding = await self._yarn.holding(Addresses.node_manager_http(worker))
                if any(holding.containers.get(application) for application in applications):
                    return True
        return False

    async def _addresses(self, cluster_id: int) -> Addresses:
        return Addresses.of(await self._clusters.up_instance(cluster_id))

    async def _applications(self, addresses: Addresses, tag: str, **wanted: str) -> Sequence[Mapping[str, Any]]:
        place = f"{addresses.resource_manager_http}/ws/v1/cluster/apps"
        answer = await self._http.get(place, applicationTags=tag, **wanted)
        return (answer.get("apps") or {}).get("app") or ()


class Waits:
    """Reports an attempt's waits in YARN's queue: the jobs before it and YARN's reason, as they change, and the end."""

    def __init__(self, jobs: TaggedJobs, cluster_id: int, tag: str, say: Say) -> None:
        self._jobs = jobs
        self._cluster_id = cluster_id
        self._tag = tag
        self._say = say
        self._waited = False
        self._said: set[str] = set()

    async def look(self, found: Sequence[Mapping[str, Any]]) -> None:
        """Report the wait of the attempt's applications, as `TaggedJobs.find` returns them.

        Every application waits for a moment, so a wait is reported from the second look on.
        """
        words = None
        if any(job["status"] in _BEFORE_ITS_START for job in found):
            words = await self._jobs.wait(self._cluster_id, self._tag)
        if words is None:
            if self._said and any(job["status"] not in _FAILED for job in found):
                self._say("started by YARN")
            self._said.clear()  # the next job of a script may wait for the same reason
        elif self._waited and words not in self._said:  # two nodes may give two reasons in turn
            self._said.add(words)
            self._say(words)
        self._waited = words is not None

    async def watch(self) -> None:
        """Look once a second until cancelled."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            with suppress(*UNKNOWN_NOW):
                await self.look(await self._jobs.find(self._cluster_id, [self._tag]))


def _job(application: Mapping[str, Any], addresses: Addresses) -> dict[str, Any]:
    """Return an application as `GET commands/ID/jobs` shows it."""
    state, ending = str(application["state"]), str(application.get("finalStatus") or "UNDEFINED")
    return {
        "job_id": str(application["id"]).replace("application_", "job_", 1),
        "application_id": application["id"],
        "name": application.get("name") or "",
        "url": f"{addresses.resource_manager_http}/cluster/app/{application['id']}",
        "status": state if ending == "UNDEFINED" else ending,
        "progress": round(float(application.get("progress") or 0)),
    }
