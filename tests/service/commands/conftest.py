"""Commands to run and rows to ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from tests.service.commands.jobs import NewJob, Notes
from tests.service.commands.rows import command_row
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.job import Job
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands

AddCommand = Callable[..., int]


@pytest.fixture
def add_command(database: Database, caller: Caller) -> AddCommand:
    """Writes a row of the commands table and returns its id."""

    def add(**values: Any) -> int:
        row = asdict(command_row(**{"account_id": caller.account_id, "user_id": caller.user_id, **values}))
        del row["id"]
        with database.begin() as connection:
            return int(connection.execute(sa.insert(commands).values(row).returning(commands.c.id)).scalar_one())

    return add


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def new_job(tmp_path: Path, notes: Notes) -> NewJob:
    """Makes a job; its settings may be given as `settings`."""

    def new_job(kind: Any, settings: Mapping[str, Any] | None = None, **row: Any) -> Job:
        values = {"status": "running", "start_time": time.time(), "id": 7, **row}
        given = {"data_dir": tmp_path, "timeout_check_seconds": 60, "kill_grace_seconds": 5, **(settings or {})}
        root = tmp_path / "7"
        return Job(
            command_row(**values), kind, Settings(**given), root=root, note=notes.note, on_progress=notes.on_progress
        )

    return new_job


@pytest.fixture
def http(shared_service: ServiceProcess) -> httpx.Client:
    """A client of the shared service, with the administrator's token."""
    return shared_service.http


@pytest.fixture(scope="session")
def done(shared_service: ServiceProcess) -> int:
    """A command that is done, with output and a log."""
    command_id = int(shared_service.submit("printf 'a\\tb\\n1\\t2'; echo to the log >&2")["id"])
    shared_service.ended(command_id)
    return command_id


@pytest.fixture(scope="session")
def failed(shared_service: ServiceProcess) -> int:
    """A command that failed with code 3, with output and a log."""
    command_id = int(shared_service.submit("echo some output; echo why >&2; exit 3")["id"])
    shared_service.ended(command_id)
    return command_id


@pytest.fixture
def running(shared_service: ServiceProcess, tmp_path: Path) -> Iterator[int]:
    """A command that runs until the file `go` is there, and has written to its log."""
    record = shared_service.submit(f"echo begun; echo logged >&2; until [ -e {tmp_path}/go ]; do sleep 0.02; done")
    wait_until(lambda: shared_service.logs(record["id"]), "the log of a running command")
    yield record["id"]
    (tmp_path / "go").touch()
    shared_service.ended(record["id"])
