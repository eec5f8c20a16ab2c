"""`svc-jupyter serve`: the service in the foreground."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr, ValidationError

from svc_jupyter.cli.wrong_settings import wrong_settings

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings

DATA_FOLDER_TAKEN = 3
"""Exit code when another service holds the data folder: the client that started this one then uses that service."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `serve`; each is also a setting `SVC_…` of the environment."""
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (0, a free one)")
    parser.add_argument("--data-dir", type=Path, help="folder of the database, logs, results and storage")
    parser.add_argument(
        "--database-url",
        help="PostgreSQL to use instead of SQLite in the data folder; "
        "a password is better given in the environment as SVC_DATABASE_URL",
    )
    parser.add_argument("--embedded", action="store_true", default=None, help="stop by itself when nobody needs it")


def run(arguments: argparse.Namespace) -> int:
    """Serve; return 0 after a stop, 2 for a wrong setting, 3 when the data folder is taken, 1 for other failures."""
    gc.disable()  # collections of what imports leave for good would be a fifth of the start
    try:
        from svc_jupyter.service.application.server import PortTakenError, serve
        from svc_jupyter.service.data_folder.data_folder import DataFolderTakenError
        from svc_jupyter.service.ground.settings import Settings
    except ModuleNotFoundError as error:
        return _fail(f"the service is not installed ({error.name} is missing): pip install 'svc-jupyter[service]'")
    finally:
        gc.enable()
    try:
        settings = Settings(**_given(arguments))
    except ValidationError as error:
        return _fail(wrong_settings(error), 2)
    if lack := _lack(settings):
        return _fail(lack, 2)
    try:
        serve(settings, lambda base_url: print(f"ready {base_url}", flush=True))
    except DataFolderTakenError as error:
        return _fail(str(error), DATA_FOLDER_TAKEN)
    except (PortTakenError, RuntimeError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.strerror or error}: {error.filename or settings.data_dir}")
    return 0


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    values = {key: getattr(arguments, key) for key in ("host", "port", "embedded")}
    if arguments.data_dir is not None:
        values["data_dir"] = arguments.data_dir.expanduser().resolve()
    if arguments.database_url is not None:
        values["database_url"] = SecretStr(arguments.database_url)
    return {key: value for key, value in values.items() if value is not None}


def _lack(settings: Settings) -> str | None:
    """Return what the chosen provider of clusters or the required isolation lacks, with what to do about it."""
    from svc_jupyter.service.clusters.providers.requirements import missing
    from svc_jupyter.service.isolation.isolation import Isolation, IsolationError

    try:
        Isolation.of(settings)
    except IsolationError as error:
        return str(error)
    lack = missing(settings.cluster_provider, settings)
    return None if lack is None else f"SVC_CLUSTER_PROVIDER={settings.cluster_provider}: {lack}"


def _fail(message: str, code: int = 1) -> int:
    print(f"svc-jupyter: {message}", file=sys.stderr)
    return code
