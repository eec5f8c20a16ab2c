"""`svc-jupyter restore`: a backup into an empty data folder, which a service then goes on with."""

from __future__ import annotations

import argparse
from pathlib import Path

from svc_jupyter.cli.data_folder import settings_of, with_failures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `restore`."""
    parser.add_argument("source", metavar="SOURCE", help="the target of the backups")
    parser.add_argument("--data-dir", type=Path, help="the data folder to fill, which must be empty (SVC_DATA_DIR)")
    parser.add_argument(
        "--url",
        metavar="URL",
        help="an empty PostgreSQL for the database, instead of SQLite in the data folder; with a password better as "
        "SVC_DATABASE_URL",
    )
    parser.add_argument("--at", metavar="NAME", help="the backup of this name instead of the newest")
    parser.add_argument("--list", action="store_true", help="only list the backups")


def run(arguments: argparse.Namespace) -> int:
    """Restore or list; return 0, 2 for wrong settings, 3 where a service works on the folder, 1 for other failures."""
    settings = settings_of(arguments.data_dir, arguments.url)
    if isinstance(settings, int):
        return settings
    from svc_jupyter.files import keep_files_private
    from svc_jupyter.service.backup.restoring import backups, restore

    if arguments.list:
        found = with_failures(lambda: backups(settings, arguments.source))
        if isinstance(found, int):
            return found
        for name, head, end in found:
            print(f"{name}  svc-jupyter {head.version}  {head.commands:,} commands  {end.bytes:,} bytes")
        return 0
    keep_files_private()
    restored = with_failures(lambda: restore(settings, arguments.source, at=arguments.at))
    if isinstance(restored, int):
        return restored
    print(
        f"restored {restored.name} of {restored.head.host}: {restored.head.commands:,} commands, "
        f"{restored.end.files:,} files into {settings.data_dir}. Start the service: svc-jupyter serve --data-dir "
        f"{settings.data_dir}{'' if settings.on_sqlite else ', with SVC_DATABASE_URL set to that database'}"
    )
    return 0
