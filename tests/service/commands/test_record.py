"""The record of a command, field by field as the contract names them."""

from __future__ import annotations

import json
from typing import Any

from tests.service.commands.rows import command_row

from svc_jupyter.api.commands import CommandDetails, CommandRecord
from svc_jupyter.service.commands.record import Live, Wait, command_record

CREATED = 1_795_269_841.75  # 2026-11-21T14:04:01Z
OF_THE_CONTRACT = {
    "id", "path", "status", "created_at", "submit_time", "start_time", "end_time", "command_type", "progress",
    "service_session_id", "qlog", "resolved_macros", "pid", "template", "can_notify", "num_result_dir", "pool",
    "timeout", "name", "label", "command_source", "account_id", "user_id", "meta_data", "command", "nominal_time",
    "sequence_id", "saved_query_mutable_id", "uid", "perms", "instance",
}  # fmt: skip
EXTENSIONS = {
    "submitted_at", "started_at", "ended_at",
    "throttled", "attempts", "message", "retry", "retry_delay", "result_rows", "result_bytes",
    "parent_id", "child_number", "outputs", "notebook",
}  # fmt: skip


def test_a_new_command_as_the_contract_shows_it():
    row = command_row(
        id=42,
        account_id=3,
        user_id=5,
        created_at=CREATED,
        command={"inline": "echo hi", "script_location": None, "files": None, "archives": None, "parameters": None},
    )
    record = command_record(row)
    assert {key: record[key] for key in OF_THE_CONTRACT} == {
        "id": 42,
        "path": "/tmp/2026-11-21/3/42",
        "status": "waiting",
        "created_at": "2026-11-21T14:04:01Z",
        "submit_time": 1_795_269_841,
        "start_time": None,
        "end_time": None,
        "command_type": "ShellCommand",
        "progress": 0,
        "service_session_id": None,
        "qlog": None,
        "resolved_macros": None,
        "pid": None,
        "template": "generic",
        "can_notify": False,
        "num_result_dir": -1,
        "pool": None,
        "timeout": None,
        "name": None,
        "label": None,
        "command_source": "API",
        "account_id": 3,
        "user_id": 5,
        "meta_data": {"results_resource": "commands/42/results", "logs_resource": "commands/42/logs"},
        "command": {
            "inline": "echo hi", "script_location": None, "files": None, "archives": None, "parameters": None,
        },
        "nominal_time": None,
        "sequence_id": None,
        "saved_query_mutable_id": None,
        "uid": None,
        "perms": None,
        "instance": None,
    }  # fmt: skip


STATES: dict[str, dict[str, Any]] = {
    "waiting": {},
    "running": {"status": "running", "start_time": CREATED + 1, "pid": 77},
    "done": {
        "status": "done",
        "start_time": CREATED + 1,
        "end_time": CREATED + 2,
        "progress": 100,
        "attempts": [{"number": 1, "start_time": 1, "end_time": 2, "exit_code": 0, "message": None}],
        "result": {"form": "lines", "file": "1/out", "size": 9, "rows": None, "columns": None},
    },
    "error": {"status": "error", "message": "the script exited with code 1"},
    "cancelled": {"status": "cancelled", "message": "cancelled"},
}


def test_every_field_is_in_the_record_of_every_state():
    records = {state: command_record(command_row(**values)) for state, values in STATES.items()}
    assert {state: record.keys() for state, record in records.items()} == dict.fromkeys(
        STATES, OF_THE_CONTRACT | EXTENSIONS
    )
    for record in records.values():
        CommandRecord.model_validate_json(json.dumps(record), strict=True)


def test_the_record_has_the_properties_too_where_they_are_asked_for():
    records = {state: command_record(command_row(**values), with_properties=True) for state, values in STATES.items()}
    assert {state: record.keys() for state, record in records.items()} == dict.fromkeys(
        STATES, OF_THE_CONTRACT | EXTENSIONS | {"tags", "comments"}
    )
    for record in records.values():
        CommandDetails.model_validate_json(json.dumps(record), strict=True)


def test_the_contracts_model_has_the_same_fields():
    assert CommandRecord.model_fields.keys() == OF_THE_CONTRACT | EXTENSIONS
    assert CommandDetails.model_fields.keys() - CommandRecord.model_fields.keys() == {"tags", "comments"}


def test_a_finished_command():
    record = command_record(command_row(**STATES["done"]))
    assert (record["num_result_dir"], record["result_bytes"], record["progress"]) == (0, 9, 100)
    assert (record["start_time"], record["end_time"]) == (int(CREATED) + 1, int(CREATED) + 2)


def test_times_are_exact_beside_the_contracts_whole_seconds():
    states = ("waiting", "running", "done")
    waiting, running, done = (command_record(command_row(created_at=CREATED, **STATES[state])) for state in states)
    assert (waiting["submitted_at"], waiting["started_at"]) == ("2026-11-21T14:04:01.750Z", None)
    assert (running["start_time"], running["started_at"]) == (1_795_269_842, "2026-11-21T14:04:02.750Z")
    assert (running["end_time"], running["ended_at"]) == (None, None)
    at_once = command_record(command_row(status="done", start_time=CREATED, end_time=CREATED + 0.047))
    assert (at_once["start_time"], at_once["end_time"]) == (1_795_269_841, 1_795_269_841)
    assert (at_once["started_at"], at_once["ended_at"]) == ("2026-11-21T14:04:01.750Z", "2026-11-21T14:04:01.797Z")
    assert done["ended_at"] == "2026-11-21T14:04:03.750Z"


def test_a_typed_result_names_its_columns_in_a_json_text_and_says_what_readers_should_know():
    columns = [["a", "int64"], ["b", "string"]]
    result = {"form": "arrow", "file": "1/r", "size": 1, "rows": 2, "columns": columns, "notes": ["column b is text"]}
    qlog = command_record(command_row(status="done", result=result))["qlog"]
    assert json.loads(qlog) == {
        "QUERY-SCHEMA": {
            "-1": [{"ColumnName": "a", "ColumnType": "int64"}, {"ColumnName": "b", "ColumnType": "string"}]
        },
        "messages": ["column b is text"],
    }


def test_the_record_of_a_running_command_has_the_live_values_of_its_replica():
    row = command_row(status="running", progress=10)
    record = command_record(row, live=Live(pid=9, progress=40, rows=1000, message="fetching"))
    assert (record["pid"], record["progress"], record["result_rows"], record["message"]) == (9, 40, 1000, "fetching")


def test_the_record_of_an_ended_command_has_none_of_them():
    """Its replica hears of the end after the database has it."""
    row = command_row(status="done", progress=100)
    record = command_record(row, live=Live(pid=9, progress=40, rows=1000, message="fetching"))
    assert (record["pid"], record["progress"], record["result_rows"], record["message"]) == (None, 100, None, None)


def test_the_progress_shown_does_not_go_back():
    assert command_record(command_row(status="running", progress=50), live=Live(progress=0))["progress"] == 50


def test_a_command_that_waits_for_its_cluster_says_so_and_is_not_throttled():
    record = command_record(command_row(), wait=Wait("starting cluster default (3 s)"))
    assert (record["throttled"], record["message"]) == (False, "starting cluster default (3 s)")


def test_a_throttled_command_says_why_it_waits():
    record = command_record(command_row(), wait=Wait("waiting for a free slot (20 of 20 running)", True))
    assert (record["throttled"], record["message"]) == (True, "waiting for a free slot (20 of 20 running)")


def test_three_states_are_final():
    assert [state for state in STATES if command_row(status=state).is_final] == ["done", "error", "cancelled"]
