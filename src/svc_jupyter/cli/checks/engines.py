"""Check the engines: Java, the installed engines, and their completeness."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from svc_jupyter.cli.checks.finding import Finding, fine, note, wrong

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings
    from svc_jupyter.service.installs.engines import Engines


async def check_engines(engines: Engines, *, verify: bool) -> AsyncIterator[Finding]:
    """Yield a finding for the folder, for Java and for each engine; `verify` reads all installed files."""
    from svc_jupyter.service.installs.inventory import inventory
    from svc_jupyter.service.installs.java import MAJORS

    yield _folder(engines)
    java = await engines.javas.offered()
    if java is not None:
        yield fine("Java", f"{java.version} ({java.home})")
    else:
        wanted = " or ".join(map(str, MAJORS))
        what = f"JAVA_HOME and the path have no Java {wanted}; one is installed with the first engine"
        yield note("Java", what, "to use your own, set JAVA_HOME")
    for entry in inventory(engines, java):
        about = str(entry.engine)
        install = f"svc-jupyter engines install {entry.engine}"
        if not entry.is_installed:
            yield note(about, f"not installed; its first use installs it ({entry.engine.purpose})", install)
            continue
        damaged = await asyncio.to_thread(engines.damaged_files, entry.engine) if verify else []
        if damaged:
            yield wrong(
                about,
                _damage_text(damaged),
                f"svc-jupyter engines uninstall {entry.engine} && {install}",
            )
        elif entry.lacks_archive:
            yield note(about, f"{entry.version}, without a class archive for this Java: it starts more slowly", install)
        else:
            yield fine(about, f"{entry.version}{', every checksum is right' if verify else ''}")
    if outdated := engines.outdated():
        names = ", ".join(folder.name.rpartition("-")[0] for folder in outdated)
        yield note("outdated", f"not of this version of the package: {names}", "svc-jupyter engines uninstall outdated")


def check_engines_at_once(settings: Settings) -> Finding:
    """Return a one-line summary of the installed engines and their Java; `engines doctor` says more."""
    from svc_jupyter.service.application.engines import engines_of
    from svc_jupyter.service.installs.engine import Engine

    engines = engines_of(settings)
    folder = _folder(engines)
    if folder.fix:
        return wrong("engines", folder.what, folder.fix)
    java = asyncio.run(engines.javas.offered())
    runtime = f"Java {java.version}" if java else "no Java yet"
    installed = [str(engine) for engine in Engine if engines.installed(engine)]
    names = ", ".join(installed) or "none is installed; the first use installs what a command needs"
    return fine("engines", f"{names} ({runtime}); svc-jupyter engines doctor says more")


def _damage_text(files: list[str]) -> str:
    few = ", ".join(files[:3]) + (" …" if len(files) > 3 else "")
    return f"{'1 file is' if len(files) == 1 else f'{len(files)} files are'} not what was installed: {few}"


def _folder(engines: Engines) -> Finding:
    from svc_jupyter.cli.checks.machine import is_writable

    existing = next(folder for folder in (engines.root, *engines.root.parents) if folder.exists())
    if not existing.is_dir() or not is_writable(existing):
        return wrong("folder", f"{existing} cannot be written", "set SVC_ENGINES_DIR to a folder of your own")
    return fine("folder", str(engines.root))
