"""kill -9 of the service, of a command's process, of both, and stops in good order: nothing is lost or runs twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from tests.conftest import end_commands_of
from tests.support.processes import is_over
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
    return int((service.folder(command_id) / "1" / "pid").read_text().split()[0])


@dataclass
class Crash:
    """A service that was killed and started again, and the commands it had at that moment, each in another state."""

    service: ServiceProcess
    folder: Path
    token: str = ""
    ids: dict[str, int] = field(default_factory=dict)
    pids: dict[str, int] = field(default_factory=dict)
    first_answer: dict[str, object] = field(default_factory=dict)

    def begin(self, name: str, end: str = "", **fields: object) -> None:
        self.ids[name] = begin(self.service, waiting_script(self.folder / name, end), **fields)
        self.pids[name] = process_of(self.service, self.ids[name])

    def post_once(self) -> dict[str, object]:
        """Submit with an idempotency key."""
        body = {"command_type": "ShellCommand", "inline": "echo once", "name": "once"}
        response = self.service.http.post("/commands", json=body, headers={"Idempotency-Key": "around-a-crash"})
        assert response.status_code == 200
        return dict(response.json())

    def ended(self, name: str) -> dict[str, Any]:
        return self.service.ended(self.ids[name])

    def output(self, name: str) -> str:
        return (self.service.folder(self.ids[name]) / "1" / "out").read_text()


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crash]:
    folder = tmp_path_factory.mktemp("crash")
    service = ServiceProcess(folder / "data", running_limit=7, kill_grace_seconds=1, timeout_check_seconds=0.5).start()
    crash = Crash(service, folder, token=service.token)
    for name, code in (("well", 0), ("badly", 7)):
        crash.begin(name, f"exit {code}")
    crash.begin("meanwhile", "echo last words >&2; exit 7")
    crash.begin("killed")
    crash.begin("cancelled")
    crash.ids["planned"] = service.submit(f"echo x >>{folder}/runs; exit 1", retry=1, retry_delay=1)["id"]
    wait_until(lambda: service.record(crash.ids["planned"])["attempts"], "the first attempt")
    crash.begin("timed", timeout=12)  # it takes its slot from the next one until the service is killed
    crash.ids["waiting"] = service.submit("echo second")["id"]
    assert service.record(crash.ids["waiting"])["throttled"]
    crash.first_answer = crash.post_once()
    service.kill()
    (folder / "meanwhile").touch()
    os.killpg(crash.pids["killed"], signal.SIGKILL)
    wait_until(lambda: is_over(crash.pids["meanwhile"]) and is_over(crash.pids["killed"]), "two ends")
    service.start()
    yield crash
    service.kill()
    end_commands_of(service.data_dir)


class TestOfTheService:
    @pytest.mark.parametrize(("name", "code", "status"), [("well", 0, "done"), ("badly", 7, "error")])
    def test_a_running_command_goes_on_with_output_and_exit_code(self, crash: Crash, name: str, code: int, status: str):
        record = crash.service.record(crash.ids[name])
        assert (record["status"], record["pid"]) == ("running", crash.pids[name])
        assert crash.service.logs(crash.ids[name]) == "begun\n"
        (crash.folder / name).touch()
        record = crash.ended(name)
        assert (record["status"], [item["exit_code"] for item in record["attempts"]]) == (status, [code])
        assert crash.output(name) == "begun\nwent on\n"

    def test_a_command_that_ended_meanwhile_keeps_its_output_and_exit_code(self, crash: Crash):
        record = crash.ended("meanwhile")
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 7)
        assert record["message"] == "the script exited with code 7\nbegun\nlast words"
        assert crash.output("meanwhile") == "begun\nwent on\n"

    def test_a_command_that_was_killed_too_is_reported_as_such(self, crash: Crash):
        record = crash.ended("killed")
        assert (record["status"], len(record["attempts"])) == ("error", 1)
        assert record["message"].startswith("the script is gone without an exit code")

    def test_a_waiting_command_is_run_afterwards(self, crash: Crash):
        assert crash.ended("waiting")["status"] == "done"
        assert crash.service.text(crash.ids["waiting"]) == "second\r\n"

    def test_a_running_command_can_be_cancelled_afterwards(self, crash: Crash):
        answer = crash.service.http.put(f"/commands/{crash.ids['cancelled']}", json={"status": "kill"}).json()
        assert answer["kill_succeeded"] is True
        assert is_over(crash.pids["cancelled"])
        assert crash.output("cancelled") == "begun\n"

    def test_a_planned_attempt_stays_planned(self, crash: Crash):
        record = crash.service.record(crash.ids["planned"])
        assert (record["status"], len(record["attempts"])) == ("running", 1)
        assert "retry 1 of 1 in 1 min" in crash.service.logs(crash.ids["planned"])
        assert (crash.folder / "runs").read_text() == "x\n"

    def test_a_timeout_counts_from_the_begin_of_the_command(self, crash: Crash):
        record = crash.ended("timed")
        assert record["status"] == "error"
        assert record["message"] == "timed out: ran longer than its 12 s (checked every 0.5 s)"
        assert is_over(crash.pids["timed"])

    def test_an_idempotent_submission_repeated_afterwards_creates_nothing(self, crash: Crash):
        assert crash.post_once() == crash.first_answer
        listed = crash.service.http.get("/commands", params={"name": "once"}).json()["commands"]
        assert [record["id"] for record in listed] == [crash.first_answer["id"]]

    def test_clients_keep_their_token(self, crash: Crash):
        assert crash.service.token == crash.token


def test_a_timeout_that_was_over_while_there_was_no_service_ends_the_process(new_service: NewService, go: Path):
    service = new_service(kill_grace_seconds=1, timeout_check_seconds=0.5).start()
    command_id = begin(service, waiting_script(go), timeout=1)
    pid = process_of(service, command_id)
    service.kill()
    over = time.time() + 2
    wait_until(lambda: time.time() > over, "the end of the command's time")
    service.start()
    assert service.ended(command_id)["message"].startswith("timed out")
    assert is_over(pid)


class TestOfTheProcess:
    @pytest.fixture
    def service(self, shared_service: ServiceProcess) -> ServiceProcess:
        return shared_service

    def test_of_the_script_is_reported_as_such(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        script = psutil.Process(process_of(service, command_id)).children()[0]
        script.kill()
        record = service.ended(command_id)
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 137)
        assert record["message"].startswith("the script, or the last program in it, was killed by signal 9 (SIGKILL)")

    def test_of_all_of_it_is_reported_as_such(self, service: ServiceProcess, go: Path):
        command_id = begin(service, waiting_script(go))
        os.killpg(process_of(service, command_id), signal.SIGKILL)
        record = service.ended(command_id)
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", None)
        assert record["message"].startswith("the script is gone without an exit code")

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
        sent = threading.Event()
        streamed: list[str] = []

        def note(event: str, _info: object) -> None:
            if event == "http11.send_request_body.complete":
                sent.set()

        def follow(client: httpx.Client) -> None:
            with client.stream("GET", f"/commands/{command_id}/events") as response:
                streamed.extend(response.iter_lines())

        with ThreadPoolExecutor(2) as pool, service.client(service.token) as one, service.client(service.token) as two:
            path = f"/commands/{command_id}"
            waiting = pool.submit(one.get, path, params={"wait": 60}, extensions={"trace": note})
            assert sent.wait(30)
            # The service takes connections in their order: when it answers this one, it has the call that waits.
            following = pool.submit(follow, two)
            wait_until(lambda: streamed, "the first event")
            assert service.stop() == 0
            assert waiting.result(30).json()["status"] == "running"
            following.result(30)
            assert "event: end" not in streamed

    def test_shows_in_its_file_that_it_is_over(self, service: ServiceProcess):
        pid = service.pid
        service.stop()
        assert not psutil.pid_exists(pid)
        assert service.start().pid != pid
