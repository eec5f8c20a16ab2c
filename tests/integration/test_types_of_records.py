"""Every field of every record has the type of the contract where nothing set it; null only where that allows it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from tests.conftest import end_commands_of
from tests.integration.schedule_calls import EVERY_SECOND, actions_of, create, done_actions, kill
from tests.support.service_process import ServiceProcess, wait_until

TEXT, INTEGER, BOOLEAN, OBJECT, ARRAY, ANY = "text", "integer", "boolean", "object", "array", "any"
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    BOOLEAN: lambda value: isinstance(value, bool),
    OBJECT: lambda value: isinstance(value, dict),
    ARRAY: lambda value: isinstance(value, list),
    "null": lambda value: value is None,
    ANY: lambda _value: True,
}
Types = Mapping[str, "str | Types"]

COMMAND: Types = {
    **dict.fromkeys(("id", "submit_time", "progress", "num_result_dir", "account_id", "user_id"), INTEGER),
    **dict.fromkeys(("path", "status", "created_at", "command_type", "template", "command_source"), TEXT),
    **dict.fromkeys(("start_time", "end_time", "service_session_id", "pid", "timeout"), "integer or null"),
    **dict.fromkeys(("pool", "name", "label"), "text or null"),
    **dict.fromkeys(("qlog", "resolved_macros", "nominal_time", "sequence_id"), ANY),
    **dict.fromkeys(("saved_query_mutable_id", "uid", "perms", "instance"), ANY),
    "can_notify": BOOLEAN,
    "meta_data": {"results_resource": TEXT, "logs_resource": TEXT},
    "command": OBJECT,
}
SHELL: Types = dict.fromkeys(("files", "parameters", "script_location", "archives"), ANY) | {"inline": TEXT}
QUERY: Types = {"query": TEXT, "md_cmd": BOOLEAN}
HIVE: Types = QUERY | {
    **dict.fromkeys(("sample", "approx_mode", "approx_aggregations"), BOOLEAN),
    **dict.fromkeys(("script_location", "loader_table_name", "loader_stable"), ANY),
}
PIG: Types = {"latin_statements": TEXT, "script_location": ANY, "parameters": ANY}
SPARK: Types = {
    **dict.fromkeys(("cmdline", "language", "program", "user_program_arguments", "sql", "app_id"), ANY),
    "md_cmd": BOOLEAN,
    "retry": INTEGER,
}
NOTE: Types = SPARK | {"note_id": INTEGER, "arguments": TEXT, "language": TEXT}
SCHEDULE: Types = {
    **dict.fromkeys(("id", "time_out", "concurrency", "user_id", "bitmap"), INTEGER),
    **dict.fromkeys(("digest_time_hour", "digest_time_minute"), INTEGER),
    **dict.fromkeys(("name", "status", "command_type", "start_time", "time_zone", "label"), TEXT),
    **dict.fromkeys(("template", "email_list"), TEXT),
    **dict.fromkeys(("no_catch_up", "can_notify", "is_digest"), BOOLEAN),
    **dict.fromkeys(("command", "dependency_info", "incremental"), OBJECT),
    **dict.fromkeys(("next_materialized_time", "pool", "end_time"), "text or null"),
    "command_timeout": "text or integer",
    "macros": ARRAY,
}
REPEATED: Types = SCHEDULE | {"frequency": INTEGER, "time_unit": TEXT}
CLUSTER: Types = {
    "id": INTEGER,
    "label": ARRAY,
    "state": TEXT,
    **dict.fromkeys(("enable_ganglia_monitoring", "disallow_cluster_termination"), BOOLEAN),
    "node_bootstrap_file": TEXT,
    "security_settings": {"encrypted_ephemerals": BOOLEAN},
    "cloud_settings": {
        "compute_validated": BOOLEAN,
        **dict.fromkeys(("compute_access_key", "compute_secret_key"), ANY),  # `<hidden>`, or null where there is none
        **dict.fromkeys(("cloud_region", "cloud_preferred_availability_zone"), TEXT),
        **dict.fromkeys(("vpc_id", "subnet_id"), "text or null"),
    },
    "hadoop_settings": {
        "use_hadoop2": BOOLEAN,
        "custom_config": "text or null",
        "fairscheduler_settings": {"default_pool": "text or null"},
    },
    "presto_settings": {"enable_presto": BOOLEAN, "custom_config": "text or null"},
    "node_configuration": {
        **dict.fromkeys(("max_nodes", "initial_nodes"), INTEGER),
        **dict.fromkeys(("master_instance_type", "slave_instance_type", "slave_request_type"), TEXT),
        "use_stable_spot_nodes": BOOLEAN,
        "spot_instance_settings": {
            "maximum_bid_price_percentage": TEXT,
            **dict.fromkeys(("timeout_for_request", "maximum_spot_instance_percentage"), INTEGER),
        },
    },
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service in which nobody has set anything."""
    service = ServiceProcess(tmp_path_factory.mktemp("types") / "data", kill_grace_seconds=1).start()
    yield service
    service.kill()
    end_commands_of(service.data_dir)


def faults(record: Any, types: Types, path: str = "") -> list[str]:
    """Return the fields of a record that lack, or are of another type."""
    found: list[str] = []
    for name, wanted in types.items():
        place = f"{path}{name}"
        if name not in record:
            found.append(f"{place} lacks")
        elif not isinstance(wanted, str):
            found += faults(record[name], wanted, f"{place}.")
        elif not any(_CHECKS[kind](record[name]) for kind in wanted.split(" or ")):
            found.append(f"{place} is {record[name]!r}, not {wanted}")
    return found


def post(service: ServiceProcess, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.fixture(scope="module")
def ids(service: ServiceProcess) -> dict[str, int]:
    """A tap and a note that bodies name."""
    file = service.data_dir / "storage" / "numbers.db"
    sqlite3.connect(file).close()
    tap = {"name": "tap", "db_type": "sqlite", "db_name": str(file)}
    note = {"name": "note", "location": "Common", "paragraphs": [{"text": "%md\nx"}]}
    return {"db_tap_id": post(service, "/db_taps", tap)["id"], "note_id": post(service, "/notebooks", note)["id"]}


BODIES: dict[str, tuple[dict[str, Any], Types]] = {
    "ShellCommand": ({"inline": "true"}, SHELL),
    "PigCommand": ({"latin_statements": "a = LOAD 'x';"}, PIG),
    "DbTapQueryCommand": ({"db_tap_id": None, "query": "SELECT 1"}, QUERY | {"db_tap_id": INTEGER}),
    "HiveCommand": ({"query": "SELECT 1"}, HIVE),
    "PrestoCommand": ({"query": "SELECT 1"}, QUERY),
    "SqlCommand": ({"query": "SELECT 1"}, QUERY),
    "SparkCommand": ({"program": "print(1)", "language": "python"}, SPARK),
    "SparkCommand of a note": ({"note_id": None, "label": "spark", "language": "notebook"}, NOTE),
}


def body_of(name: str, ids: dict[str, int]) -> dict[str, Any]:
    fields, _ = BODIES[name]
    return {key: ids[key] if value is None else value for key, value in fields.items()}


@pytest.mark.parametrize("name", BODIES)
def test_the_command_of_each_type(service: ServiceProcess, ids: dict[str, int], name: str) -> None:
    fields = body_of(name, ids)
    made = create(
        service, command_type=name.partition(" ")[0], command=fields, label=fields.pop("label", None), macros=None
    )
    viewed = service.http.get(f"/scheduler/{made['id']}").json()
    kill(service, made["id"])
    assert faults(made["command"], BODIES[name][1]) == []
    assert faults(viewed["command"], BODIES[name][1]) == []


@pytest.mark.parametrize("name", ["ShellCommand", "DbTapQueryCommand"])
def test_the_record_of_a_command(service: ServiceProcess, ids: dict[str, int], name: str) -> None:
    made = post(service, "/commands", {"command_type": name, **body_of(name, ids)})
    ended = service.ended(made["id"])
    for record in (made, ended, *service.http.get("/commands").json()["commands"]):
        assert faults(record, COMMAND) == []
    assert faults(ended["command"], BODIES[name][1]) == []
    inside = {"command_type": name, **body_of(name, ids)}
    composite = post(service, "/commands", {"command_type": "CompositeCommand", "sub_commands": [inside]})
    service.ended(composite["id"])
    assert faults(composite, COMMAND) == []
    assert faults(composite["command"]["sub_commands"][0], BODIES[name][1]) == []


@pytest.mark.parametrize(
    ("timetable", "types"),
    [({}, REPEATED), ({"frequency": None, "start_time": None, "cron_expression": "0 9 1 1 *"}, SCHEDULE)],
)
def test_the_record_of_a_schedule(service: ServiceProcess, timetable: dict[str, Any], types: Types) -> None:
    made = create(service, macros=None, **timetable)
    viewed = service.http.get(f"/scheduler/{made['id']}").json()
    [listed] = service.http.get("/scheduler", params={"status": "RUNNING"}).json()["schedules"]
    kill(service, made["id"])
    assert [faults(record, types) for record in (made, viewed, listed)] == [[], [], []]


ACTION: Types = {
    **dict.fromkeys(("id", "periodic_job_id", "sequence_id", "rerun_number"), INTEGER),
    **dict.fromkeys(("nominal_time", "status", "created_at"), TEXT),
    **dict.fromkeys(("is_rerun_of", "query_hist_id"), "integer or null"),
    "done": BOOLEAN,
    "dependencies": {"found": ARRAY, "not_found": ARRAY},
    "command": "object or null",
}


def test_the_record_of_an_action_holds_that_of_its_command(service: ServiceProcess) -> None:
    made = create(service, macros=None, **EVERY_SECOND)
    [done, *_] = done_actions(service, made["id"], 1)
    kill(service, made["id"])
    assert faults(done, ACTION) == []
    assert done["command"] == service.record(done["query_hist_id"])


def test_an_action_without_a_command_says_null(service: ServiceProcess) -> None:
    info = {"files": [{"path": "landing/never"}]}
    made = create(service, macros=None, dependency_info=info, **EVERY_SECOND)
    waiting = wait_until(lambda: actions_of(service, made["id"]), "an action")[0]
    one = service.http.get(f"/actions/{waiting['id']}").json()
    kill(service, made["id"])
    assert (waiting["command"], one["command"], one["query_hist_id"]) == (None, None, None)
    assert faults(one, ACTION) == []


def test_the_record_of_a_cluster(service: ServiceProcess) -> None:
    made = post(service, "/clusters", {"label": ["bare"]})
    listed = [entry["cluster"] for entry in service.http.get("/clusters").json()]
    for record in (made, service.http.get("/clusters/bare").json(), *listed):
        assert faults(record, CLUSTER) == []


def test_a_policy_that_was_never_set(service: ServiceProcess) -> None:
    chosen = {"source_id": "1", "source_type": "cluster"}
    policy = service.http.get("/object_policy/policy", params=chosen).json()
    assert faults(policy, {"policies": ARRAY, "source_type": TEXT}) == []
    users = {"access": "allow", "condition": {"service_users": [1]}, "action": ["read"]}
    set_one = service.http.put("/object_policy/policy", json=chosen | {"policy": [users]}).json()
    [entry] = set_one["policies"]
    assert faults(entry, {"access": TEXT, "condition": OBJECT, "action": ARRAY}) == []
