"""`svc-jupyter database`: the service's own database, for operators."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    try:
        from pydantic import SecretStr, ValidationError

        from svc_jupyter.service.ground.settings import Settings
    except ModuleNotFoundError as error:
        return _fail(f"the service is not installed ({error.name} is missing): pip install 'svc-jupyter[service]'")
    given: dict[str, Any] = {}
    if arguments.data_dir is not None:
        given["data_dir"] = arguments.data_dir.expanduser().resolve()
    if arguments.to is not None:
        given["database_url"] = SecretStr(arguments.to)
    try:
        target = Settings(**given)
    except ValidationError as error:
        names = ", ".join(f"SVC_{'_'.join(map(str, item['loc'])).upper()}: {item['msg']}" for item in error.errors())
        return _fail(f"wrong settings: {names}", 2)
    if target.on_sqlite:
        return _fail("where to? Give --to postgresql://USER@HOST/NAME, or set SVC_DATABASE_URL", 2)
    return _copy(target)


def _copy(target: Settings) -> int:
    from sqlalchemy.exc import DBAPIError

    from svc_jupyter.service.data_folder.copying import CopyFailure, copy
    from svc_jupyter.service.data_folder.data_folder import DataFolderTakenError

    source = target.model_copy(update={"database_url": None})
    try:
        copy(source, target, lambda table, rows: print(f"{table}: {rows:,} rows"))
    except DataFolderTakenError:
        return _fail(f"a service works on the data folder {source.data_dir}: stop it first", 3)
    except DBAPIError as error:
        return _fail(f"the database cannot be used: {str(error.orig).strip()}")
    except (CopyFailure, RuntimeError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or source.data_dir}")
    print(
        f"copied. The data folder {source.data_dir} belongs to that database now: start the service with "
        "SVC_DATABASE_URL set to it. service.db is as it was, and of no use any more"
    )
    return 0


def _fail(message: str, code: int = 1) -> int:
    print(f"svc-jupyter: {message}", file=sys.stderr)
    return code
