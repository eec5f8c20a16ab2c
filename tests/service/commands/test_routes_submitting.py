"""Submitting over HTTP, to a real service: what is taken, what is refused and how."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from tests.service.commands.test_record import EXTENSIONS, OF_THE_CONTRACT
from tests.support.service_process import ServiceProcess

VERSIONS = ("v1.2", "latest", "v1.3", "v2", "v2.0", "v2.1", "v2.2")


def error_of(response: httpx.Response) -> str:
    """Return the text of an error, whose envelope must be whole."""
    error = response.json()["error"]
    assert error["error_code"] == response.status_code
    assert error["trace_id"] == response.headers["X-Trace-Id"]
    assert response.headers["Content-Type"] == "application/json"
    return str(error["error_message"])


def test_a_submission_answers_with_the_record_as_it_was_created(shared_service: ServiceProcess):
    record = shared_service.submit("echo hi", name="n", tags=["a", "b"], pool="p", timeout=100, can_notify=False)
    assert record.keys() == OF_THE_CONTRACT | EXTENSIONS
    assert (record["status"], record["progress"], record["start_time"]) == ("waiting", 0, None)
    assert (record["name"], record["pool"], record["timeout"], record["label"]) == ("n", "p", 100, None)
    assert record["meta_data"] == {
        "results_resource": f"commands/{record['id']}/results", "logs_resource": f"commands/{record['id']}/logs",
    }  # fmt: skip
    assert re.fullmatch(rf"/tmp/\d{{4}}-\d\d-\d\d/1/{record['id']}", record["path"])
    assert shared_service.ended(record["id"])["status"] == "done"


def answers_to(service: ServiceProcess, version: str, slash: str = "") -> tuple[int, int, int]:
    """Submit a command, look at it and list commands; return the status of each answer."""
    place = f"{service.base_url}/api/{version}/commands"
    submitted = service.http.post(f"{place}{slash}", json={"command_type": "ShellCommand", "inline": "true"})
    one = service.http.get(f"{place}/{submitted.json()['id']}{slash}")
    assert one.json()["id"] == submitted.json()["id"]
    return submitted.status_code, one.status_code, service.http.get(f"{place}{slash}").status_code


def test_every_version_answers(shared_service: ServiceProcess):
    answered = {version: answers_to(shared_service, version) for version in VERSIONS}
    assert answered == dict.fromkeys(VERSIONS, (200, 200, 200))


def test_a_path_may_end_with_a_slash(shared_service: ServiceProcess):
    assert answers_to(shared_service, "v1.2", "/") == (200, 200, 200)


def test_nulls_and_unknown_keys_are_ignored(shared_service: ServiceProcess):
    nothing = dict.fromkeys(("name", "tags", "label", "retry", "timeout", "macros", "files", "script_location", "pool"))
    record = shared_service.submit("true", **nothing, can_notify=None, unknown={"deep": [1, None]}, template="x")
    assert shared_service.ended(record["id"])["status"] == "done"
    assert record["template"] == "generic"


def test_archive_and_tag_are_other_names(shared_service: ServiceProcess):
    record = shared_service.submit("true", tag="[x]", archive="")
    found = shared_service.http.get(f"/commands/{record['id']}", params={"include_query_properties": "TRUE"}).json()
    assert (found["tags"], found["comments"]) == ("[x]", None)


def test_macros_are_filled_in(shared_service: ServiceProcess):
    macros = [{"day": "Service_nominal_time.format('YYYY-MM-DD')"}, {"n": "6 * 7"}]
    record = shared_service.submit("echo $day$ $n$ $unknown$ costs 5$", macros=macros)
    ended = shared_service.ended(record["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d 42 \$ costs 5\$\r\n", shared_service.text(record["id"]))
    assert ended["resolved_macros"][1] == {"n": 42}
    assert ended["command"]["inline"] == "echo $day$ $n$ $unknown$ costs 5$"


TYPES = (
    "CompositeCommand, DbExportCommand, DbImportCommand, DbTapQueryCommand, HadoopCommand, HiveCommand, "
    "JupyterNotebookCommand, PigCommand, PrestoCommand, ShellCommand, SparkCommand, SqlCommand"
)
BODIES = {
    b"{": (400, "the body is not JSON"),
    b"[]": (422, "the body must be a JSON object"),
    b"{}": (422, f"Command could not be created: command_type is missing; it must be one of {TYPES}"),
    b'{"command_type": ["ShellCommand"]}': (422, "Command could not be created: command_type must be a string"),
    b'{"command_type": "PrestoCommand"}': (
        422,
        "PrestoCommand could not be created: give exactly one of query and script_location",
    ),
    b'{"command_type": "ShellCommand", "inline": "a\\u0000b"}': (
        422,
        "ShellCommand could not be created: inline holds a NUL character",
    ),
    b'{"command_type": "ShellCommand", "inline": "true", "timeout": NaN}': (
        422,
        "ShellCommand could not be created: timeout: Input should be a valid integer",
    ),
    b'{"command_type": "DbTapQueryCommand", "query": "q", "db_tap_id": "987654"}': (
        422,
        "DbTapQueryCommand could not be created: db_tap_id: there is no DB tap 987654 in this account",
    ),
}


def test_a_wrong_submission_is_refused(http: httpx.Client):
    def refusal(content: bytes) -> tuple[int, str]:
        response = http.post("/commands", content=content, headers={"Content-Type": "application/json"})
        return response.status_code, error_of(response)

    assert {content: refusal(content) for content in BODIES} == BODIES


def test_a_refused_submission_leaves_no_command(http: httpx.Client):
    def newest() -> list[int]:
        return [command["id"] for command in http.get("/commands", params={"per_page": 1}).json()["commands"]]

    before = newest()
    http.post("/commands", json={"command_type": "ShellCommand", "inline": "true", "name": "<"})
    assert newest() == before


def test_without_a_valid_token_nothing_is_answered(shared_service: ServiceProcess):
    def answer(token: str | None) -> tuple[int, bool, bool]:
        """Return the status, whether the header is named, and whether the answer repeats what was sent."""
        headers = {} if token is None else {"X-AUTH-TOKEN": token.encode("latin-1")}
        response = client.get("/commands/1", headers=headers)
        return response.status_code, "X-AUTH-TOKEN" in error_of(response), bool(token) and token in response.text

    tokens = (None, "", "wrong", "\xe9\xff", "x" * 5000)
    with shared_service.client(None) as client:
        assert {token: answer(token) for token in tokens} == dict.fromkeys(tokens, (401, True, False))


def test_unknown_paths_are_not_found(http: httpx.Client):
    answers = [http.get("/nowhere"), http.get("/commands/1/nowhere")]
    assert [(answer.status_code, bool(error_of(answer))) for answer in answers] == [(404, True)] * 2


def test_an_unknown_method_is_refused_with_those_there_are(http: httpx.Client):
    answers = [
        http.request(method, path)
        for method, path in (
            ("DELETE", "/commands"),
            ("PATCH", "/commands/1"),
            ("POST", "/commands/1/columns/a%2Fb/summary"),
        )
    ]
    assert [(answer.status_code, bool(error_of(answer))) for answer in answers] == [(405, True)] * 3
    assert [answer.headers["Allow"] for answer in answers] == ["GET, POST", "GET, PUT", "GET"]


def test_a_body_over_the_limit_is_refused(http: httpx.Client):
    body = json.dumps({"command_type": "ShellCommand", "inline": "#" * (17 * 2**20)})
    response = http.post("/commands", content=body)
    assert response.status_code == 413
    assert "larger than 16777216 bytes" in error_of(response)
    assert http.get("/commands").status_code == 200


def test_a_script_of_megabytes_is_run(shared_service: ServiceProcess):
    record = shared_service.submit("echo begun\n" + "# comment\n" * 500_000 + "echo end")
    assert shared_service.ended(record["id"])["status"] == "done"
    assert shared_service.text(record["id"]) == "begun\r\nend\r\n"


class TestNotebookOfASubmission:
    def post(self, http: httpx.Client, notebook: bytes, **fields: Any) -> httpx.Response:
        body = {"command_type": "ShellCommand", "inline": "true", **fields}
        return http.post("/commands", json=body, headers={b"Notebook-Name": notebook})

    def test_a_command_of_a_cell_names_its_notebook(self, http: httpx.Client):
        names = {
            b"report.ipynb": "report.ipynb",
            b"R%26D%20%22Z%C3%BCrich%22.ipynb": 'R&D "Zürich".ipynb',
            b"%F0%9F%9A%80" * 255: "🚀" * 255,
            b"": "",
        }
        ids = [self.post(http, name).json()["id"] for name in names]
        records = [http.get(f"/commands/{command_id}").json() for command_id in ids]
        assert [record["notebook"] for record in records] == list(names.values())
        assert {record["command_source"] for record in records} == {"UI"}

    def test_one_of_no_notebook_came_by_the_interface(self, shared_service: ServiceProcess):
        record = shared_service.submit("true")
        assert (record["command_source"], record["notebook"]) == ("API", None)

    def test_the_commands_of_notebooks_are_found(self, http: httpx.Client):
        of_cell = self.post(http, b"report.ipynb", name="sources").json()["id"]
        http.post("/commands", json={"command_type": "ShellCommand", "inline": "true", "name": "sources"})
        found = http.get("/commands", params={"name": "sources", "command_source": "UI"}).json()["commands"]
        assert [record["id"] for record in found] == [of_cell]

    def test_a_name_that_cannot_be_shown_is_refused(self, http: httpx.Client):
        encoding = "Notebook-Name: must be percent-encoded UTF-8, as in R%C3%A9sum%C3%A9.ipynb"
        characters = "Notebook-Name: must have at most 255 characters, none of them a control character"
        names = {
            "Zürich.ipynb".encode("latin-1"): encoding,
            b"Z%FCrich.ipynb": encoding,
            b"a%00b": characters,
            b"a%E2%80%AEb": characters,
            b"n" * 256: characters,
        }
        answers = {name: self.post(http, name) for name in names}
        assert {name: error_of(answer) for name, answer in answers.items()} == names
        assert {answer.status_code for answer in answers.values()} == {422}


class TestIdempotencyKey:
    def post(self, http: httpx.Client, key: str, path: str = "/commands", **body: Any) -> httpx.Response:
        content = {"command_type": "ShellCommand", "inline": "true", **body}
        return http.post(path, json=content, headers={"Idempotency-Key": key})

    def test_the_same_request_creates_once(self, http: httpx.Client):
        answers = [self.post(http, "same-1") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200] * 3
        assert answers[0].json() == answers[1].json() == answers[2].json()
        assert self.post(http, "same-1", "/commands/").json() == answers[0].json()

    def test_another_body_is_refused(self, http: httpx.Client):
        assert self.post(http, "other-1").status_code == 200
        response = self.post(http, "other-1", name="other")
        assert response.status_code == 422
        assert "this Idempotency-Key was used for another request" in error_of(response)

    def test_a_refused_request_does_not_use_up_its_key(self, http: httpx.Client):
        assert self.post(http, "refused-1", name="<").status_code == 422
        assert self.post(http, "refused-1").status_code == 200

    def test_a_key_out_of_form_is_refused(self, http: httpx.Client):
        assert [self.post(http, key).status_code for key in ("", "k" * 256)] == [422, 422]

    def test_requests_at_the_same_moment_create_once(self, http: httpx.Client):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.post(http, "moment-1"), range(16)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.json()["id"] for answer in answers}) == 1

    def test_other_creating_calls_take_part(self, http: httpx.Client):
        def post(name: str) -> httpx.Response:
            return http.post("/users/1/tokens", json={"name": name}, headers={"Idempotency-Key": "token-1"})

        first, second = post("a"), post("a")
        assert first.status_code == 200
        assert first.json() == second.json()
        assert post("b").status_code == 422
        names = [token["name"] for token in http.get("/users/1/tokens").json()["tokens"]]
        assert names.count("a") == 1
        http.delete(f"/users/1/tokens/{first.json()['id']}")


class TestASubmissionThatWaits:
    def submit(self, http: httpx.Client, script: str, **headers: str) -> dict[str, Any]:
        body = {"command_type": "ShellCommand", "inline": script}
        response = http.post("/commands", json=body, params={"wait": 20}, headers=headers)
        assert response.status_code == 200
        return dict(response.json())

    def test_is_answered_with_the_end(self, http: httpx.Client):
        record = self.submit(http, "exit 3")
        assert (record["status"], record["attempts"][0]["exit_code"]) == ("error", 3)
        assert http.get(f"/commands/{record['id']}").json() == record

    def test_is_answered_with_what_is_known_when_the_time_is_over(self, http: httpx.Client):
        body = {"command_type": "ShellCommand", "inline": "sleep 600"}
        record = http.post("/commands", json=body, params={"wait": "0.1"}).json()
        assert record["status"] == "running"
        http.put(f"/commands/{record['id']}", json={"status": "kill"}).raise_for_status()

    def test_a_second_time_with_the_same_key_is_answered_with_the_end_of_the_first(self, http: httpx.Client):
        key = {"Idempotency-Key": "waited for twice"}
        first, second = (self.submit(http, "echo $SVC_COMMAND_ID", **key) for _ in range(2))
        assert first == second
        assert first["status"] == "done"


def test_the_document_of_the_interface_is_there_without_a_token(shared_service: ServiceProcess):
    with httpx.Client(base_url=shared_service.base_url, trust_env=False, timeout=90) as client:
        assert "text/html" in client.get("/api/docs").headers["Content-Type"]
        document = client.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert "/api/v1.2/commands/{command_id}/results" in document["paths"]
