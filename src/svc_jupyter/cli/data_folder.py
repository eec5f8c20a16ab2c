"""What the subcommands share that work on a data folder and its database themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from svc_jupyter.cli.wrong_settings import wrong_settings

if TYPE_CHECKING:
    from svc_jupyter.service.ground.settings import Settings

Result = TypeVar("Result")


def settings_of(data_dir: Path | None, database_url: str | None) -> Settings | int:
    """Return the settings of the environment and these, or the exit code after a message."""
    try:
        from pydantic import SecretStr, ValidationError

        from svc_jupyter.service.ground.settings import Settings
    except ModuleNotFoundError as error:
        return fail(f"the service is not installed ({error.name} is missing): pip install 'svc-jupyter[service]'")
    given: dict[str, Any] = {}
    if data_dir is not None:
        given["data_dir"] = data_dir.expanduser().resolve()
    if database_url is not None:
        given["database_url"] = SecretStr(database_url)
    try:
        return Settings(**given)
    except ValidationError as error:
        return fail(wrong_settings(error), 2)


def with_failures(work: Callable[[], Result]) -> Result | int:
    """Return what `work` returns, or the exit code after a message: 3 while a service uses the data folder, else 1."""
    from sqlalchemy.exc import DBAPIError

    from svc_jupyter.service.backup.target import BackupFailure
    from svc_jupyter.service.data_folder.copying import CopyFailure
    from svc_jupyter.service.data_folder.data_folder import DataFolderTakenError

    try:
        return work()
    except DataFolderTakenError as error:
        return fail(str(error), 3)
    except DBAPIError as error:
        return fail(f"the database cannot be used: {str(error.orig).strip()}")
    except (BackupFailure, CopyFailure, RuntimeError) as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"{error.filename or 'the disk'}: {error.strerror or error}")


def fail(message: str, code: int = 1) -> int:
    """Print a message for the operator; return the exit code."""
    print(f"svc-jupyter: {message}", file=sys.stderr)
    return code
