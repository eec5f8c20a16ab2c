"""`%%svc_hive`, `%svc_hadoop`, `%svc_table` and `%svc_sensor` in a notebook."""

import threading

import pyarrow as pa
import pytest

from svc_jupyter.magics.display.errors import SvcUsageError

PAGE = {"page": 1, "per_page": 100, "next_page": None}


@pytest.fixture
def metastore(service):
    """A service that knows a table in partitions."""
    service.answers |= {
        "GET hive": {"schemas": ["default", "web"], "paging_info": PAGE},
        "GET hive/default": {"tables": [], "paging_info": PAGE},
        "GET hive/web": {"tables": ["visits"], "paging_info": PAGE},
        "GET hive/web/visits": [
            {"name": "n", "type": "int", "comment": "clicks"},
            {"name": "day", "type": "string", "comment": None},
        ],
        "GET hive/web/visits/partitions": {
            "partitions": [{"name": "day=2", "values": {"day": "2"}, "location": "file:/w/day=2"}],
            "paging_info": PAGE,
        },
        "GET hive/web/visits/properties": {
            "schema": "web",
            "table": "visits",
            "table_type": "EXTERNAL_TABLE",
            "partition_columns": ["day"],
            "properties": {"owner": "etl"},
        },
        "POST sensors/partition_sensor": {"status": "true"},
        "POST sensors/file_sensor": {"status": "false"},
    }
    return service


def test_a_hive_query_becomes_a_typed_frame(service, notebook):
    service.behave("select 1 as n", table=pa.table({"n": [1]}))
    frame = notebook.value("%%svc_hive --label etl -o one\nselect 1 as n\n")
    assert frame["n"].sum() == 1
    assert notebook.lines[-1].endswith("1 row × 1 column · one")
    assert {name: service.submissions[0][name] for name in ("command_type", "label")} == {
        "command_type": "HiveCommand",
        "label": "etl",
    }


def test_the_line_says_that_the_cluster_is_started_for_it(service, notebook_of, wait_until):
    service.behave("select 1", held=True, waiting="starting cluster default (12 s)")
    notebook = notebook_of(service)

    def end():
        wait_until(lambda: any("starting cluster default (12 s)" in line for line in notebook.lines))
        service.end(128)

    threading.Thread(target=end).start()
    notebook.run("%%svc_hive\nselect 1\n")
    assert any("Hive · starting cluster default (12 s)" in line for line in notebook.lines)


def test_text_after_the_sub_command_is_passed_as_its_arguments(service, notebook):
    notebook.value("%svc_hadoop --name count jar 'my job.jar' -D a=b -o out")
    [body] = service.submissions
    assert (body["command_type"], body["name"], body["sub_command"]) == ("HadoopCommand", "count", "jar")
    assert body["sub_command_args"] == "'my job.jar' -D a=b -o out"
    assert "out" not in notebook.shell.user_ns


def test_long_arguments_go_on_below_the_line(service, notebook):
    notebook.value("%%svc_hadoop streaming\n-input in\n-mapper 'cut -d, -f 1'\n")
    assert service.submissions[0]["sub_command_args"] == "-input in -mapper 'cut -d, -f 1'"


def test_a_hadoop_line_that_cannot_be_run_is_reported(service, notebook):
    wrong = {
        "%svc_hadoop": "the following arguments are required: SUB_COMMAND",
        "%svc_hadoop fs -ls /": "argument SUB_COMMAND: invalid choice: 'fs'",
        "%svc_hadoop jar": "jar needs arguments behind it",
    }
    reasons = {line: str(notebook.error(line)) for line in wrong}
    assert {line: reasons[line] for line, reason in wrong.items() if reason not in reasons[line]} == {}
    assert service.submissions == []


def test_a_table_s_definition_is_a_frame(metastore, notebook):
    frame = notebook.value("%svc_table web.visits")
    assert frame.to_dict("list") == {"name": ["n", "day"], "type": ["int", "string"], "comment": ["clicks", ""]}


def test_partitions_and_properties_of_a_table(metastore, notebook):
    partitions = notebook.value("%svc_table web.visits --partitions -o partitions")
    assert partitions.to_dict("records") == [{"day": "2", "location": "file:/w/day=2"}]
    properties = str(notebook.value("%svc_table web.visits --properties"))
    assert properties.startswith("table web.visits")
    assert "EXTERNAL_TABLE" in properties
    assert "etl" in properties


def test_without_a_table_all_are_listed(metastore, notebook):
    assert notebook.value("%svc_table").to_dict("records") == [{"schema": "web", "table": "visits"}]


def test_a_sensor_is_true_or_false(metastore, notebook):
    assert notebook.value("%svc_sensor web.visits day=2 region=EU region=US -o there") is True
    assert notebook.shell.user_ns["there"] is True
    assert metastore.sent[-1]["columns"] == [
        {"column": "day", "values": ["2"]},
        {"column": "region", "values": ["EU", "US"]},
    ]
    assert notebook.value("%svc_sensor --file flights/a.csv --file flights/b.csv") is False
    assert metastore.sent[-1] == {"files": ["flights/a.csv", "flights/b.csv"]}


def test_a_line_that_cannot_be_meant_is_reported_before_anything_is_asked(metastore, notebook):
    lines = [
        "%svc_sensor",
        "%svc_sensor web.visits",
        "%svc_sensor web.visits day",
        "%svc_sensor a.b.c day=1",
        "%svc_sensor web.visits day=1 --file x",
        "%svc_table web.",
        "%svc_table web.visits --partitions --properties",
    ]
    errors = {line: notebook.error(line) for line in lines}
    assert {line: error for line, error in errors.items() if not isinstance(error, SvcUsageError)} == {}
    assert metastore.sent == []
