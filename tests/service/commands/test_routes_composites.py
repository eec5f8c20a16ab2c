"""Composite commands over HTTP: their records, their results by number, and `kill -9` in the middle of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.paths import ARROW_STREAM, CSV


def submit(service: ServiceProcess, *scripts: str, **fields: Any) -> int:
    """Submit a composite of shell commands; return its id."""
    parts = [{"command_type": "ShellCommand", "inline": script} for script in scripts]
    body = {"command_type": "CompositeCommand", "sub_commands": parts, **fields}
    response = service.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    record = CommandRecord.model_validate(response.json())
    assert (record.status, record.parent_id) == ("waiting", None)
    return record.id


def error_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["error_message"]


@pytest.fixture(scope="module")
def composite(shared_service: ServiceProcess) -> int:
    """A composite of three that is done; the last prints nothing."""
    composite_id = submit(shared_service, "echo first", "printf 'a\\nb\\n'", "true")
    assert shared_service.ended(composite_id)["status"] == "done"
    return composite_id


@pytest.fixture(scope="module")
def children(shared_service: ServiceProcess, composite: int) -> list[int]:
    """Its sub-commands, in order."""
    records = shared_service.http.get("/commands", params={"parent_id": composite}).json()["commands"]
    assert [record["child_number"] for record in records] == [3, 2, 1]
    assert {record["parent_id"] for record in records} == {composite}
    return [record["id"] for record in reversed(records)]


def results_of(service: ServiceProcess, composite_id: int, number: int | None) -> httpx.Response:
    params = {} if number is None else {"sequence_number": number}
    return service.http.get(f"/commands/{composite_id}/results", params=params)


def test_results_by_number(shared_service: ServiceProcess, composite: int):
    answers = [results_of(shared_service, composite, number).json() for number in (1, 2, 3)]
    assert answers == [{"inline": True, "results": text} for text in ("first\r\n", "a\r\nb\r\n", "")]


def test_results_by_number_in_other_forms(shared_service: ServiceProcess, composite: int):
    def ask(accept: str) -> httpx.Response:
        params = {"sequence_number": 1}
        return shared_service.http.get(
            f"/commands/{composite}/results", params=params, headers={"Accept": accept}
        ).raise_for_status()

    assert ask(CSV).text.splitlines() == ['"line"', '"first"']
    assert pa.ipc.open_stream(ask(ARROW_STREAM).content).read_all().to_pylist() == [{"line": "first"}]


def test_without_a_number_the_last_results_that_hold_anything(
    shared_service: ServiceProcess, composite: int, children: list[int]
):
    assert shared_service.text(composite) == "a\r\nb\r\n"
    assert shared_service.http.get(f"/commands/{composite}/status_with_results").json()["results"] == "a\r\nb\r\n"
    location = shared_service.http.get(f"/commands/{composite}/results", params={"inline": "false"}).json()
    file = shared_service.folder(children[1]) / "1" / "out"
    assert location == {"inline": False, "result_location": [file.as_uri()]}


def test_a_number_that_there_is_not(shared_service: ServiceProcess, composite: int):
    numbers = (0, -1, 4, 2**70)
    told = f"sequence_number: command {composite} has 3 sub-commands, numbered from 1"
    assert {number: error_of(results_of(shared_service, composite, number)) for number in numbers} == dict.fromkeys(
        numbers, (422, told)
    )


def test_a_number_where_there_are_no_sub_commands(shared_service: ServiceProcess, children: list[int]):
    response = results_of(shared_service, children[0], 1)
    told = f"sequence_number: command {children[0]} is a ShellCommand; only a CompositeCommand has sub-commands"
    assert error_of(response) == (422, told)


def test_results_of_a_failed_composite_by_number(shared_service: ServiceProcess):
    composite_id = submit(shared_service, "echo well", "echo why >&2; exit 4", "true")
    record = shared_service.ended(composite_id)
    assert record["status"] == "error"
    assert record["message"].endswith(") failed: the script exited with code 4\nwhy")

    def ask(number: int | None) -> httpx.Response:
        return results_of(shared_service, composite_id, number)

    assert ask(1).json()["results"] == "well\r\n"
    assert error_of(ask(2)) == (422, f"command {composite_id + 2} is not done (error)")
    assert error_of(ask(3)) == (422, f"sub-command 3 of command {composite_id} has not begun (error)")
    assert error_of(ask(None)) == (422, f"command {composite_id} is not done (error)")


def test_cancelling_it_ends_the_running_child(shared_service: ServiceProcess, tmp_path: Path):
    composite_id = submit(shared_service, f"echo $$ >{tmp_path}/begun; sleep 600", "true")
    wait_until((tmp_path / "begun").exists, "the first child")
    answer = shared_service.http.put(f"/commands/{composite_id}", json={"status": "kill"}).json()
    assert answer == {"kill_succeeded": True, "result": f"command {composite_id} was cancelled"}
    assert shared_service.record(composite_id + 1)["status"] == "cancelled"


@pytest.mark.all  # a service of its own, twice: in the gate tests/paths/test_service.py kills one
def test_after_kill_9_it_goes_on_and_each_child_has_run_once(
    new_service: Callable[..., ServiceProcess], tmp_path: Path
):
    service = new_service().start()
    marks = tmp_path / "marks"
    go = tmp_path / "go"
    composite_id = submit(
        service,
        f"echo 1 >>{marks}",
        f"echo 2 >>{marks}; until [ -e {go} ]; do sleep 0.02; done; echo went on",
        f"echo 3 >>{marks}",
    )
    wait_until(lambda: marks.exists() and "2" in marks.read_text(), "the second child")
    service.kill()
    service.start()
    go.touch()
    assert service.ended(composite_id)["status"] == "done"
    assert marks.read_text() == "1\n2\n3\n"
    assert service.text(composite_id) == "went on\r\n"
    assert "sub-command 3 of 3 (ShellCommand), command 4: done" in service.logs(composite_id)
