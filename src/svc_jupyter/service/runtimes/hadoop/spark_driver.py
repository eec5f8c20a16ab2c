"""What every Spark driver on a cluster shares: its Java, its settings, and a retry of its start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import PurePosixPath
from typing import Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.runtimes.hadoop.causes import last_words

FORMATS: Final = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
AVRO: Final = b"org.apache.spark.sql.avro.AvroFileFormat\n"
"""Spark has the format, but does not register its name (`USING avro`)."""
_OPENED: Final = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
)
_ON_YARN: Final = {
    "spark.submit.deployMode": "client",
    "spark.yarn.am.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "2",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.executorIdleTimeout": "60s",
    "spark.yarn.submit.waitAppCompletion": "true",
    "spark.yarn.report.interval": "500ms",
    "spark.yarn.scheduler.heartbeat.interval-ms": "500",
    "spark.yarn.scheduler.initial-allocation.interval": "100ms",
    "spark.yarn.maxAppAttempts": "1",
}
_JAVA: Final = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec "JAVA" "$@"
"""


def java_program(java: PurePosixPath) -> bytes:
    """Return the `bin/java` of a Java home for Spark: it drops an option of Spark's that not every Java supports."""
    return _JAVA.replace("JAVA", str(java)).encode()


def java_command(java: PurePosixPath, name: str, memory: str, folder: PurePosixPath) -> list[str]:
    """Return a driver's Java with its options, without class path and program; `folder` is its machine's."""
    return [
        str(java),
        f"-Dproc_{name}",
        f"-Xmx{memory}",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Xss4m",  # the parser recurses deeply in long queries
        "-Djava.net.preferIPv4Stack=true",
        "-Djdk.reflect.useDirectMethodHandle=false",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dderby.system.home={folder / 'tmp'}",
    ]


def wiring(
    address: str,
    folder: PurePosixPath,
    warehouse: str,
    jars: Iterable[str | PurePosixPath],
    java_home: PurePosixPath,
) -> dict[str, str]:
    """Return the settings that a cluster's `custom_config` must not change.

    Masters and executors on YARN find their files, which are already on their machine, by them. `jars` are files, or
    folders with a `/*` suffix.
    """
    return {
        "spark.driver.host": address,
        "spark.driver.bindAddress": address,
        "spark.local.dir": str(folder / "tmp" / "spark"),
        "spark.sql.warehouse.dir": warehouse,
        "spark.sql.catalogImplementation": "hive",
        "spark.yarn.jars": ",".join(f"local:{each}" for each in jars),
        "spark.yarn.populateHadoopClasspath": "false",
        "spark.yarn.appMasterEnv.JAVA_HOME": str(java_home),
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.executorEnv.JAVA_HOME": str(java_home),
    }


def tuning(*, is_on_yarn: bool) -> dict[str, str]:
    """Return the settings that a cluster's `custom_config` may change."""
    shared = {
        "spark.scheduler.mode": "FAIR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
    }
    return shared | _ON_YARN if is_on_yarn else shared


_LOST: Final = "ConcurrentModificationException"
"""Its error when YARN sends it a filter for its web pages at the moment they start."""
_SHOWN: Final = 500
Started = TypeVar("Started")


async def started(start: Callable[[], Awaitable[Started]], name: str, say: Say) -> Started:
    """Start a driver by `start`, with one retry after the race; return its result. Raises `ClusterFailure`."""
    try:
        return await start()
    except ClusterFailure as failure:
        if _LOST not in failure.message:
            raise
    say(f"starting {name} again: it fell over its own pages")
    return await start()


def last_words_of(output: str) -> str:
    """Return the line that explains a driver's end: the one about the race, or else the last meaningful one."""
    lost = next((line.strip() for line in reversed(output.splitlines()) if _LOST in line), None)
    return lost[:_SHOWN] if lost else last_words(output)
