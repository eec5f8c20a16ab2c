"""`svc-jupyter engines`: list, install, remove and check engines."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from svc_jupyter.cli.checks.finding import Finding, Mark
from svc_jupyter.cli.wrong_settings import wrong_settings

if TYPE_CHECKING:
    from svc_jupyter.service.installs.engine import Engine
    from svc_jupyter.service.installs.engines import Engines

NAMES = ("hadoop", "pig", "hive-metastore", "spark", "presto")
_MEGABYTE = 1e6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `list`, `install`, `uninstall` and `doctor`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the engines with version, size, state and Java")
    install = actions.add_parser("install", help="download, verify and prepare engines; what is there stays")
    install.add_argument("name", nargs="+", choices=(*NAMES, "all"), metavar="NAME", help=", ".join((*NAMES, "all")))
    uninstall = actions.add_parser("uninstall", help="remove engines and what only they need")
    removable = (*NAMES, "outdated", "all")
    uninstall.add_argument(
        "name",
        nargs="+",
        choices=removable,
        metavar="NAME",
        help=f"{', '.join(removable)}; outdated: versions that this package does not install; all: tools and Java, too",
    )
    uninstall.add_argument("--force", action="store_true", help="also while processes run from it")
    doctor = actions.add_parser("doctor", help="what is missing or damaged, and how to mend it")
    doctor.add_argument("--verify", action="store_true", help="read every installed file and compare its checksum")


def run(arguments: argparse.Namespace) -> int:
    """Run the action; return 0, or 1 when it failed or the service is not installed."""
    try:
        from pydantic import ValidationError

        from svc_jupyter.service.application.engines import engines_of
        from svc_jupyter.service.ground.settings import Settings
        from svc_jupyter.service.installs.failures import EngineFailure
    except ModuleNotFoundError as error:
        return _fail(f"the service is not installed ({error.name} is missing): pip install 'svc-jupyter[service]'")
    try:
        engines = engines_of(Settings())
    except ValidationError as error:
        return _fail(wrong_settings(error))
    try:
        return asyncio.run(_act(engines, arguments))
    except EngineFailure as error:
        return _fail(error.message)
    except KeyboardInterrupt:
        return _fail("interrupted; what has been downloaded is kept, the same command goes on with it")


async def _act(engines: Engines, arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "list":
            return await _list(engines)
        case "install":
            return await _install(engines, _chosen(arguments.name))
        case "uninstall":
            return await _uninstall(engines, arguments.name, force=arguments.force)
        case _:
            return await _doctor(engines, verify=arguments.verify)


async def _list(engines: Engines) -> int:
    from svc_jupyter.service.installs.inventory import inventory

    java = await engines.javas.offered()
    print(f"{'NAME':<16}{'VERSION':<10}{'SIZE':>8}  {'STATE':<26}WHAT FOR")
    for entry in inventory(engines, java):
        size = f"{entry.size / _MEGABYTE:.0f} MB" if entry.size else "-"
        print(f"{entry.engine:<16}{entry.version:<10}{size:>8}  {entry.state:<26}{entry.engine.purpose}")
    print(f"\nJava: {f'{java.version} ({java.home})' if java else 'none yet; one is installed with the first engine'}")
    print(f"Folder: {engines.root}")
    return 0


async def _install(engines: Engines, chosen: list[Engine]) -> int:
    for engine in chosen:
        line = _Line()
        installed = await engines.ensure(engine, line.say)
        java = await engines.java(line.say)
        line.say(f"{engine} {installed.version} is installed in {installed.home}, Java {java.version}")
        line.end()
    return 0


async def _uninstall(engines: Engines, names: list[str], *, force: bool) -> int:
    from svc_jupyter.service.installs.engine import Engine

    for name in dict.fromkeys(names):
        before = engines.everything()
        match name:
            case "all":
                freed = await engines.remove(before, force=force)
            case "outdated":
                freed = await engines.remove(engines.outdated(), force=force)
            case _:
                freed = await engines.uninstall(Engine(name), force=force)
        removed = len(before) - len(engines.everything())
        print(f"{name}: {freed / _MEGABYTE:.0f} MB are free again" if removed else f"{name}: nothing was installed")
    return 0


async def _doctor(engines: Engines, *, verify: bool) -> int:
    from svc_jupyter.cli.checks.engines import check_engines

    found: list[Finding] = []
    async for finding in check_engines(engines, verify=verify):
        found.append(finding)
        print(f"{finding.mark} {finding.about:<16} {finding.what}", flush=True)
        if finding.fix:
            print(f"  {'':<16} → {finding.fix}", flush=True)
    return 1 if any(finding.mark is Mark.WRONG for finding in found) else 0


def _chosen(names: list[str]) -> list[Engine]:
    from svc_jupyter.service.installs.engine import Engine

    return list(Engine) if "all" in names else [Engine(name) for name in dict.fromkeys(names)]


class _Line:
    """Progress on one terminal line, which the next text replaces; without a terminal, one line each."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._last = ""

    def say(self, text: str) -> None:
        """Show a text; the figures of a download replace the previous ones."""
        if self._is_terminal:
            ends = "" if text.partition(" (")[0] == self._last.partition(" (")[0] or not self._last else "\n"
            print(f"{ends}\r\x1b[K{text}", end="", flush=True)
        else:
            print(text, flush=True)
        self._last = text

    def end(self) -> None:
        """End the line."""
        if self._is_terminal:
            print(flush=True)


def _fail(message: str) -> int:
    print(f"svc-jupyter engines: {message}", file=sys.stderr)
    return 1
