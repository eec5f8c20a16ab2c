"""Settings of Pig for a script that runs on a Hadoop cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final
from xml.etree import ElementTree

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.engines.pig.command_line import PYTHON
from svc_jupyter.service.engines.pig.runner_jar import RUNNER_JAR

_NEEDED_BY_TASKS: Final = ("commons-collections-", RUNNER_JAR.file)
"""Pig's tasks use them, and neither Pig nor Hadoop 3.5 brings them along."""
_COMMITTERS: Final = {"mapreduce.outputcommitter.factory.class": "svc.jupyter.pig.InMasterCommitterFactory"}
JARS: Final = PurePosixPath("/var/pig")
"""The folder of HDFS for jars that jobs have in common; which goes with the cluster."""
_ALWAYS: Final = {
    "pig.use.overriden.hadoop.configs": "true",  # the settings are these, not files on the class path
    # Milliseconds between two looks at a job.
    "pig.jobcontrol.sleep": "50",
    "mapreduce.client.completion.pollinterval": "50",
    # Who does not answer is asked again soon; and the history server, started with the first script, for a minute.
    "ipc.client.connect.retry.interval": "200",
    "yarn.app.mapreduce.client.max-retries": "30",
    "pig.gc.default.params": "-XX:+UseSerialGC",
    # Pig's own jars lie in HDFS once, and each node fetches them once: both take a second of every job otherwise.
    "pig.user.cache.enabled": "true",
    "pig.user.cache.location": str(JARS),
    # Pig gives every file system the job's working folder, which as a URI would fit one of them only.
    "mapreduce.job.working.dir": "/",
    # A small job runs in its master: that saves starting a Java for each of its tasks, most of its time.
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
    """Return the settings of a script whose jobs carry `tag` and run in `pool`; the cluster's own lines count last.

    `sites` are the settings for programs that use the cluster, as they were written at its start.
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
    if instance.provider == "local":  # where a master that lost its cluster cannot go on beside the next one
        settings |= _COMMITTERS
    if pool is not None:
        settings["mapreduce.job.queuename"] = pool
    return settings | instance.configuration.custom_settings


def settings_in(site: bytes) -> dict[str, str]:
    """Return the properties of a `*-site.xml` of ours."""
    root = ElementTree.fromstring(site)  # noqa: S314  written by this program
    return {entry.findtext("name", ""): entry.findtext("value", "") for entry in root.iterfind("property")}


def _python(instance: Instance, programs: Path) -> dict[str, str]:
    """Return what lets tasks run Python functions: the service's own Python where nodes are on its machine."""
    if instance.provider != "local":
        return {"pig.streaming.udf.python.command": "python3"}
    path = f"PATH={programs}:$PATH"
    environments = ("mapreduce.map.env", "mapreduce.reduce.env", "yarn.app.mapreduce.am.env")
    return {"pig.streaming.udf.python.command": PYTHON, **dict.fromkeys(environments, path)}
