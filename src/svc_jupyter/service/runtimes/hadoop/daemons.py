"""Command lines of Hadoop's daemons, and their small files in addition to the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, Self

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.providers.provider import Daemon, Machine
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.runtimes.hadoop.own_address import OPTIONS


class HadoopDaemon(StrEnum):
    """A daemon, by the name of its process and its log files."""

    NAME_NODE = "namenode"
    DATA_NODE = "datanode"
    RESOURCE_MANAGER = "resourcemanager"
    NODE_MANAGER = "nodemanager"
    HISTORY_SERVER = "historyserver"


OF_ROLE: Final[Mapping[NodeRole, Sequence[HadoopDaemon]]] = {
    NodeRole.MASTER: (HadoopDaemon.NAME_NODE, HadoopDaemon.RESOURCE_MANAGER, HadoopDaemon.DATA_NODE),
    NodeRole.WORKER: (HadoopDaemon.NODE_MANAGER,),
}
"""The daemons that always run on a node, in start order. The history server starts with the first job."""

_MAIN: Final = {
    HadoopDaemon.NAME_NODE: "org.apache.hadoop.hdfs.server.namenode.NameNode",
    HadoopDaemon.DATA_NODE: "org.apache.hadoop.hdfs.server.datanode.DataNode",
    HadoopDaemon.RESOURCE_MANAGER: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    HadoopDaemon.NODE_MANAGER: "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    HadoopDaemon.HISTORY_SERVER: "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
}
_HEAP_MEGABYTES: Final = {HadoopDaemon.RESOURCE_MANAGER: 128}
_USUAL_HEAP_MEGABYTES: Final = 96
_OPENED: Final = ("lang", "util", "net", "io", "nio")
"""Java packages that Hadoop accesses by reflection."""

# Formatting writes the mark last: a NameNode that was killed while it formatted starts over.
_FORMAT_ONCE: Final = """mark=$1; shift
[ -e "$mark" ] || { "$@" -format -force -nonInteractive >&2 && : >"$mark"; } || exit
exec "$@\""""

_LOG_LINE: Final = "%d{ISO8601} %p %c{2}: %m%n"
_QUIET: Final = "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR"
LOG4J: Final = f"""log4j.rootLogger=INFO,file,console
log4j.appender.file=org.apache.log4j.RollingFileAppender
log4j.appender.file.File=${{hadoop.log.dir}}/${{hadoop.log.file}}
log4j.appender.file.MaxFileSize=8MB
log4j.appender.file.MaxBackupIndex=2
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern={_LOG_LINE}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.Threshold=ERROR
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern={_LOG_LINE}
log4j.logger.http.requests=WARN
{_QUIET}
""".encode()
"""Logging of daemons: a rolling file, and the reason of an end to stderr."""
CLIENT_LOG4J: Final = f"""log4j.rootLogger=WARN,console
log4j.logger.org.apache.hadoop.mapreduce.Job=INFO
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern={_LOG_LINE}
{_QUIET}
""".encode()
"""Logging of clients: stderr, including the progress of jobs."""
_WEB_XML: Final = b'<?xml version="1.0"?>\n<web-app xmlns="http://java.sun.com/xml/ns/javaee" version="3.0"/>\n'
_WEBAPPS: Final = ("hdfs", "datanode", "static")


@dataclass(frozen=True, slots=True)
class Programs:
    """Paths of Java and an engine's jars on a machine; `archive` is the class archive of exactly these jars."""

    java: PurePosixPath
    jars: Sequence[PurePosixPath]
    archive: PurePosixPath | None = None

    @classmethod
    async def on(cls, machine: Machine, installed: Installed) -> Self:
        """Return the paths of an engine on a machine, copied there where it is another one than this."""
        jars = await machine.engine(installed.name, installed.jars)
        is_here = list(jars) == [PurePosixPath(jar) for jar in installed.jars]
        # An archive depends on the paths of the jars and on the build of Java: it is useless elsewhere.
        archive = PurePosixPath(installed.class_archive) if installed.class_archive and is_here else None
        return cls(await machine.java(), jars, archive)

    @property
    def library(self) -> PurePosixPath:
        """The folder of Hadoop's own jars."""
        return self.jars[0].parent

    @property
    def additions(self) -> PurePosixPath:
        """The folder of the jar that containers need, too: the last one of those made at the installation."""
        return self.jars[-1].parent


def daemon_of(kind: HadoopDaemon, programs: Programs, address: str, folder: PurePosixPath, user: str) -> Daemon:
    """Return the daemon's command line on the machine with this address and folder, as this Hadoop user."""
    argv = java_command(kind, programs, address, folder)
    if kind is HadoopDaemon.NAME_NODE:
        argv = ["/bin/sh", "-c", _FORMAT_ONCE, "sh", str(folder / "data" / "formatted"), *argv]
    return Daemon(kind.value, argv, environment(programs, folder, user))


def environment(programs: Programs, folder: PurePosixPath, user: str) -> dict[str, str]:
    """Return a daemon's variables; containers get those that YARN passes on by name."""
    return {
        "JAVA_HOME": str(programs.java.parent.parent),
        "HADOOP_CONF_DIR": str(folder / "conf"),
        "HADOOP_COMMON_HOME": str(programs.library),
        "HADOOP_YARN_HOME": str(programs.additions),
        "HADOOP_USER_NAME": user,
        # The C library's per-thread arenas would take more memory than the daemon's classes.
        "MALLOC_ARENA_MAX": "2",
    }


def java_command(kind: HadoopDaemon, programs: Programs, address: str, folder: PurePosixPath) -> list[str]:
    """Return a daemon's command line: small heap, fast start, and exit when memory is exhausted."""
    heap = _HEAP_MEGABYTES.get(kind, _USUAL_HEAP_MEGABYTES)
    class_path = ":".join(map(str, (*programs.jars, folder / "conf")))
    return [
        str(programs.java),
        f"-Dproc_{kind.value}",
        f"-Xmx{heap}m",
        *java_options(programs),
        f"-Dsvc.address={address}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dhadoop.log.dir={folder / 'logs'}",
        f"-Dhadoop.log.file={kind.value}.log",
        "-cp",
        class_path,
        _MAIN[kind],
    ]


def java_options(programs: Programs) -> list[str]:
    """Return the Java options of every daemon."""
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    archive = archive_options(programs.archive) if programs.archive else []
    return [
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:MaxMetaspaceSize=128m",
        "-XX:ReservedCodeCacheSize=48m",
        "-Xss512k",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.net.preferIPv4Stack=true",
        *archive,
        *opened,
        *OPTIONS,
        "--add-opens=java.base/sun.net.dns=ALL-UNNAMED",
    ]


def task_options(programs: Programs) -> str:
    """Return options with which the masters and tasks of jobs use the class archive, too; none without one.

    They then start in half the time. Hadoop's jars come before the job's own, as they do by default.
    """
    if programs.archive is None:
        return ""
    return " ".join([*archive_options(programs.archive), "-cp", ":".join(map(str, programs.jars)) + ":$CLASSPATH"])


def small_files() -> dict[str, bytes]:
    """Return the daemons' files in addition to the settings, below the node's folder.

    HDFS's jar lacks its web pages; with these placeholders its JMX and WebHDFS still answer.
    """
    stubs = {f"conf/webapps/{name}/WEB-INF/web.xml": _WEB_XML for name in _WEBAPPS}
    return {"conf/log4j.properties": LOG4J, **stubs}
