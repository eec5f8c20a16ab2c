"""Each field of each command type: honoured, or refused by its name. What is in neither list is ignored."""

from __future__ import annotations

from tests.support.service_process import ServiceProcess

from svc_jupyter.api.commands import CommandSubmission
from svc_jupyter.service.commands.submission_schema import SUBMISSION_BODY

QUERY = "query script_location bindings limit dry_run md_cmd"
TRANSFER = "mode dbtap_id db_table schema hive_table partition_spec"
NO_QUERY: dict[str, object] = {"dry_run": True, "limit": 5}
HONOURED = {
    "ShellCommand": "inline script_location files archives parameters cell",
    "PigCommand": "latin_statements script_location parameters",
    "HiveCommand": f"{QUERY} hive_version",
    "PrestoCommand": QUERY,
    "SqlCommand": QUERY,
    "DbTapQueryCommand": f"{QUERY} db_tap_id",
    "HadoopCommand": "sub_command sub_command_args",
    "SparkCommand": (
        "program cmdline sql script_location note_id language arguments user_program_arguments "
        "paragraph app_id md_cmd cell"
    ),
    "CompositeCommand": "sub_commands",
    "DbExportCommand": f"{TRANSFER} db_update_mode db_update_keys",
    "DbImportCommand": f"{TRANSFER} db_where db_extract_query db_split_column db_parallelism hive_serde",
    "JupyterNotebookCommand": "path arguments upload_to_source",
}
TABLE = {"dbtap_id": 1, "hive_table": "t", "db_table": "t"}
REFUSED = {
    "ShellCommand": ({"inline": "echo hi"}, NO_QUERY),
    "PigCommand": ({"latin_statements": "a = LOAD 'a';"}, NO_QUERY),
    "HadoopCommand": ({"sub_command": "jar", "sub_command_args": "a.jar"}, NO_QUERY),
    "SparkCommand": ({"sql": "SELECT 1"}, NO_QUERY),
    "CompositeCommand": ({"sub_commands": [{"command_type": "ShellCommand", "inline": "echo hi"}]}, NO_QUERY),
    "JupyterNotebookCommand": ({"path": "a.ipynb"}, NO_QUERY),
    "HiveCommand": (
        {"query": "SELECT 1"},
        {
            "sample": True,
            "sample_size": "1000",
            "approx_mode": "true",
            "approx_aggregations": True,
            "loader_table_name": "t",
            "loader_stable": 1,
        },
    ),
    "SqlCommand": ({"query": "SELECT 1"}, {"sample_size": 1000}),
    "DbExportCommand": (
        TABLE,
        {
            **NO_QUERY,
            "use_customer_cluster": "true",
            "customer_cluster_label": "other",
            "additional_options": "--batch",
            "export_dir": "s3://bucket/folder",
            "fields_terminated_by": "\\0x20",
        },
    ),
    "DbImportCommand": (
        TABLE,
        {
            **NO_QUERY,
            "use_customer_cluster": True,
            "customer_cluster_label": "other",
            "additional_options": "--batch",
            "db_boundary_query": "SELECT min(id), max(id) FROM t",
        },
    ),
}


def test_the_documented_fields_of_each_type_are_honoured_or_refused() -> None:
    documented: dict[str, dict[str, bool]] = {}
    for body in SUBMISSION_BODY["requestBody"]["content"]["application/json"]["schema"]["oneOf"]:
        own = {name: field for name, field in body["properties"].items() if name not in CommandSubmission.model_fields}
        documented[body["properties"]["command_type"]["const"]] = {
            name: field.get("description", "").startswith("Refused: ") for name, field in own.items()
        }
    expected = {kind: dict.fromkeys(names.split(), False) for kind, names in HONOURED.items()}
    for kind, (_, fields) in REFUSED.items():
        expected[kind] |= dict.fromkeys(fields, True)
    assert documented == expected


def test_a_field_that_cannot_be_honoured_is_refused_by_its_name(shared_service: ServiceProcess) -> None:
    def refusal(kind: str, name: str) -> str:
        others, fields = REFUSED[kind]
        body = {"command_type": kind, **others, name: fields[name]}
        answer = shared_service.http.post("/commands", json=body)
        assert answer.status_code == 422, (kind, name)
        told, _, _reason = answer.json()["error"]["error_message"].partition(f": {name}: ")
        return str(told)

    refused = [(kind, name) for kind, (_, fields) in REFUSED.items() for name in fields]
    assert {(kind, name): refusal(kind, name) for kind, name in refused} == {
        (kind, name): f"{kind} could not be created" for kind, name in refused
    }


def test_a_field_without_a_value_is_not_refused(shared_service: ServiceProcess) -> None:
    empty = {
        "sample": False,
        "sample_size": "0",
        "approx_mode": "false",
        "loader_table_name": "",
        "loader_stable": None,
    }
    body = {"command_type": "HiveCommand", "query": "SELECT 1", "label": "nowhere", **empty}
    error = shared_service.http.post("/commands", json=body).json()["error"]["error_message"]
    assert "nowhere" in error


def test_a_front_end_can_ask_whether_a_field_is_known(shared_service: ServiceProcess) -> None:
    """What `requests/commands.py` of the client sends: no service can make a command of it."""

    def is_known(field: str) -> bool:
        answer = shared_service.http.post("/commands", json={"command_type": "DbTapQueryCommand", field: "?"})
        return answer.status_code == 422 and field in answer.json()["error"]["fields"]

    assert {field: is_known(field) for field in ("dry_run", "limit")} == {"dry_run": True, "limit": True}
