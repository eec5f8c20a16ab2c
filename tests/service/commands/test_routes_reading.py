"""Looking at commands over HTTP: one, lists, results, logs, and waiting for the end."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.service.commands.test_routes_submitting import error_of
from tests.support.service_process import ServiceProcess, wait_until

UNKNOWN = ("999999999", "9223372036854775807")
PARTS = ("", "/results", "/status_with_results", "/logs", "/error_logs", "/jobs", "/events")


@pytest.fixture
def http(shared_service: ServiceProcess) -> httpx.Client:
    return shared_service.http


@pytest.fixture(scope="module")
def done(shared_service: ServiceProcess) -> int:
    """A command that is done, with output and a log."""
    command_id = int(shared_service.submit("printf 'a\\tb\\n1\\t2'; echo to the log >&2")["id"])
    shared_service.ended(command_id)
    return command_id


@pytest.fixture(scope="module")
def failed(shared_service: ServiceProcess) -> int:
    command_id = int(shared_service.submit("echo some output; echo why >&2; exit 3")["id"])
    shared_service.ended(command_id)
    return command_id


@pytest.fixture
def running(shared_service: ServiceProcess, tmp_path: Path):
    """A command that runs until the file `go` is there, and has written to its log."""
    record = shared_service.submit(f"echo begun; echo logged >&2; until [ -e {tmp_path}/go ]; do sleep 0.02; done")
    wait_until(lambda: shared_service.logs(record["id"]), "the log of a running command")
    yield record["id"]
    (tmp_path / "go").touch()
    shared_service.ended(record["id"])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("command_id", UNKNOWN)
def test_an_unknown_command_is_not_found(http: httpx.Client, command_id: str, part: str):
    response = http.get(f"/commands/{command_id}{part}")
    assert response.status_code == 404
    assert error_of(response) == f"there is no command {command_id}"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("command_id", ["0", "-1", "abc", "1.5", "9223372036854775808", "9" * 400, "1%00", "٣"])
def test_what_is_no_id_is_refused(http: httpx.Client, command_id: str, part: str):
    response = http.get(f"/commands/{command_id}{part}")
    assert response.status_code in (404, 422)
    error_of(response)


def test_one_command(http: httpx.Client, done: int):
    plain = http.get(f"/commands/{done}").json()
    details = http.get(f"/commands/{done}", params={"include_query_properties": "true"}).json()
    assert details.keys() - plain.keys() == {"tags", "comments"}
    assert (plain["status"], plain["progress"], plain["num_result_dir"]) == ("done", 100, 0)
    assert plain["attempts"][0]["exit_code"] == 0
    assert plain["start_time"] <= plain["end_time"]


class TestResults:
    @pytest.mark.parametrize("params", [{}, {"inline": "TRUE"}, {"inline": "1"}])
    def test_as_text(self, http: httpx.Client, done: int, params: dict[str, str]):
        answer = http.get(f"/commands/{done}/results", params=params).json()
        assert answer == {"inline": True, "results": "a\tb\r\n1\t2\r\n"}

    def test_with_headers(self, http: httpx.Client, done: int):
        answer = http.get(f"/commands/{done}/results", params={"include_headers": "True"}).json()
        assert answer["results"] == "line\r\na\tb\r\n1\t2\r\n"

    def test_by_their_place(self, http: httpx.Client, done: int):
        answer = http.get(f"/commands/{done}/results", params={"inline": "false"}).json()
        assert answer.keys() == {"inline", "result_location"}
        assert answer["inline"] is False
        place = Path(answer["result_location"][0].removeprefix("file://"))
        assert place.read_bytes() == b"a\tb\n1\t2"

    def test_typed(self, http: httpx.Client, done: int):
        def content(kind: str) -> bytes:
            response = http.get(f"/commands/{done}/results", headers={"Accept": kind})
            assert response.headers["Content-Type"].split(";")[0] == kind.split(";")[0].split(",")[0]
            return response.content

        lines = ["a\tb", "1\t2"]
        arrow = pa.ipc.open_stream(content("application/vnd.apache.arrow.stream")).read_all()
        assert arrow.column("line").to_pylist() == lines
        parquet = pq.read_table(pa.BufferReader(content("application/vnd.apache.parquet")))
        assert parquet.column("line").to_pylist() == lines
        assert content("text/csv;q=0.9, */*") == b'"line"\n"a\tb"\n"1\t2"\n'

    def test_of_a_script_that_wrote_nothing(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("true")["id"]
        shared_service.ended(command_id)
        assert http.get(f"/commands/{command_id}/results").json() == {"inline": True, "results": ""}

    def test_over_the_limit_are_told_by_their_place(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("yes 0123456789abcdef | head -c 20000001")["id"]
        record = shared_service.ended(command_id)
        assert record["result_bytes"] == 20_000_001
        answer = http.get(f"/commands/{command_id}/results").json()
        assert answer["inline"] is False
        assert http.get(f"/commands/{command_id}/status_with_results").json()["inline"] is False
        response = http.get(f"/commands/{command_id}/results", headers={"Accept": "text/csv"})
        assert len(response.content) > 20_000_000

    def test_are_refused_before_the_end(self, http: httpx.Client, running: int):
        response = http.get(f"/commands/{running}/results")
        assert response.status_code == 422
        assert error_of(response) == f"command {running} is not done (running)"

    def test_are_refused_of_a_failure(self, http: httpx.Client, failed: int):
        response = http.get(f"/commands/{failed}/results")
        assert (response.status_code, error_of(response)) == (422, f"command {failed} is not done (error)")

    def test_that_somebody_removed(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("echo hi")["id"]
        shared_service.ended(command_id)
        (shared_service.folder(command_id) / "1" / "out").unlink()
        for accept in ("application/json", "text/csv"):
            response = http.get(f"/commands/{command_id}/results", headers={"Accept": accept})
            assert response.status_code == 404
            assert error_of(response) == f"the result of command {command_id} is no longer on the service's disk"

    @pytest.mark.parametrize("params", [{"inline": "maybe"}, {"include_headers": ""}])
    def test_flags_are_checked(self, http: httpx.Client, done: int, params: dict[str, str]):
        response = http.get(f"/commands/{done}/results", params=params)
        assert response.status_code == 422
        assert next(iter(params)) in error_of(response)


class TestStatusWithResults:
    def test_while_it_runs(self, http: httpx.Client, running: int):
        answer = http.get(f"/commands/{running}/status_with_results").json()
        assert (answer["id"], answer["status"], answer["progress"]) == (running, "running", 0)
        assert "results" not in answer

    def test_once_it_is_done(self, http: httpx.Client, done: int):
        answer = http.get(f"/commands/{done}/status_with_results").json()
        assert (answer["status"], answer["error"], answer["inline"]) == ("done", None, True)
        assert answer["results"] == "a\tb\r\n1\t2\r\n"
        assert answer["path"].endswith(f"/{done}")

    def test_of_a_failure(self, http: httpx.Client, failed: int):
        answer = http.get(f"/commands/{failed}/status_with_results").json()
        assert (answer["status"], answer["error"]) == ("error", "the script exited with code 3\nwhy")


class TestLogs:
    def test_whole_and_by_offset(self, http: httpx.Client, done: int):
        response = http.get(f"/commands/{done}/logs")
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.text == "to the log\n"
        assert response.headers["err_length"] == "11"
        rest = http.get(f"/commands/{done}/logs", params={"err_file_processed": 3, "tmp_file_processed": 5})
        assert rest.text == "the log\n"
        assert (rest.headers["err_length"], rest.headers["tmp_length"]) == ("11", "5")
        assert http.get(f"/commands/{done}/logs", params={"err_file_processed": 2**62}).text == ""

    def test_while_it_runs(self, http: httpx.Client, running: int):
        assert http.get(f"/commands/{running}/logs").text == "logged\n"
        assert http.get(f"/commands/{running}/error_logs").text == ""

    def test_the_error_part(self, http: httpx.Client, done: int, failed: int):
        assert http.get(f"/commands/{done}/error_logs").text == ""
        assert http.get(f"/commands/{failed}/error_logs").text == "the script exited with code 3\nwhy\n"

    @pytest.mark.parametrize("offset", ["-1", "x", str(2**63)])
    def test_an_offset_out_of_form_is_refused(self, http: httpx.Client, done: int, offset: str):
        response = http.get(f"/commands/{done}/logs", params={"err_file_processed": offset})
        assert response.status_code == 422
        assert "err_file_processed" in error_of(response)


class TestWaiting:
    def test_for_the_end(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("sleep 0.3; echo slept")["id"]
        assert http.get(f"/commands/{command_id}", params={"wait": 60}).json()["status"] == "done"

    def test_for_status_and_results(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("sleep 0.3; echo slept")["id"]
        answer = http.get(f"/commands/{command_id}/status_with_results", params={"wait": 60}).json()
        assert (answer["status"], answer["results"]) == ("done", "slept\r\n")

    def test_ends_when_the_time_is_over(self, http: httpx.Client, running: int):
        begun = time.monotonic()
        assert http.get(f"/commands/{running}", params={"wait": 0.3}).json()["status"] == "running"
        assert time.monotonic() - begun >= 0.3

    @pytest.mark.parametrize("seconds", ["-1", "61", "nan", "inf", "soon"])
    def test_no_longer_than_a_minute(self, http: httpx.Client, done: int, seconds: str):
        response = http.get(f"/commands/{done}", params={"wait": seconds})
        assert response.status_code == 422
        assert "wait" in error_of(response)


class TestEvents:
    def events(self, http: httpx.Client, command_id: int, **headers: str) -> list[tuple[str, str, Any]]:
        """Return kind, id and data of every event until the stream ends."""
        found: list[dict[str, str]] = [{}]
        with http.stream("GET", f"/commands/{command_id}/events", headers=headers) as response:
            assert response.headers["Content-Type"].startswith("text/event-stream")
            for line in response.iter_lines():
                if not line:
                    found.append({})
                elif not line.startswith(":"):
                    key, _, value = line.partition(": ")
                    found[-1][key] = value
        return [(item["event"], item["id"], json.loads(item["data"])) for item in found if item]

    def test_from_the_beginning_to_the_end(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("echo grün >&2; sleep 0.4; echo two >&2; exit 1")["id"]
        events = self.events(http, command_id)
        assert events[0][0] == "status"
        text = "".join(data["text"] for kind, _, data in events if kind == "log")
        assert text == "grün\ntwo\n"
        assert events[-1][0] == "end"
        assert events[-1][1] == str(len(text.encode()))
        assert events[-1][2]["status"] == "error"
        assert [kind for kind, _, _ in events].count("end") == 1

    def test_resumed_where_they_broke_off(self, http: httpx.Client, done: int):
        events = self.events(http, done, **{"Last-Event-ID": "3"})
        logs = [(data["offset"], data["end"], data["text"]) for kind, _, data in events if kind == "log"]
        assert logs == [(3, 11, "the log\n")]

    @pytest.mark.parametrize("last", ["x", "-1", "²", "9" * 64, "1e3", ""])
    def test_from_the_beginning_when_the_last_one_is_not_known(self, http: httpx.Client, done: int, last: str):
        response = http.get(f"/commands/{done}/events", headers={"Last-Event-ID": last.encode("latin-1")})
        assert response.status_code == 200
        assert '"text":"to the log\\n"' in response.text

    def test_a_character_never_finished_is_told_at_the_end(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("printf 'a\\xf0\\x9f' >&2")["id"]
        shared_service.ended(command_id)
        texts = [data["text"] for kind, _, data in self.events(http, command_id) if kind == "log"]
        assert texts == ["a\ufffd"]


class TestCancelling:
    def test_a_running_command(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("echo begun >&2; sleep 600")["id"]
        wait_until(lambda: shared_service.logs(command_id), "the log")
        answer = http.put(f"/commands/{command_id}", json={"status": "kill"}).json()
        assert answer == {"kill_succeeded": True, "result": f"command {command_id} was cancelled"}
        record = shared_service.record(command_id)
        assert (record["status"], record["message"]) == ("cancelled", "cancelled")
        assert "stopping: cancelled" in shared_service.logs(command_id)

    def test_one_that_has_ended(self, http: httpx.Client, done: int):
        answer = http.put(f"/commands/{done}", json={"status": "kill"}).json()
        assert answer == {"kill_succeeded": False, "result": f"command {done} has already ended (done)"}

    def test_one_between_two_attempts(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("exit 1", retry=1, retry_delay=5)["id"]
        wait_until(lambda: shared_service.record(command_id)["attempts"], "the first attempt")
        assert http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"]
        assert len(shared_service.record(command_id)["attempts"]) == 1

    @pytest.mark.parametrize(
        ("body", "message"),
        [({}, "status: Field required"), ({"status": None}, "status: Field required"), ({"status": 1}, "status: "),
         ({"status": "done"}, 'status: must be "kill"'), ([], "")],
    )  # fmt: skip
    def test_is_the_only_change_there_is(self, http: httpx.Client, done: int, body: Any, message: str):
        response = http.put(f"/commands/{done}", json=body)
        assert response.status_code == 422
        assert error_of(response).startswith(message)

    def test_an_unknown_command(self, http: httpx.Client):
        assert http.put("/commands/999999999", json={"status": "kill"}).status_code == 404


class TestLists:
    def test_pages_newest_first(self, http: httpx.Client, shared_service: ServiceProcess):
        ids = [shared_service.submit("true", name="paged")["id"] for _ in range(5)]

        def page(number: int) -> dict[str, Any]:
            return dict(http.get("/commands", params={"name": "paged", "page": number, "per_page": 2}).json())

        pages = [page(number) for number in (1, 2, 3, 4)]
        assert [[record["id"] for record in item["commands"]] for item in pages] == [
            [ids[4], ids[3]], [ids[2], ids[1]], [ids[0]], [],
        ]  # fmt: skip
        assert [item["paging_info"] for item in pages] == [
            {"page": 1, "per_page": 2, "next_page": 2, "previous_page": None},
            {"page": 2, "per_page": 2, "next_page": 3, "previous_page": 1},
            {"page": 3, "per_page": 2, "next_page": None, "previous_page": 2},
            {"page": 4, "per_page": 2, "next_page": None, "previous_page": 3},
        ]
        for command_id in ids:
            shared_service.ended(command_id)

    def test_ten_a_page_and_a_hundred_at_most(self, http: httpx.Client):
        assert http.get("/commands").json()["paging_info"]["per_page"] == 10
        assert http.get("/commands", params={"per_page": 5000}).json()["paging_info"]["per_page"] == 100

    def test_filters(self, http: httpx.Client, shared_service: ServiceProcess):
        command_id = shared_service.submit("exit 1", name="filtered", tags="[f1,f2]", label="default")["id"]
        shared_service.ended(command_id)

        def found(**params: str) -> list[int]:
            answer = http.get("/commands", params={"name": "filtered", **params})
            assert answer.status_code == 200, answer.text
            return [record["id"] for record in answer.json()["commands"]]

        matching = {
            "status": "failed", "command_type": "ShellCommand,PigCommand", "command_source": "api", "tags": "[f2,f1]",
            "label": "default", "start_date": "2026-01-01", "end_date": "2999-01-01", "all_users": "1",
        }  # fmt: skip
        assert found(**matching) == [command_id]
        others = {
            "status": "done", "command_type": "PigCommand", "command_source": "UI", "tags": "f3", "label": "x",
            "start_date": "2999-01-01", "end_date": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        for key, value in others.items():
            assert found(**{**matching, key: value}) == [], key

    @pytest.mark.parametrize(
        ("key", "value"),
        [("page", "0"), ("page", "x"), ("page", "99999999999999999999"), ("per_page", "0"), ("status", "fine"),
         ("command_type", "Shell"), ("command_source", "x"), ("start_date", "soon"), ("end_date", "0000-00-00"),
         ("all_users", "maybe"), ("name", "a\x00b"), ("name", "n" * 300)],
    )  # fmt: skip
    def test_a_filter_out_of_form_is_refused(self, http: httpx.Client, key: str, value: str):
        response = http.get("/commands", params={key: value})
        assert response.status_code == 422
        assert key in error_of(response) or "NUL" in error_of(response)


def test_jobs_of_commands_without_an_engine(http: httpx.Client, done: int):
    assert http.get(f"/commands/{done}/jobs").json() == {"jobs": []}
