"""`svc-jupyter database`: the service's own database, for operators."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.cli.data_folder import fail, settings_of, with_failures

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `copy`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    text = "copy the SQLite database of the data folder into an empty PostgreSQL, with which the service goes on"
    copy = actions.add_parser("copy", help=text, description=text)
    copy.add_argument(
        "--to", metavar="URL", help="postgresql://USER@HOST/NAME; with a password better as SVC_DATABASE_URL"
    )
    copy.add_argument("--data-dir", type=Path, help="the data folder (SVC_DATA_DIR)")


def run(arguments: argparse.Namespace) -> int:
    """Copy; return 0, 2 for wrong settings, 3 while a service uses the data folder, 1 for other failures."""
    target = settings_of(arguments.data_dir, arguments.to)
    if isinstance(target, int):
        return target
    if target.on_sqlite:
        return fail("where to? Give --to postgresql://USER@HOST/NAME, or set SVC_DATABASE_URL", 2)
    return _copy(target)


def _copy(target: Settings) -> int:
    from svc_jupyter.service.data_folder.copying import copy

    source = target.model_copy(update={"database_url": None})
    failed = with_failures(lambda: copy(source, target, lambda table, rows: print(f"{table}: {rows:,} rows")))
    if failed is not None:
        return failed
    print(
        f"copied. The data folder {source.data_dir} belongs to that database now: start the service with "
        "SVC_DATABASE_URL set to it. service.db is as it was, and of no use any more"
    )
    return 0
