"""`svc-jupyter backup`: the database, the files and the key of a service as one whole, while it works."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from svc_jupyter.cli.data_folder import fail, settings_of, with_failures

_NICE = 10
_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `backup`."""
    parser.add_argument("target", metavar="TARGET", help="a folder, or s3://BUCKET/PATH, gs://… or az://…")
    parser.add_argument("--data-dir", type=Path, help="the data folder (SVC_DATA_DIR)")
    parser.add_argument(
        "--url",
        metavar="URL",
        help="the service's PostgreSQL, if it has one; with a password better as SVC_DATABASE_URL",
    )
    parser.add_argument("--keep", metavar="N", type=_count, help="afterwards delete all but the N newest backups")


def run(arguments: argparse.Namespace) -> int:
    """Back up; return 0, 2 for wrong settings, 1 for other failures."""
    settings = settings_of(arguments.data_dir, arguments.url)
    if isinstance(settings, int):
        return settings
    from svc_jupyter.files import keep_files_private
    from svc_jupyter.service.backup.taking import back_up

    keep_files_private()
    os.nice(_NICE)  # the service goes first
    begun = time.monotonic()
    backup = with_failures(lambda: back_up(settings, arguments.target, keep=arguments.keep))
    if isinstance(backup, int):
        return backup
    print(
        f"backup {backup.name}: {backup.head.commands:,} commands, {backup.end.files:,} files, {backup.end.bytes:,} "
        f"bytes, of which {backup.new_bytes:,} are new, in {time.monotonic() - begun:.1f} s"
    )
    if backup.deleted:
        print(f"older backups deleted: {backup.deleted}")
    left_out = sorted(backup.end.left_out.items())
    for path, why in left_out[:_SHOWN]:
        fail(f"not in the backup: {path}: {why}")
    if len(left_out) > _SHOWN:
        fail(f"not in the backup: {len(left_out) - _SHOWN} more; the manifest names them")
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("keep at least 1")
    return number
