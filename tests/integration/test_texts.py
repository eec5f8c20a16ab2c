"""Texts that are no texts: refused wherever they come in, and no list fails by one that is in the database."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import httpx
import pytest
from tests.support.service_process import ServiceProcess

HALF = "\ud800"
SCHEDULE: dict[str, Any] = {"command_type": "ShellCommand", "command": {"inline": "true"}, "frequency": 1}


def send(service: ServiceProcess, method: str, path: str, body: Any, **headers: str) -> httpx.Response:
    """Send JSON as Python's own library writes it: with escapes."""
    return service.http.request(
        method, path, content=json.dumps(body), headers={"Content-Type": "application/json", **headers}
    )


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("commands", {"command_type": "ShellCommand", "inline": HALF}, "inline"),
        ("commands", {"command_type": "ShellCommand", "inline": "x", "unknown": HALF}, "unknown"),
        ("commands", {"command_type": "PigCommand", "latin_statements": HALF}, "latin_statements"),
        (
            "commands",
            {"command_type": "PigCommand", "latin_statements": "x", "parameters": {"a": HALF}},
            "parameters.a",
        ),
        ("commands", {"command_type": "HiveCommand", "query": HALF}, "query"),
        ("commands", {"command_type": "PrestoCommand", "query": HALF}, "query"),
        ("commands", {"command_type": "SqlCommand", "query": HALF}, "query"),
        ("commands", {"command_type": "SparkCommand", "program": HALF, "language": "python"}, "program"),
        (
            "commands",
            {"command_type": "CompositeCommand", "sub_commands": [{"command_type": "ShellCommand", "inline": HALF}]},
            "sub_commands.0.inline",
        ),
        ("commands", {"command_type": "ShellCommand", "inline": "x", "tags": [f"a{HALF}"]}, "tags.0"),
        ("commands", {"command_type": "ShellCommand", "inline": "x", "macros": [{"a": HALF}]}, "macros.0.a"),
        ("scheduler", {**SCHEDULE, "command": {"inline": HALF}}, "command.inline"),
        ("scheduler", {**SCHEDULE, "macros": [{"a": f"'{HALF}'"}]}, "macros.0.a"),
        ("scheduler/preview_macro", {"command": {"inline": HALF}}, "command.inline"),
        ("notebooks", {"name": "n", "location": "Common", "paragraphs": [{"text": HALF}]}, "paragraphs.0.text"),
        ("groups", {"name": HALF}, "name"),
        ("clusters", {"label": [HALF]}, "label.0"),
        ("pipelines", {"name": "p", "code": HALF, "cluster_label": "spark"}, "code"),
        ("hive/a/b/properties", {"properties": {"a": HALF}}, "properties.a"),
    ],
)
def test_half_of_a_character_is_refused_and_its_field_named(
    shared_service: ServiceProcess, path: str, body: dict[str, Any], field: str
):
    answer = send(shared_service, "POST", f"/{path}", body)
    error = answer.json()["error"]
    assert (answer.status_code, list(error["fields"])) == (422, [field])
    if path == "commands":
        assert error["error_message"].startswith(f"{body['command_type']} could not be created: {field}: ")


def test_also_in_a_json_text_within_a_text(shared_service: ServiceProcess):
    shared_service.http.put("/account/features", json={"jupyter_notebooks": True})
    body = {"command_type": "JupyterNotebookCommand", "path": "Common/x.ipynb", "arguments": json.dumps({"a": HALF})}
    assert send(shared_service, "POST", "/commands", body).status_code == 422
    policy = json.dumps([{"access": "allow", "condition": {}, "action": [HALF]}])
    body = {"source_id": 1, "source_type": "cluster", "policy": policy}
    assert send(shared_service, "PUT", "/object_policy/policy", body).status_code == 422
    form = {"command_type": "ShellCommand", "inline": "true", "macros": json.dumps([{"a": HALF}])}
    answer = shared_service.http.post("/commands", data=form)
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (422, ["macros.0.a"])


def test_a_query_and_a_path_must_be_unicode_too(shared_service: ServiceProcess):
    assert shared_service.http.get("/commands?name=%ED%A0%80").status_code == 422
    assert shared_service.http.get("/groups/%ED%A0%80").status_code == 422
    assert shared_service.http.get("/commands?name=%F0%9F%98%80").status_code == 200
    with shared_service.client(None) as nobody:
        assert nobody.get("/commands?name=%ED%A0%80").status_code == 401


@pytest.mark.parametrize("hidden", ["\x80", "\x9f", "\x7f", "\u202e", "\u2066"])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("commands", {"command_type": "ShellCommand", "inline": "true"}),
        ("scheduler", SCHEDULE),
        ("groups", {}),
        ("folders", {"location": "Common", "type": "notes"}),
        ("notebooks", {"location": "Common"}),
        ("db_taps", {"db_type": "sqlite", "db_name": "/x"}),
    ],
)
def test_a_name_shows_what_it_is(shared_service: ServiceProcess, path: str, body: dict[str, Any], hidden: str):
    answer = send(shared_service, "POST", f"/{path}", {**body, "name": f"a{hidden}b"})
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (422, ["name"])


def test_a_tag_shows_what_it_is_and_none_is_none(shared_service: ServiceProcess):
    body = {"command_type": "ShellCommand", "inline": "true"}
    assert send(shared_service, "POST", "/commands", {**body, "tags": "[a\u202eb]"}).status_code == 422
    for none in ("", " ", "[]", []):
        command = send(shared_service, "POST", "/commands", {**body, "tags": none}).json()
        record = shared_service.http.get(f"/commands/{command['id']}", params={"include_query_properties": "true"})
        assert record.json()["tags"] is None
        shared_service.ended(command["id"])


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"frequency": 0}, {"frequency": "must be 1 or more"}),
        ({"retry": 9, "concurrency": True}, {"retry": "must be 3 or less", "concurrency": "must be a whole number"}),
        ({"command": {"inline": 7}}, {"command.inline": "must be a text"}),
        ({"end_time": "soon"}, None),
        ({"label": "nowhere"}, None),
        ({"dependency_info": {"files": [{"path": "s3://a/%Q"}]}}, None),
    ],
)
def test_the_fields_of_a_schedule_are_reported_in_words(
    shared_service: ServiceProcess, body: dict[str, Any], fields: dict[str, str] | None
):
    answer = send(shared_service, "POST", "/scheduler", {**SCHEDULE, **body})
    told = answer.json()["error"]["fields"]
    assert answer.status_code == 422
    if fields is None:
        place = "dependency_info.files.0" if "dependency_info" in body else next(iter(body))
        assert list(told) == [place]
        assert told[place]
        assert not told[place].startswith(place)
    else:
        assert told == fields


def test_invalid_unicode_in_the_database_is_replaced_in_answers(new_service: Any):
    service = new_service().start()
    schedule = send(service, "POST", "/scheduler", {**SCHEDULE, "macros": [{"a": "'there'"}]}).json()["id"]
    command = service.submit("echo there")["id"]
    service.ended(command)
    service.stop()
    with sqlite3.connect(service.data_dir / "service.db") as connection:
        for table, column in (("schedules", "macros"), ("schedules", "command"), ("commands", "command")):
            query = f"UPDATE {table} SET {column} = replace({column}, 'there', ?)"
            assert connection.execute(query, ("\\ud800",)).rowcount
    connection.close()
    service.start()
    for path in ("scheduler", "scheduler?page=all", f"scheduler/{schedule}", "commands", f"commands/{command}"):
        answer = service.http.get(f"/{path}")
        assert (answer.status_code, "\N{REPLACEMENT CHARACTER}" in answer.text) == (200, True), path


def test_head_of_a_stream_ends(new_service: Any):
    service = new_service().start()
    running = service.submit("sleep 100")["id"]
    answer = service.http.head(f"/commands/{running}/events")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert service.http.head("/commands").headers["content-length"] != "0"
    assert service.http.head("/commands/999999").status_code == 404
    service.http.put(f"/commands/{running}", json={"status": "kill"})
