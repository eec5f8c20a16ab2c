"""What the service writes is for its user alone; what commands write follows the umask that the service was given."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.integration.test_notebook_runs import store, submit, switch_on
from tests.support.service_process import ServiceProcess

USERS_UMASK = "0027"


class CarefulService(ServiceProcess):
    """One that is started with a umask of its own."""

    launcher = ("sh", "-c", f'umask {USERS_UMASK}; exec "$@"', "sh")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    service = CarefulService(tmp_path / "data").start()
    switch_on(service)
    yield service
    service.stop()
    end_commands_of(service.data_dir)


def test_files_of_the_service_and_of_its_commands(service: ServiceProcess, tmp_path: Path):
    by_shell, by_notebook = tmp_path / "shell", tmp_path / "notebook"
    shell = service.ended(service.submit(f"umask >{by_shell}; echo to the log >&2")["id"])
    store(service, "Common/one.ipynb", f"open({str(by_notebook)!r}, 'w').close()")
    notebook = service.ended(submit(service, "Common/one.ipynb"))
    assert (shell["status"], notebook["status"]) == ("done", "done")
    assert by_shell.read_text().strip() == USERS_UMASK
    assert {stat.S_IMODE(file.stat().st_mode) for file in (by_shell, by_notebook)} == {0o640}

    database = service.data_dir / "storage" / "one.db"
    sqlite3.connect(database).close()
    tap = service.http.post("/db_taps", json={"name": "tap", "db_type": "sqlite", "db_name": str(database)}).json()
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap["id"], "query": "SELECT 1 AS one"}
    assert service.ended(service.http.post("/commands", json=body).json()["id"])["status"] == "done"
    others = {database, service.log_file}  # not written by the service
    own = [item for item in service.data_dir.rglob("*") if not item.is_symlink() and item not in others]
    assert len(own) > 20
    assert [str(item) for item in own if item.stat().st_mode & 0o077] == []
