"""What keeps a service from starting, and what it says then."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.ports import refusing_port
from tests.support.service_process import ServiceProcess

NewService = Callable[..., ServiceProcess]


def serve(data_dir: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a service that is expected to end by itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return subprocess.run(
        [sys.executable, "-m", "svc_jupyter", "serve", "--data-dir", str(data_dir), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment | {f"SVC_{name.upper()}": value for name, value in settings.items()},
        stdin=subprocess.DEVNULL,
    )


def test_a_second_service_on_the_same_data_folder_names_the_first(new_service: NewService):
    first = new_service().start()
    second = serve(first.data_dir)
    assert second.returncode == 3
    assert second.stdout == ""
    assert f"another service already runs on the data folder {first.data_dir}: {first.base_url}" in second.stderr
    assert f"(process {first.pid})" in second.stderr
    assert first.token not in second.stderr
    assert "Traceback" not in second.stderr
    assert first.ended(first.submit("echo unharmed")["id"])["status"] == "done"
    assert json.loads(first.token_file.read_text())["pid"] == first.pid


def test_a_port_in_use_is_named(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = serve(tmp_path / "data", "--port", str(port))
    assert ended.returncode == 1
    assert f"port {port} of 127.0.0.1 is in use by another program" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_of_a_newer_version_is_refused_with_what_to_do(new_service: NewService):
    service = new_service().start()
    service.stop()
    with sqlite3.connect(service.data_dir / "service.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    ended = serve(service.data_dir)
    assert ended.returncode == 1
    assert "made by a newer svc-jupyter; upgrade this installation" in ended.stderr
    assert ended.stdout == ""


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    ended = serve(tmp_path / "file" / "data")
    assert ended.returncode == 1
    assert f"Not a directory: {tmp_path}/file/data" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_that_cannot_be_reached_is_reported_without_its_password(tmp_path: Path):
    with refusing_port() as port:
        ended = serve(tmp_path / "data", database_url=f"postgresql://someone:hunter2@127.0.0.1:{port}/svc")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "hunter2" not in ended.stderr
    assert "svc-jupyter: the database cannot be used: connection failed: connection to server at" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(("url", "told"), [("", "it is empty; unset it for SQLite"), ("mysql://h/d", "postgresql://")])
def test_an_address_that_is_none_of_postgresql_is_refused_in_words(tmp_path: Path, url: str, told: str):
    ended = serve(tmp_path / "data", database_url=url)
    assert ended.returncode == 2
    assert "SVC_DATABASE_URL: " in ended.stderr
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "data").exists()


def test_a_service_of_root_says_so(new_service: NewService):
    told = "runs_as_root" in new_service().start().log_file.read_text()
    assert told == (os.geteuid() == 0)


def test_settings_out_of_form_are_named(tmp_path: Path):
    ended = serve(tmp_path / "data", port="70000", running_limit="0", log_level="loud")
    assert ended.returncode == 2
    for name in ("SVC_PORT", "SVC_RUNNING_LIMIT", "SVC_LOG_LEVEL"):
        assert name in ended.stderr
    assert "Traceback" not in ended.stderr
