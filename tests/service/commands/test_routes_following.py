"""Following, cancelling and listing commands over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from tests.service.commands.test_routes_submitting import error_of
from tests.support.service_process import ServiceProcess, wait_until


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

    def test_from_the_beginning_when_the_last_one_is_not_known(self, http: httpx.Client, done: int):
        def begins_anew(last: str) -> bool:
            response = http.get(f"/commands/{done}/events", headers={"Last-Event-ID": last.encode("latin-1")})
            return response.status_code == 200 and '"text":"to the log\\n"' in response.text

        unknown = ("x", "-1", "²", "9" * 64, "1e3", "")
        assert {last: begins_anew(last) for last in unknown} == dict.fromkeys(unknown, True)

    def test_an_incomplete_character_is_reported_at_the_end(self, http: httpx.Client, shared_service: ServiceProcess):
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

    def test_is_the_only_change_there_is(self, http: httpx.Client, done: int):
        def refusal(body: Any) -> str:
            response = http.put(f"/commands/{done}", json=body)
            assert response.status_code == 422, response.text
            return error_of(response)

        refused: list[tuple[Any, str]] = [
            ({}, "status: Field required"),
            ({"status": None}, "status: Field required"),
            ({"status": 1}, "status: Input should be a valid string"),
            ({"status": "done"}, 'status: must be "kill"'),
            ([], "body: Input should be a valid dictionary or object to extract fields from"),
        ]
        assert [(body, refusal(body)) for body, _ in refused] == refused

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

    def test_a_filter_out_of_form_is_refused_by_its_name(self, http: httpx.Client):
        def refusal(key: str, value: str) -> str:
            response = http.get("/commands", params={key: value})
            assert response.status_code == 422, response.text
            return error_of(response)

        wrong = [
            ("page", "0"), ("page", "x"), ("page", "99999999999999999999"), ("per_page", "0"), ("status", "fine"),
            ("command_type", "Shell"), ("command_source", "x"), ("start_date", "soon"), ("end_date", "0000-00-00"),
            ("all_users", "maybe"), ("name", "n" * 300),
        ]  # fmt: skip
        assert [(refusal(key, value).partition(":")[0], value) for key, value in wrong] == wrong
        assert refusal("name", "a\x00b") == "a filter must not hold a NUL character"


def test_a_command_that_still_waits_is_cancelled_at_once(new_service: Callable[..., ServiceProcess], tmp_path: Path):
    service = new_service(running_limit=1).start()
    first = service.submit(f"until [ -e {tmp_path}/go ]; do sleep 0.02; done")["id"]
    second = service.submit(f"touch {tmp_path}/second")["id"]
    record = service.record(second)
    assert (record["status"], record["throttled"]) == ("waiting", True)
    assert record["message"] == "waiting for a free slot (1 of 1 running)"
    answer = service.http.put(f"/commands/{second}", json={"status": "kill"}).json()
    assert answer == {"kill_succeeded": True, "result": f"command {second} was cancelled"}
    assert service.record(second)["message"] == "cancelled before it began"
    (tmp_path / "go").touch()
    assert service.ended(first)["status"] == "done"
    assert not (tmp_path / "second").exists()
