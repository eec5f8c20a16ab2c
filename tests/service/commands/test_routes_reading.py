"""Looking at commands over HTTP: one, lists, results, logs, and waiting for the end."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
from tests.service.commands.test_routes_submitting import error_of
from tests.support.service_process import ServiceProcess


def refusal(http: httpx.Client, path: str) -> str:
    """Return the text of the error with which a parameter is refused."""
    response = http.get(path)
    assert response.status_code == 422, response.text
    return error_of(response)


PARTS = ("", "/results", "/status_with_results", "/logs", "/error_logs", "/jobs", "/events")


def answers_of_each_part(http: httpx.Client, command_id: int) -> dict[str, tuple[int, str]]:
    answers = {part: http.get(f"/commands/{command_id}{part}") for part in PARTS}
    return {part: (answer.status_code, error_of(answer)) for part, answer in answers.items()}


def test_an_unknown_command_is_not_found(http: httpx.Client):
    not_found = (404, "there is no command 9223372036854775807")
    assert answers_of_each_part(http, 2**63 - 1) == dict.fromkeys(PARTS, not_found)


def test_an_invalid_id_is_refused(http: httpx.Client):
    invalid = ("0", "-1", "abc", "1.5", "9223372036854775808", "9" * 400, "1%00", "٣")
    answers = {command_id: http.get(f"/commands/{command_id}") for command_id in invalid}
    assert {
        command_id: (answer.status_code, error_of(answer).count("command_id: "))
        for command_id, answer in answers.items()
    } == dict.fromkeys(invalid, (422, 1))


def test_an_invalid_id_is_refused_in_each_part(http: httpx.Client):
    answers = answers_of_each_part(http, 2**63)
    assert {part: status for part, (status, _) in answers.items()} == dict.fromkeys(PARTS, 422)


def test_one_command(http: httpx.Client, done: int):
    plain = http.get(f"/commands/{done}").json()
    details = http.get(f"/commands/{done}", params={"include_query_properties": "true"}).json()
    assert details.keys() - plain.keys() == {"tags", "comments"}
    assert (plain["status"], plain["progress"], plain["num_result_dir"]) == ("done", 100, 0)
    assert plain["attempts"][0]["exit_code"] == 0
    assert plain["start_time"] <= plain["end_time"]


class TestResults:
    def test_as_text(self, http: httpx.Client, done: int):
        ways = ("", "?inline=TRUE", "?inline=1")
        answers = {way: http.get(f"/commands/{done}/results{way}").json() for way in ways}
        found = {"inline": True, "results": "a\tb\r\n1\t2\r\n"}
        assert answers == dict.fromkeys(ways, found)

    def test_lines_have_no_header(self, http: httpx.Client, done: int):
        answer = http.get(f"/commands/{done}/results", params={"include_headers": "True"}).json()
        assert answer["results"] == "a\tb\r\n1\t2\r\n"

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

    def test_over_the_limit_are_reported_by_their_place(self, http: httpx.Client, shared_service: ServiceProcess):
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

    def test_flags_are_checked(self, http: httpx.Client, done: int):
        assert refusal(http, f"/commands/{done}/results?inline=maybe").startswith("inline: ")
        assert refusal(http, f"/commands/{done}/results?include_headers=").startswith("include_headers: ")


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
        record = http.get(f"/commands/{done}").json()
        times = ("start_time", "end_time", "started_at", "ended_at")
        assert [answer[name] for name in times] == [record[name] for name in times]
        assert [int(datetime.fromisoformat(answer[name]).timestamp()) for name in ("started_at", "ended_at")] == [
            answer["start_time"],
            answer["end_time"],
        ]

    def test_of_a_failure(self, http: httpx.Client, failed: int):
        answer = http.get(f"/commands/{failed}/status_with_results").json()
        assert (answer["status"], answer["error"]) == ("error", "the script exited with code 3\nwhy")


class TestLogs:
    def test_whole_and_by_offset(self, http: httpx.Client, done: int):
        response = http.get(f"/commands/{done}/logs")
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.text == "to the log\n"
        assert (response.headers["err_length"], response.headers["log_length"]) == ("11", "11")
        rest = http.get(f"/commands/{done}/logs", params={"err_file_processed": 3, "tmp_file_processed": 5})
        assert rest.text == "the log\n"
        assert [rest.headers[name] for name in ("err_length", "tmp_length", "log_length")] == ["8", "0", "11"]
        beyond = http.get(f"/commands/{done}/logs", params={"err_file_processed": 2**62})
        assert (beyond.text, beyond.headers["err_length"], beyond.headers["log_length"]) == ("", "0", "11")

    def test_while_it_runs(self, http: httpx.Client, running: int):
        assert http.get(f"/commands/{running}/logs").text == "logged\n"
        assert http.get(f"/commands/{running}/error_logs").text == ""

    def test_the_error_part(self, http: httpx.Client, done: int, failed: int):
        assert http.get(f"/commands/{done}/error_logs").text == ""
        assert http.get(f"/commands/{failed}/error_logs").text == "the script exited with code 3\nwhy\n"

    def test_an_offset_out_of_form_is_refused(self, http: httpx.Client, done: int):
        refused = {
            "-1": "err_file_processed: Input should be greater than or equal to 0",
            "x": "err_file_processed: Input should be a valid integer, unable to parse string as an integer",
            str(2**63): "err_file_processed: Input should be less than or equal to 4611686018427387904",
        }
        path = f"/commands/{done}/logs?err_file_processed="
        assert {offset: refusal(http, f"{path}{offset}") for offset in refused} == refused


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

    def test_no_longer_than_a_minute(self, http: httpx.Client, done: int):
        refused = {
            "-1": "wait: Input should be greater than or equal to 0",
            "61": "wait: Input should be less than or equal to 60",
            "nan": "wait: Input should be less than or equal to 60",
            "inf": "wait: Input should be less than or equal to 60",
            "soon": "wait: Input should be a valid number, unable to parse string as a number",
        }
        assert {seconds: refusal(http, f"/commands/{done}?wait={seconds}") for seconds in refused} == refused


def test_jobs_of_commands_without_an_engine(http: httpx.Client, done: int):
    assert http.get(f"/commands/{done}/jobs").json() == {"jobs": []}
