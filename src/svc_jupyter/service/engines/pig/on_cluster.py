"""Pig on a Hadoop cluster: what a script needs to submit its jobs there, which jobs it has, and how they are ended.

Every job of an attempt carries the attempt's tag from its submission on. So what a script began is found again whatever
became of the service and of the script's own process in the meantime.
"""

from __future__ import annotations

import asyncio
import getpass
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol
from urllib.parse import quote, unquote, urlsplit

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.configuration import SITES
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonHttp, DaemonSilent
from svc_jupyter.service.engines.hadoop.nodes import client_folder
from svc_jupyter.service.engines.pig.cluster_properties import cluster_properties
from svc_jupyter.service.engines.pig.leftovers import begun_stores
from svc_jupyter.service.engines.progress import Say

_LIVING: Final = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
_END_SECONDS = 10.0
_LOOK_SECONDS = 0.1
TEMPORARY: Final = PurePosixPath("/tmp/pig")  # noqa: S108  a folder of HDFS, which is the cluster's own


class HistoryServers(Protocol):
    """Starts the history server of a cluster, which clients ask how a job ended."""

    async def ensure_history_server(self, instance: Instance, say: Say) -> None:
        """Return once it answers; raises `ClusterFailure` and `ProviderFailure`."""


def tag_of(command_id: int, attempt: int) -> str:
    """Return the tag that the jobs of an attempt carry in YARN."""
    return f"svc-command-{command_id}-{attempt}"


class PigOnCluster:
    """What Pig needs of clusters."""

    def __init__(self, clusters: Clusters, history: HistoryServers, http: DaemonHttp, programs: Path) -> None:
        """`programs` is the folder of the program that runs Python functions on this machine."""
        self._clusters = clusters
        self._history = history
        self._http = http
        self._programs = programs

    async def keep_history(self, task: Task, say: Say) -> None:
        """See to it that the cluster's history server answers; a script needs it when its first job has ended.

        Without it the script fails by itself, so that a failure is only said.
        """
        assert task.cluster_id is not None
        try:
            await self._history.ensure_history_server(await self._clusters.up_instance(task.cluster_id), say)
        except (ClusterFailure, ProviderFailure) as error:
            say(f"the history server of the cluster did not start: {error}")

    async def properties(self, task: Task, jars: Sequence[Path]) -> dict[str, str]:
        """Return the settings for a script that runs on the task's cluster; raises `ClusterFailure`.

        `jars` are Pig's own, some of which the tasks need, too.
        """
        assert task.cluster_id is not None
        instance = await self._clusters.up_instance(task.cluster_id)
        tag = tag_of(task.id, task.attempt)
        sites = await asyncio.to_thread(_sites, client_folder(instance))
        return cluster_properties(
            instance, sites, tag=tag, pool=task.pool, temporary=TEMPORARY / tag, jars=jars, programs=self._programs
        )

    async def end(self, task: Task) -> list[str]:
        """End the jobs of an attempt and remove what it has begun in HDFS; return what was done, in words.

        Raises `ClusterFailure` when the cluster is not UP any more, and `DaemonSilent`.
        """
        assert task.cluster_id is not None
        addresses = Addresses.of(await self._clusters.up_instance(task.cluster_id))
        done: list[str] = []
        deadline = time.monotonic() + _END_SECONDS
        while living := await self._applications(addresses, tag_of(task.id, task.attempt), states=_LIVING):
            if time.monotonic() > deadline:
                raise DaemonSilent(f"{living[0]['id']} goes on although it was told to end")
            for name in (str(application["id"]) for application in living):
                place = f"{addresses.resource_manager_http}/ws/v1/cluster/apps/{name}/state"
                await self._http.put(place, {"state": "KILLED"})
                if f"ended {name}" not in done:
                    done.append(f"ended {name}")
            await asyncio.sleep(_LOOK_SECONDS)
        for location in begun_stores(task.folder):
            uri = urlsplit(location)
            if uri.scheme == "hdfs" and await self._delete(addresses, unquote(uri.path)):
                done.append(f"removed {location}, which the script had begun to store")
        return done

    async def remove_temporary(self, task: Task) -> None:
        """Remove the temporary files of an attempt; raises as `end`."""
        assert task.cluster_id is not None
        addresses = Addresses.of(await self._clusters.up_instance(task.cluster_id))
        await self._delete(addresses, str(TEMPORARY / tag_of(task.id, task.attempt)))

    async def jobs(self, cluster_id: int, tags: Iterable[str]) -> list[dict[str, Any]]:
        """Return the jobs with these tags that the cluster remembers, oldest first; raises as `end`."""
        addresses = Addresses.of(await self._clusters.up_instance(cluster_id))
        found = []
        for tag in tags:
            found += [_job(application, addresses) for application in await self._applications(addresses, tag)]
        return sorted(found, key=lambda job: str(job["job_id"]))

    async def _applications(self, addresses: Addresses, tag: str, **wanted: str) -> Sequence[Mapping[str, Any]]:
        place = f"{addresses.resource_manager_http}/ws/v1/cluster/apps"
        answer = await self._http.get(place, applicationTags=tag, **wanted)
        return (answer.get("apps") or {}).get("app") or ()

    async def _delete(self, addresses: Addresses, path: str) -> bool:
        """Delete a file or folder of HDFS with all in it; return whether there was one."""
        place = f"{addresses.name_node_http}/webhdfs/v1{quote(path)}"
        answer = await self._http.delete(place, op="DELETE", recursive="true", **{"user.name": getpass.getuser()})
        return bool(answer["boolean"])


def _sites(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in SITES]


def _job(application: Mapping[str, Any], addresses: Addresses) -> dict[str, Any]:
    """Return an application of YARN as `GET commands/ID/jobs` shows it."""
    state, ending = str(application["state"]), str(application.get("finalStatus") or "UNDEFINED")
    return {
        "job_id": str(application["id"]).replace("application_", "job_", 1),
        "application_id": application["id"],
        "name": application.get("name") or "",
        "url": f"{addresses.resource_manager_http}/cluster/app/{application['id']}",
        "status": state if ending == "UNDEFINED" else ending,
        "progress": round(float(application.get("progress") or 0)),
    }
