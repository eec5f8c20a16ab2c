"""How a run finds the service that runs it: a file in the attempt's folder with the address and the run's own token.

The kernel's environment has only the file's path. So the token is in no environment, argument or log, and a cell that
prints `os.environ` does not show it; and the next service, which has another address, can write the file anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import structlog
from pydantic import ValidationError

from svc_jupyter.api.run_connection import CONNECTION_FILE, RunConnection
from svc_jupyter.files import write_whole
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.errors import Forbidden, ServiceError

FOLDER = "access"
"""Isolated kernels see it, and no other file of the attempt's folder; a file alone could not be replaced for them."""
FILE = "connection.json"
_ONLY_OWNER = 0o600
log = structlog.get_logger(__name__)


class Tokens(Protocol):
    """The tokens of runs. Every method blocks and raises `ServiceError`."""

    def create(self, command_id: int) -> str:
        """Return a new token for a running command; raise `Forbidden` where it must have none."""
        ...

    def end(self, command_id: int) -> None:
        """Refuse a command's token from now on."""


class ServiceAccess:
    """Gives runs their access to this service, at `base_url`; None where the service listens nowhere."""

    def __init__(self, tokens: Tokens, base_url: str | None) -> None:
        self._tokens = tokens
        self._base_url = base_url

    def give(self, task: Task) -> Mapping[str, str]:
        """Make the token of an attempt and its file, in `folder_of`; return the variables for the kernel."""
        folder_of(task).mkdir(mode=0o700, exist_ok=True)
        if self._base_url is None:
            return {}
        try:
            connection = RunConnection(base_url=self._base_url, token=self._tokens.create(task.id))
        except Forbidden as refusal:
            connection = RunConnection(base_url=self._base_url, refusal=refusal.message)
        _write(_file(task), connection)
        return {CONNECTION_FILE: str(_file(task))}

    def bring_up_to_date(self, task: Task) -> None:
        """Write this service's address into the file of a run that an earlier service began."""
        if self._base_url is None:
            return
        try:
            connection = RunConnection.model_validate_json(_file(task).read_bytes())
            if connection.base_url != self._base_url:
                _write(_file(task), connection.model_copy(update={"base_url": self._base_url}))
        except FileNotFoundError:
            return  # the run has ended meanwhile, or its cells have removed the file
        except (OSError, ValidationError) as error:
            log.warning("connection_file_not_updated", command_id=task.id, reason=type(error).__name__)

    def take_back(self, task: Task) -> None:
        """End the access of an attempt; a token that cannot be deleted now ends with the command."""
        try:
            self._tokens.end(task.id)
        except ServiceError as error:
            log.warning("token_not_ended", command_id=task.id, reason=error.message)
        try:
            os.unlink(_file(task))
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("connection_file_not_removed", command_id=task.id, reason=error.strerror)


def folder_of(task: Task) -> Path:
    """Return the folder with the file of an attempt."""
    return task.folder / FOLDER


def _file(task: Task) -> Path:
    return folder_of(task) / FILE


def _write(file: Path, connection: RunConnection) -> None:
    write_whole(file, connection.model_dump_json(exclude_none=True), mode=_ONLY_OWNER)
