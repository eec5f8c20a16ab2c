"""What every Spark driver on a cluster shares: its Java, its settings, and a retry of its start."""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Iterable
from pathlib import PurePosixPath
from typing import Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.runtimes.hadoop.causes import last_words
from svc_jupyter.service.runtimes.hadoop.daemons import Programs

MEMORY: Final = "spark.driver.memory"
OPTIONS: Final = "spark.driver.extraJavaOptions"
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
    "spark.yarn.am.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",  # a master computes nothing
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
# Spark's jars come before its folders of settings, as its class archive needs it, unless other jars come first.
jars=JARS
choose() {
  before=${1%%FOLDER/*}
  after=${1#"$before"}
  after=${after#FOLDER/slf4j-api-*.jar:}  # spark-submit names this one of them by itself
  case "${before%/__spark_libs__/\\*:}" in  # which containers have, and which is empty
    "$1" | *.jar* | *"*"*) CLASSPATH=$1 ;;
    *) CLASSPATH=$jars${before:+:${before%:}}${after#FOLDER/\\*} is_first=1 ;;
  esac
}
last= chosen= is_first=
for word do
  shift
  if [ "$last" = -cp ] && [ -z "$chosen" ]; then
    choose "$word"
    chosen=1
  elif [ "$word" != --add-modules=jdk.incubator.vector ] && { [ "$word" != -cp ] || [ "$chosen" ]; }; then
    set -- "$@" "$word"
  fi
  last=$word
done
[ "$chosen" ] || choose "$CLASSPATH"
[ -z "$is_first" ] || set -- OPTIONS "$@"
export CLASSPATH
exec JAVA "$@"
"""


def java_program(programs: Programs) -> bytes:
    """Return the `bin/java` of a Java home for Spark: a script that starts from Spark's class archive.

    It drops an option of Spark's that not every Java supports. The class path is in a variable, since hundreds of names
    would fill every process list.
    """
    values = {
        "JARS": shlex.quote(":".join(map(str, programs.jars))),
        "FOLDER": shlex.quote(str(programs.library)),
        "OPTIONS": shlex.join(archive_options(programs.archive)) if programs.archive else "",
        "JAVA": shlex.quote(str(programs.java)),
    }
    return re.sub("|".join(values), lambda found: values[found[0]], _JAVA).encode()


def java_command(java: PurePosixPath, name: str, memory: str, folder: PurePosixPath, options: str = "") -> list[str]:
    """Return a driver's Java with its options, without class path and program; `folder` is its machine's.

    `java` is the path of a `java_program`; `options` are the user's (`OPTIONS`), as words of a shell.
    """
    return [
        "/bin/sh",
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
        *shlex.split(options),
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
