"""Hadoop's client as a process of a command: its settings, command line and failure."""

from __future__ import annotations

import getpass
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.processes.output import last_lines
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.causes import explained
from svc_jupyter.service.runtimes.hadoop.configuration import CORE, MAPRED, client_sites
from svc_jupyter.service.runtimes.hadoop.daemons import CLIENT_LOG4J
from svc_jupyter.service.runtimes.hadoop.site_files import settings_in, site_file
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.s3.account_store import StoreClient

_OPTIONS: Final = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
)
_OPENED: Final = ("java.lang", "java.util", "java.net", "java.io", "java.nio")
_TELLING: Final = re.compile(
    r"^(?:Error: |Caused by: |Exception in thread|\S*(?:Exception|Error): )|\bERROR\b| failed "
)
_STAMP: Final = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:INFO|WARN|ERROR|FATAL) ")
_STACK: Final = re.compile(r"^\s+at |^\s*\.\.\. \d+ more")
_LINES_SHOWN: Final = 5


def settings_files(
    instance: Instance, folder: Path, tag: str, pool: str | None, store: StoreClient
) -> dict[str, bytes]:
    """Return the client's files by name; its MapReduce jobs carry `tag`, run in `pool`, and can open `store`."""
    custom = instance.configuration.custom_settings
    sites = client_sites(Addresses.of(instance), PurePosixPath(folder), custom)
    mapred = settings_in(sites[MAPRED]) | {"mapreduce.job.tags": tag}
    if pool is not None:
        mapred["mapreduce.job.queuename"] = pool
    if store.jars:
        mapred["tmpjars"] = ",".join(jar.as_uri() for jar in store.jars)
    core = {**settings_in(sites[CORE]), **store.access.settings}
    return {**sites, CORE: site_file(core), MAPRED: site_file(mapred), "log4j.properties": CLIENT_LOG4J}


def command_line(java: Path, installed: Installed, tools: Sequence[Path], conf: Path, scratch: Path) -> list[str]:
    """Return the client's program and options, which a main class follows; `tools` are jars beside Hadoop's own."""
    archive = archive_options(installed.class_archive) if installed.class_archive else []
    return [
        str(java),
        *_OPTIONS,
        *archive,
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        f"-Djava.io.tmpdir={scratch}",
        "-cp",
        class_path(installed.jars, *tools, conf),
    ]


def environment(inherited: Mapping[str, str], java: Path, conf: Path, secrets: Path) -> dict[str, str]:
    """Return the client's environment; `secrets` is the file with the secrets of its settings."""
    return {
        **inherited,
        "JAVA_HOME": str(java.parent.parent),
        "HADOOP_CONF_DIR": str(conf),
        "HADOOP_USER_NAME": getpass.getuser(),
        token_file.VARIABLE: str(secrets),
    }


def failure_text(log: Path, start: int, code: int | None) -> str:
    """Return why the client failed: its last meaningful message, without Java stack traces."""
    if code is None:
        return "the client is gone without an exit code: it was killed, or the machine was restarted"
    lines = last_lines(log, start)
    telling = [_STAMP.sub("", line).strip() for line in lines if _TELLING.search(line) and not _STACK.match(line)]
    shown = list(dict.fromkeys(telling))[-_LINES_SHOWN:] or lines[-_LINES_SHOWN:]
    return explained("\n".join([f"the program exited with code {code}", *shown]))
