"""Command line of Presto's server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.providers.provider import Daemon
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.runtimes.hadoop.own_address import OPTIONS

NAME: Final = "presto"
"""The daemon's name, the same on coordinator and workers."""
_MAIN: Final = "com.facebook.presto.server.PrestoServer"
_OPENED: Final = (
    "io",
    "lang",
    "lang.ref",
    "lang.reflect",
    "net",
    "nio",
    "security",
    "text",
    "time",
    "util",
    "util.concurrent",
    "util.regex",
)
"""Java packages that Presto and its plug-ins access by reflection."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Paths of Java and Presto's files on a machine; `archive` is the class archive of exactly these jars."""

    java: PurePosixPath
    jars: Sequence[PurePosixPath]
    plugins: Sequence[PurePosixPath]
    archive: PurePosixPath | None = None


def daemon_of(programs: Programs, address: str, folder: PurePosixPath, heap_megabytes: int) -> Daemon:
    """Return the server's command line on the machine with this address and folder."""
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in _OPENED]
    argv = [
        str(programs.java),
        f"-Dproc_{NAME}",
        f"-Xmx{heap_megabytes}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=128m",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        *(archive_options(programs.archive) if programs.archive else []),
        *opened,
        "--add-opens=java.base/sun.security.ssl=ALL-UNNAMED",
        "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
        # Presto opens Java's management to itself; all its sockets, and Thrift's, must be at the node's address.
        "-Djdk.attach.allowAttachSelf=true",
        f"-Dcom.sun.management.jmxremote.host={address}",
        f"-Djava.rmi.server.hostname={address}",
        *OPTIONS,
        f"-Dsvc.address={address}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dconfig={folder / 'etc' / 'config.properties'}",
        f"-Dlog.levels-file={folder / 'etc' / 'log.properties'}",
        "-cp",
        ":".join(map(str, programs.jars)),
        _MAIN,
    ]
    return Daemon(NAME, argv, {"JAVA_HOME": str(programs.java.parent.parent), "MALLOC_ARENA_MAX": "2"})
