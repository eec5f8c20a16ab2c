"""Class archives (AppCDS): an engine's classes as the JVM has them in memory, which halve its start time.

An archive depends on the build of Java and on the exact jars at the start of the class path. Its classes come from a
list in the package (`class_lists/`, recorded from the real daemons and packed, see `merge_class_lists.py`). Making an
archive takes half a minute, once per Java.
"""

from __future__ import annotations

import hashlib
import lzma
from importlib.resources import files
from pathlib import Path, PurePath

from svc_jupyter.files import replacing
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.installs.failures import ArchiveFailed
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.processes.tool import run

_PACKAGE = "svc_jupyter.service.installs.class_lists"
_SECONDS = 600.0
_KEPT = 2
"""Archives kept per engine: two users of the folder with different Javas do not remove each other's."""


def list_name(name: str, version: str) -> str:
    """Return the name of the file that lists an engine's classes."""
    return f"{name}-{version}.classes.xz"


def has_list(name: str, version: str) -> bool:
    """Return whether the package has a class list for this version of an engine."""
    return (files(_PACKAGE) / list_name(name, version)).is_file()


def archive_path(installed: Installed, java: JavaHome) -> Path:
    """Return the path of the archive of these jars for this Java, which may not exist yet."""
    digest = hashlib.sha256(class_path(installed.jars).encode()).hexdigest()
    return installed.home / "archives" / f"{java.key}-{digest[:10]}.jsa"


def archive_options(archive: PurePath) -> list[str]:
    """Return Java's options to start from an archive; if it does not fit, Java starts without it.

    The archive is mapped at the address it was made for. If newer Java moves it, to hide addresses, all its pages
    become private: four daemons of Hadoop then took 815 MB instead of 563 (622 without any archive), each 0.2 s later.
    """
    fixed = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
    return ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}", *fixed]


async def make_archive(installed: Installed, java: JavaHome) -> Path:
    """Make the archive and return it; raises `ArchiveFailed`. The caller makes sure that only one process makes it."""
    target = archive_path(installed, java)
    target.parent.mkdir(mode=0o700, exist_ok=True)
    classes = target.with_suffix(".classes")
    arguments = ["-Xmx1g", "-XX:+UseSerialGC", f"-XX:SharedClassListFile={classes}"]
    arguments += ["-Xlog:disable", "-Xlog:all=error:stderr", "-cp", class_path(installed.jars)]
    try:
        packed = files(_PACKAGE) / list_name(installed.name, installed.version)
        classes.write_bytes(lzma.decompress(packed.read_bytes()))
        with replacing(target) as draft:
            ended = await run(
                [java.java, "-Xshare:dump", f"-XX:SharedArchiveFile={draft}", *arguments], seconds=_SECONDS
            )
            if ended.code or not draft.is_file():
                raise ArchiveFailed(f"{_nothing_made(installed, java)}:\n{ended.last_lines}")
        _remove_old(target.parent)
    except (OSError, TimeoutError) as error:
        reason = str(error) or "it took too long"
        raise ArchiveFailed(f"{_nothing_made(installed, java)}: {reason}") from error
    finally:
        classes.unlink(missing_ok=True)
    return target


def _remove_old(folder: Path) -> None:
    """Keep only the newest archives: those of replaced Javas and jars are never used again."""
    archives = sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime, reverse=True)
    for archive in archives[_KEPT:]:
        archive.unlink(missing_ok=True)


def _nothing_made(installed: Installed, java: JavaHome) -> str:
    return f"Java {java.version} made no class archive of {installed.name}"
