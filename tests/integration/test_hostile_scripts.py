"""Scripts that write a lot, will not end, or leave something behind; archives that mean harm."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tests.service.processes.test_process_leftovers import DAEMON
from tests.support.processes import is_over
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.processes.marks import marked_processes

MB = 1_000_000
GROWTH = 120 * MB
"""How much more memory a service may take for a result of any size."""


class Peak:
    """The largest resident memory of a process while something is read in parts."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self.first = self.most = self._process.memory_info().rss
        self._parts = 0

    def of(self, parts: Iterator[bytes]) -> int:
        """Read everything; return the bytes."""
        total = 0
        for part in parts:
            total += len(part)
            self._parts += 1
            if self._parts % 16 == 0:
                self.most = max(self.most, self._process.memory_info().rss)
        return total

    @property
    def growth(self) -> int:
        return self.most - self.first


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service for this module: one whose memory nothing else uses."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("hostile") / "data",
        kill_grace_seconds=0.5,
        timeout_check_seconds=0.5,
        max_unpacked_bytes=10 * MB,
    ).start()
    yield service
    service.kill()


@pytest.fixture(scope="module")
def much(service: ServiceProcess) -> int:
    """A command that wrote 300 MB to stdout and 20 MB to stderr."""
    script = f"yes 0123456789012345678901234567890123456789 | head -c {300 * MB}; yes log | head -c {20 * MB} >&2"
    command_id = int(service.submit(script)["id"])
    record = service.ended(command_id, 60)
    assert (record["status"], record["result_bytes"]) == ("done", 300 * MB)
    return command_id


@pytest.mark.parametrize(
    ("part", "accept", "least"),
    [
        ("results", "application/vnd.apache.arrow.stream", 300 * MB),
        ("results", "text/csv", 300 * MB),
        ("logs", "text/plain", 20 * MB),
    ],
)
def test_much_output_is_streamed_with_flat_memory(
    service: ServiceProcess, much: int, part: str, accept: str, least: int
):
    with service.http.stream("GET", f"/commands/{much}/{part}", headers={"Accept": "text/csv"}) as warm:
        next(warm.iter_raw())
    peak = Peak(service.pid)
    with service.http.stream("GET", f"/commands/{much}/{part}", headers={"Accept": accept}) as response:
        assert response.status_code == 200
        assert peak.of(response.iter_raw()) >= least
    assert peak.growth < GROWTH


def test_much_output_is_not_put_into_json(service: ServiceProcess, much: int):
    answer = service.http.get(f"/commands/{much}/results").json()
    assert (answer["inline"], len(answer["result_location"])) == (False, 1)


def test_a_script_that_ignores_sigterm_is_killed(service: ServiceProcess):
    command_id = service.submit("trap '' TERM; echo begun >&2; while :; do sleep 0.02; done")["id"]
    wait_until(lambda: service.logs(command_id), "the begin of the script")
    pid = service.record(command_id)["pid"]
    assert service.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"]
    assert service.record(command_id)["status"] == "cancelled"
    assert is_over(pid)


def left_by(service: ServiceProcess, command_id: int) -> list[psutil.Process]:
    """Return what still runs of a command. A sandbox has process numbers of its own, so no script can tell them."""
    return list(marked_processes(service.folder(command_id) / "1"))


def test_a_timeout_ends_a_script_with_all_it_started(service: ServiceProcess):
    script = "(trap '' TERM; while :; do sleep 0.02; done) & sleep 600"
    record = service.ended(service.submit(script, timeout=1)["id"])
    assert (record["status"], record["message"]) == (
        "error", "timed out: ran longer than its 1 s (checked every 0.5 s)",
    )  # fmt: skip
    assert left_by(service, record["id"]) == []


def test_children_left_behind_end_with_the_script_and_the_log_says_so(service: ServiceProcess):
    command_id = service.submit("sleep 600 & echo done")["id"]
    assert service.ended(command_id)["status"] == "done"
    assert left_by(service, command_id) == []
    assert service.logs(command_id) == "processes that the command left running were ended with it\n"


def test_a_daemon_that_left_the_session_ends_with_a_cancellation(service: ServiceProcess, tmp_path: Path):
    (tmp_path / "daemon.py").write_text(DAEMON)
    script = f"{sys.executable} {tmp_path}/daemon.py {tmp_path}/daemon; echo begun >&2; sleep 600"
    command_id = service.submit(script)["id"]
    wait_until(lambda: (tmp_path / "daemon").exists() and service.logs(command_id), "the daemon")
    assert service.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"]
    assert left_by(service, command_id) == []


def test_a_script_does_not_see_the_services_secrets(new_service: Callable[..., ServiceProcess]):
    service = new_service(smtp_password="hunter2").start()
    command_id = service.submit("env; cat /proc/$PPID/environ | tr '\\0' '\\n'; ps -ww -o args= -p $PPID")["id"]
    service.ended(command_id)
    text = service.text(command_id)
    assert f"SVC_COMMAND_ID={command_id}\r\n" in text
    assert "hunter2" not in text
    assert service.token not in text
    assert "tr '" not in text.split("PATH=")[-1], "the script is not on a command line"


def test_bytes_that_are_no_text_come_through(service: ServiceProcess):
    command_id = service.submit("printf 'a\\xff\\0b\\n'; printf 'bad\\0\\xff\\n' >&2; exit 5")["id"]
    record = service.ended(command_id)
    assert record["message"] == "the script exited with code 5\nbad\ufffd"
    assert service.http.get(f"/commands/{command_id}/logs").content == b"bad\0\xff\n"


def put_in_storage(service: ServiceProcess, name: str, content: bytes) -> None:
    (service.data_dir / "storage" / name).write_bytes(content)


def test_an_archive_that_leaves_its_folder_is_refused(service: ServiceProcess):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        member = tarfile.TarInfo("../../escaped")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"harm\n"))
    put_in_storage(service, "escape.tar.gz", content.getvalue())
    command_id = service.submit("echo ran", archives="escape.tar.gz")["id"]
    record = service.ended(command_id)
    assert record["status"] == "error"
    assert "escape.tar.gz" in record["message"]
    assert "../../escaped" in record["message"]
    assert not list(service.folder(command_id).rglob("escaped"))
    assert not (service.folder(command_id) / "1" / "out").exists()


def test_an_archive_that_swells_is_refused(service: ServiceProcess):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * (50 * MB))
    put_in_storage(service, "bomb.zip", content.getvalue())
    command_id = service.submit("echo ran", archives="bomb.zip")["id"]
    record = service.ended(command_id)
    assert record["status"] == "error"
    assert "bomb.zip" in record["message"]
    on_disk = sum(file.stat().st_size for file in service.folder(command_id).rglob("*") if file.is_file())
    assert on_disk < 12 * MB
