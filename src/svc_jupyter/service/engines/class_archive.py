"""Class archives (AppCDS): the classes of an engine as the JVM has them in memory, so that it starts in half the time.

An archive is bound to the build of Java and to the exact jars first on the class path. Which classes go into it is
a list in the package (`class_lists/`, recorded from the real daemons, see `merge_class_lists.py`). Dumping them takes
half a minute, once per Java.
"""

from __future__ import annotations

import hashlib
from importlib.resources import as_file, files
from pathlib import Path, PurePath

from svc_jupyter.service.engines.engine import Installed, class_path
from svc_jupyter.service.engines.failures import ArchiveFailed
from svc_jupyter.service.engines.java import JavaHome
from svc_jupyter.service.engines.process import run

_PACKAGE = "svc_jupyter.service.engines.class_lists"
_SECONDS = 600.0
_KEPT = 2
"""Archives of one engine: two users of the folder with different Javas do not take each other's away."""


def list_name(name: str, version: str) -> str:
    """Return the name of the file that lists an engine's classes."""
    return f"{name}-{version}.classes"


def has_list(name: str, version: str) -> bool:
    """Whether the package knows the classes of this version of an engine."""
    return (files(_PACKAGE) / list_name(name, version)).is_file()


def archive_path(installed: Installed, java: JavaHome) -> Path:
    """Return where the archive of these jars for this Java lies, or will."""
    digest = hashlib.sha256(class_path(installed.jars).encode()).hexdigest()
    return installed.home / "archives" / f"{java.key}-{digest[:10]}.jsa"


def archive_options(archive: PurePath) -> list[str]:
    """Return Java's options to start from an archive; where it does not fit, Java goes on without.

    The archive is mapped at the address it was made for. Moved, as newer Java does to hide addresses, all its pages
    become private: four daemons of Hadoop then took 815 MB instead of 563 (622 without any archive), each 0.2 s later.
    """
    fixed = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
    return ["-Xshare:auto", f"-XX:SharedArchiveFile={archive}", *fixed]


async def make_archive(installed: Installed, java: JavaHome) -> Path:
    """Return the archive, made; raises `ArchiveFailed`. The caller sees to it that one process makes it."""
    target = archive_path(installed, java)
    target.parent.mkdir(mode=0o700, exist_ok=True)
    draft = target.with_suffix(".draft")
    with as_file(files(_PACKAGE) / list_name(installed.name, installed.version)) as classes:
        arguments = ["-Xshare:dump", "-Xmx1g", "-XX:+UseSerialGC", f"-XX:SharedClassListFile={classes}"]
        arguments += [f"-XX:SharedArchiveFile={draft}", "-Xlog:disable", "-Xlog:all=error:stderr"]
        try:
            ended = await run([java.java, *arguments, "-cp", class_path(installed.jars)], seconds=_SECONDS)
            if ended.code or not draft.is_file():
                raise ArchiveFailed(f"{_nothing_made(installed, java)}:\n{ended.last_lines}")
            draft.replace(target)
            _remove_old(target.parent)
        except (OSError, TimeoutError) as error:
            reason = str(error) or "it took too long"
            raise ArchiveFailed(f"{_nothing_made(installed, java)}: {reason}") from error
        finally:
            draft.unlink(missing_ok=True)
    return target


def _remove_old(folder: Path) -> None:
    """Leave the newest archives: those of Javas and jars that have been replaced are never looked at again."""
    archives = sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime, reverse=True)
    for archive in archives[_KEPT:]:
        archive.unlink(missing_ok=True)


def _nothing_made(installed: Installed, java: JavaHome) -> str:
    return f"Java {java.version} made no class archive of {installed.name}"
