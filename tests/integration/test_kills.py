"""kill -9 of the service, of a command's process, of both, and stops in good order: nothing is lost or runs twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from tests.service.commands.test_process_leftovers import is_over
from tests.support.service_process import ServiceProcess, wait_until

NewService = Callable[..., ServiceProcess]


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """The file for which the scripts here wait."""
    return tmp_path / "go"


@pytest.fixture
def service(new_service: NewService) -> ServiceProcess:
    return new_service(kill_grace_seconds=1).start()


def waiting_script(go: Path, end: str = "") -> str:
    """Return a script that tells that it has begun, waits for the file, and tells that it goes on."""
    return f"echo begun; echo begun >&2; until [ -e {go} ]; do sleep 0.02; done; echo went on; {end}"


def begin(service: ServiceProcess, script: str, **fields: object) -> int:
    """Submit a script that says `begun`; return its id once it has."""
    command_id = int(service.submit(script, **fields)["id"])
    attempt = service.folder(command_id) / "1"
    wait_until(lambda: (attempt / "out").exists() and (attempt / "out").read_text(), "the begin of the script")
    return command_id


def process_of(service: ServiceProcess, command_id: int) -> int:
    return int((service.folder(command_id) / "1" / "pid").read_text())


class TestOfTheService:
    @pytest.mark.parametrize("code", [0, 7])
    def test_its_running_command_goes_on_with_output_and_exit_code(self, service: ServiceProcess, go: Path, code: int):
        command_id = begin(service, waiting_script(go, f"exit {code}"))
        pid = process_of(service, command_id)
        service.kill()
        assert psutil.pid_exists(pid)
        service.start()
        record = service.record(command_id)
        assert (record["status"], record["pid"]) == ("running", pid)
        assert service.logs(command_id) == "begun\n"
        go.touch()
        record = service.ended(command_id)
        assert record["status"] == ("done" if code == 0 else "error")
        assert [item["exit_code"] for item in record["attempts"]] == [code]
        assert (service.folder(command_id) / "1" / "out").read_text() == "begun\nwent on\n"

    def test_a_command_that_ended_meanwhile_keeps_its_output_and_exit_code(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go, "echo last words >&2; exit 7"))
        pid = process_of(service, command_id)
        service.kill()
        go.touch()
        wait_until(lambda: is_over(pid), "the end of the script")
        service.start()
        record = service.ended(command_id)
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 7)
        assert record["message"] == "the script exited with code 7\nbegun\nlast words"

    def test_a_waiting_command_is_run_afterwards(self, new_service: NewService, go: Path):
        service = new_service(running_limit=1).start()
        first = begin(service, waiting_script(go))
        second = service.submit("echo second")["id"]
        assert service.record(second)["throttled"]
        service.kill()
        go.touch()
        service.start()
        assert [service.ended(item)["status"] for item in (first, second)] == ["done", "done"]
        assert service.text(second) == "second\r\n"

    def test_it_can_be_cancelled_afterwards(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        pid = process_of(service, command_id)
        service.kill()
        service.start()
        answer = service.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()
        assert answer["kill_succeeded"] is True
        assert is_over(pid)
        assert not go.exists()

    def test_a_planned_attempt_is_still_made(self, service: ServiceProcess, tmp_path: Path):
        script = f"echo x >>{tmp_path}/runs; [ $(wc -l <{tmp_path}/runs) = 2 ]"
        command_id = service.submit(script, retry=1, retry_delay=1)["id"]
        wait_until(lambda: service.record(command_id)["attempts"], "the first attempt")
        service.kill()
        service.start()
        record = service.record(command_id)
        assert (record["status"], len(record["attempts"])) == ("running", 1)
        assert "retry 1 of 1 in 1 min" in service.logs(command_id)
        service.http.put(f"/commands/{command_id}", json={"status": "kill"})
        assert (tmp_path / "runs").read_text() == "x\n"

    def test_a_timeout_counts_from_the_begin_of_the_command(self, new_service: NewService, go: Path):
        service = new_service(timeout_check_seconds=0.5, kill_grace_seconds=1).start()
        command_id = begin(service, waiting_script(go), timeout=2)
        service.kill()
        service.start()
        record = service.ended(command_id)
        assert record["status"] == "error"
        assert record["message"] == "timed out: ran longer than its 2 s (checked every 0.5 s)"

    def test_an_idempotent_submission_repeated_afterwards_creates_nothing(self, service: ServiceProcess):
        body = {"command_type": "ShellCommand", "inline": "echo once"}

        def post() -> dict[str, object]:
            response = service.http.post("/commands", json=body, headers={"Idempotency-Key": "after-a-crash"})
            assert response.status_code == 200
            return dict(response.json())

        first = post()
        service.kill()
        service.start()
        assert post() == first
        assert len(service.http.get("/commands").json()["commands"]) == 1

    def test_clients_keep_their_token(self, service: ServiceProcess):
        before = service.token
        service.kill()
        assert service.start().token == before


class TestOfTheProcess:
    def test_of_the_script_is_told_as_such(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        script = psutil.Process(process_of(service, command_id)).children()[0]
        script.kill()
        record = service.ended(command_id)
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 137)
        assert record["message"].startswith("the script, or the last program in it, was killed by signal 9 (SIGKILL)")

    def test_of_all_of_it_is_told_as_such(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        os.killpg(process_of(service, command_id), signal.SIGKILL)
        record = service.ended(command_id)
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", None)
        assert record["message"].startswith("the script is gone without an exit code")

    def test_and_of_the_service_is_told_as_such(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        pid = process_of(service, command_id)
        service.kill()
        os.killpg(pid, signal.SIGKILL)
        service.start()
        record = service.ended(command_id)
        assert record["status"] == "error"
        assert record["message"].startswith("the script is gone without an exit code")
        assert len(record["attempts"]) == 1

    def test_is_retried_when_retries_are_left(self, service: ServiceProcess, go: Path, tmp_path: Path):
        command_id = begin(service, f"echo x >>{tmp_path}/runs; " + waiting_script(go), retry=1, retry_delay=0)
        os.killpg(process_of(service, command_id), signal.SIGKILL)
        go.touch()
        record = service.ended(command_id)
        assert record["status"] == "done"
        assert [item["exit_code"] for item in record["attempts"]] == [None, 0]
        assert (tmp_path / "runs").read_text() == "x\nx\n"


class TestAStopInGoodOrder:
    def test_leaves_running_commands_running(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        pid = process_of(service, command_id)
        assert service.stop() == 0
        assert psutil.pid_exists(pid)
        service.start()
        assert service.record(command_id)["pid"] == pid
        go.touch()
        assert service.ended(command_id)["status"] == "done"
        assert service.text(command_id) == "begun\r\nwent on\r\n"

    def test_lets_those_who_wait_go(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        with ThreadPoolExecutor(2) as pool, service.client(service.token) as one, service.client(service.token) as two:
            waiting = pool.submit(one.get, f"/commands/{command_id}", params={"wait": 60})
            following = pool.submit(two.get, f"/commands/{command_id}/events")
            wait_until(lambda: open_connections(service.pid) >= 3, "both requests to arrive")
            assert service.stop() == 0
            assert waiting.result(30).json()["status"] == "running"
            assert "event: end" not in following.result(30).text

    def test_tells_in_its_file_that_it_is_over(self, service: ServiceProcess):
        pid = service.pid
        service.stop()
        assert not psutil.pid_exists(pid)
        assert service.start().pid != pid


def open_connections(pid: int) -> int:
    return sum(item.status == psutil.CONN_ESTABLISHED for item in psutil.Process(pid).net_connections())
