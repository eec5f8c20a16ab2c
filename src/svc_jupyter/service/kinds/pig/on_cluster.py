"""Pig on a Hadoop cluster: the settings to submit a script's jobs, the list of its jobs, and their end.

Every job of an attempt carries the attempt's tag from its submission, so its jobs are found again whatever happened to
the service and to the script's own process.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import ProviderFailure
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.background import insist
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.kinds.pig.command_line import PYTHON, RUNNER_JAR
from svc_jupyter.service.kinds.pig.leftovers import begun_stores
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.configuration import SITES
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine
from svc_jupyter.service.runtimes.hadoop.nodes import client_folder
from svc_jupyter.service.runtimes.hadoop.site_files import settings_in
from svc_jupyter.service.runtimes.hadoop.tagged_jobs import TaggedJobs, Waits, tag_of

TEMPORARY: Final = PurePosixPath("/tmp/pig")  # noqa: S108  a folder of HDFS, which is the cluster's own


class PigOnCluster:
    """What Pig needs of clusters."""

    def __init__(self, clusters: Clusters, history: HadoopEngine, http: DaemonHttp, programs: Path) -> None:
        """`programs` is the folder of the program that runs Python functions on this machine."""
        self._clusters = clusters
        self._history = history
        self._http = http
        self._jobs = TaggedJobs(clusters, http)
        self._programs = programs

    async def keep_history(self, task: Task, say: Say) -> None:
        """Make sure that the cluster's history server answers; a script needs it when its first job has ended.

        A failure is only logged, since the script then fails by itself.
        """
        try:
            instance = await insist(partial(self._clusters.up_instance, task.cluster_id))
            await self._history.ensure_history_server(instance, say)
        except (ClusterFailure, ProviderFailure) as error:
            say(f"the history server of the cluster did not start: {error}")

    async def report_waits(self, task: Task, say: Say) -> None:
        """Report whenever the task's jobs wait for YARN, until cancelled."""
        assert task.cluster_id is not None
        await Waits(self._jobs, task.cluster_id, tag_of(task.id, task.attempt), say).watch()

    async def properties(self, task: Task, jars: Sequence[Path]) -> dict[str, str]:
        """Return the settings for a script that runs on the task's cluster; raises `ClusterFailure`.

        `jars` are Pig's own; the tasks need some of them.
        """
        instance = await self._clusters.up_instance(task.cluster_id)
        tag = tag_of(task.id, task.attempt)
        sites = await asyncio.to_thread(_sites, client_folder(instance))
        return cluster_properties(
            instance, sites, tag=tag, pool=task.pool, temporary=TEMPORARY / tag, jars=jars, programs=self._programs
        )

    async def end(self, task: Task) -> list[str]:
        """End the jobs of an attempt and remove what it has begun in HDFS; return a description of it.

        Raises `ClusterFailure` when the cluster is no longer UP, and `DaemonSilent`.
        """
        assert task.cluster_id is not None
        addresses = Addresses.of(await self._clusters.up_instance(task.cluster_id))
        done = [f"ended {name}" for name in await self._jobs.end(task.cluster_id, tag_of(task.id, task.attempt))]
        for location in begun_stores(task.folder):
            uri = urlsplit(location)
            if uri.scheme == "hdfs" and await self._delete(addresses, unquote(uri.path)):
                done.append(f"removed {location}, which the script had begun to store")
        return done

    async def remove_temporary(self, task: Task) -> None:
        """Remove the temporary files of an attempt; raises as `end`."""
        addresses = Addresses.of(await self._clusters.up_instance(task.cluster_id))
        await self._delete(addresses, str(TEMPORARY / tag_of(task.id, task.attempt)))

    async def jobs(self, cluster_id: int, tags: Iterable[str]) -> list[dict[str, Any]]:
        """Return the jobs with these tags that the cluster remembers, oldest first; raises as `end`."""
        return await self._jobs.find(cluster_id, tags)

    async def _delete(self, addresses: Addresses, path: str) -> bool:
        """Delete a file or folder of HDFS recursively; return whether it existed."""
        place = f"{addresses.name_node_http}/webhdfs/v1{quote(path)}"
        answer = await self._http.delete(place, op="DELETE", recursive="true", **{"user.name": getpass.getuser()})
        return bool(answer["boolean"])


def _sites(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in SITES]


_NEEDED_BY_TASKS: Final = ("commons-collections-", RUNNER_JAR.file)
"""Pig's tasks use them, and neither Pig nor Hadoop 3.5 includes them."""
_COMMITTERS: Final = {"mapreduce.outputcommitter.factory.class": "svc.jupyter.pig.InMasterCommitterFactory"}
JARS: Final = PurePosixPath("/var/pig")
"""The HDFS folder of jars that jobs share; it is removed with the cluster."""
_ALWAYS: Final = {
    "pig.use.overriden.hadoop.configs": "true",  # use these settings, not files on the class path
    # Milliseconds between two polls of a job.
    "pig.jobcontrol.sleep": "50",
    "mapreduce.client.completion.pollinterval": "50",
    # Retry an unreachable daemon soon; retry the history server, started with the first script, for a minute.
    "ipc.client.connect.retry.interval": "200",
    "yarn.app.mapreduce.client.max-retries": "30",
    "pig.gc.default.params": "-XX:+UseSerialGC",
    # Keep Pig's own jars in HDFS once and fetch them once per node: both take a second of every job otherwise.
    "pig.user.cache.enabled": "true",
    "pig.user.cache.location": str(JARS),
    # Pig gives every file system the job's working folder, which as a URI would fit only one of them.
    "mapreduce.job.working.dir": "/",
    # A small job runs in its master, which saves the start of a Java per task, most of its time.
    "mapreduce.job.ubertask.enable": "true",
    "mapreduce.job.ubertask.maxbytes": "134217728",
}


def cluster_properties(
    instance: Instance,
    sites: Iterable[bytes],
    *,
    tag: str,
    pool: str | None,
    temporary: PurePosixPath,
    jars: Sequence[Path],
    programs: Path,
) -> dict[str, str]:
    """Return the settings of a script whose jobs carry `tag` and run in `pool`; the cluster's own settings take
    precedence.

    `sites` are the client settings written at the cluster's start.
    """
    settings: dict[str, str] = {}
    for file in sites:
        settings |= settings_in(file)
    settings |= _ALWAYS
    settings |= {
        "mapreduce.job.tags": tag,
        "jobName": tag,
        "pig.temp.dir": str(temporary),
        "pig.additional.jars": ",".join(str(jar) for jar in jars if jar.name.startswith(_NEEDED_BY_TASKS)),
        **_python(instance, programs),
    }
    if instance.provider == "local":  # where a master that lost its cluster cannot continue beside its successor
        settings |= _COMMITTERS
    if pool is not None:
        settings["mapreduce.job.queuename"] = pool
    return settings | instance.configuration.custom_settings


def _python(instance: Instance, programs: Path) -> dict[str, str]:
    """Return what lets tasks run Python functions: the service's own Python where nodes are on its machine."""
    if instance.provider != "local":
        return {"pig.streaming.udf.python.command": "python3"}
    path = f"PATH={programs}:$PATH"
    environments = ("mapreduce.map.env", "mapreduce.reduce.env", "yarn.app.mapreduce.am.env")
    return {"pig.streaming.udf.python.command": PYTHON, **dict.fromkeys(environments, path)}
