"""Settings of Pig for a script that runs on a Hadoop cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.kinds.pig.command_line import PYTHON, RUNNER_JAR
from svc_jupyter.service.runtimes.hadoop.site_files import settings_in

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
