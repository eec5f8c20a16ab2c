"""What the service's process holds, and what commands of the same user can read of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.processes.marks import marked_processes

SECRET = "the-password-of-the-mail-server"


OF_ROOT = "-sys_ptrace,-sys_admin,-perfmon"
"""The rights by which root looks into every process."""


class OrdinaryService(ServiceProcess):
    """One that may do what every other user may, also where tests run as root."""

    launcher = ("setpriv", "--bounding-set", OF_ROOT, "--inh-caps", OF_ROOT) if os.getuid() == 0 else ()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    service = OrdinaryService(tmp_path / "data", smtp_password=SECRET)
    yield service.start()
    service.stop()
    end_commands_of(service.data_dir)


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "fd/1"])
def test_a_command_reads_nothing_of_the_services_process(service: ServiceProcess, name: str):
    script = f"head -c 1 /proc/$PPID/environ >/dev/null || exit 9; head -c 1 /proc/{service.pid}/{name}"
    command = service.ended(service.submit(script)["id"])
    assert command["status"] == "error"
    assert "exited with code 1" in command["message"], "what started the script can be read, the service cannot"
    assert "Permission denied" in command["message"]


def test_processes_of_a_command_are_found_by_their_mark_and_ended(service: ServiceProcess, tmp_path: Path):
    escaped = tmp_path / "escaped"
    command_id = service.submit(f"setsid sleep 600 & echo $! >{escaped}; sleep 600")["id"]
    wait_until(lambda: escaped.exists() and escaped.read_text(), "the process that leaves the session")
    assert len(list(marked_processes(service.folder(command_id) / "1"))) >= 3
    assert service.http.put(f"/commands/{command_id}", json={"status": "kill"}).status_code == 200
    assert service.ended(command_id)["status"] == "cancelled"
    assert list(marked_processes(service.folder(command_id) / "1")) == []
