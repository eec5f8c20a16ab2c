"""`svc-jupyter init`: create the data folder and start its service; `--demo` loads the public data set."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from svc_jupyter.api.db_taps import DbTap, DbType
from svc_jupyter.cli.embedded import embedded_client, embedded_service
from svc_jupyter.client import Client, NotFound, SvcError

TAP = "flights"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `init`."""
    parser.add_argument(
        "--demo",
        action="store_true",
        help=f"load the flights that left New York City in 2013 into the storage and a DB tap named {TAP}",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prepare the data folder; return 0, or 1 with a text that says what to do. A second run changes nothing."""
    started = time.monotonic()
    service = embedded_service()
    try:
        with embedded_client() as client:
            account = client.account.get()
            _say(f"service at {client.base_url}, data folder {service.data_dir}")
            if arguments.demo:
                _load_demo(client, service.data_dir / "storage")
                if account.storage_url != f"file://{service.data_dir / 'storage'}":
                    _say(f"! the account's storage is {account.storage_url}; the demo's files are in the data folder")
    except SvcError as error:
        return _fail(error.message)
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or service.data_dir}")
    _say(f"ready after {time.monotonic() - started:.1f} s")
    return 0


def _load_demo(client: Client, storage: Path) -> None:
    """Build the files and create the tap; SvcError says what is missing."""
    try:
        from svc_jupyter.cli.demo.build import DATABASE, FOLDER, DemoDataMissing, build
    except ModuleNotFoundError as error:
        raise SvcError(f"{error.name} is missing: pip install 'svc-jupyter[demo]'") from error
    try:
        built = build(storage, _say)
    except DemoDataMissing as error:
        raise SvcError(str(error)) from error
    rows = ", ".join(f"{count:,} {name}" for name, count in built.rows.items())
    _say(f"{'loaded' if built.changed else 'already there'}: {rows}")
    tap = _ensure_tap(client, storage / DATABASE)
    _say(f"DB tap {tap.name} (id {tap.id}) reads {storage / DATABASE}; the files are in {storage / FOLDER}")


def _ensure_tap(client: Client, database: Path) -> DbTap:
    """Return the tap of the demo; create or correct it if needed."""
    wanted = {"db_type": DbType.SQLITE.value, "db_name": str(database), "active": True}
    try:
        tap = client.db_taps.find(TAP)
    except NotFound:
        return client.db_taps.create(TAP, DbType.SQLITE.value, db_name=str(database))
    if {name: getattr(tap, name) for name in wanted} == wanted:
        return tap
    return client.db_taps.update(tap.id, **wanted)


def _say(text: str) -> None:
    print(f"  {text}", flush=True)


def _fail(message: str) -> int:
    print(f"svc-jupyter init: {message}", file=sys.stderr)
    return 1
