"""`%%svc_spark` and `%%svc_sql` in a notebook."""

import pyarrow as pa

from svc_jupyter.magics.commands.composite import sections_of
from svc_jupyter.magics.display.errors import SvcUsageError


def test_a_cell_in_python_is_a_program_of_a_kept_session(service, notebook):
    service.behave("spark.range(2)\n", table=pa.table({"id": [0, 1]}))
    frame = notebook.value("%%svc_spark --label spark --app-id mine --args \"a 'b c'\" -o ids\nspark.range(2)\n")
    assert frame["id"].sum() == 1
    [body] = service.submissions
    assert {name: body.get(name) for name in ("command_type", "language", "app_id", "user_program_arguments")} == {
        "command_type": "SparkCommand",
        "language": "python",
        "app_id": "mine",
        "user_program_arguments": "a 'b c'",
    }
    assert "arguments" not in body


def test_a_script_says_its_language_by_its_name(service, notebook):
    notebook.value("%svc_spark --script-location jobs/a.scala --arguments '--executor-memory 2g'")
    [body] = service.submissions
    assert body["script_location"] == "jobs/a.scala"
    assert body["arguments"] == "--executor-memory 2g"
    assert body.get("language") is None


def test_statements_are_a_sql_command_and_in_a_kept_session_a_spark_command(service, notebook):
    service.behave("SELECT 1", table=pa.table({"one": [1]}))
    notebook.value("%%svc_sql\nSELECT 1\n")
    notebook.value("%%svc_sql --app-id mine\nSELECT 2\n")
    plain, kept = service.submissions
    assert (plain["command_type"], plain["query"].strip()) == ("SqlCommand", "SELECT 1")
    assert (kept["command_type"], kept["sql"].strip(), kept["app_id"]) == ("SparkCommand", "SELECT 2", "mine")


def test_cells_of_spark_can_be_parts_of_others():
    cell = "%%svc_sql\nSELECT 1\n%%svc_spark -l scala\nprintln(1)\n"
    sql, scala = (section.definition for section in sections_of("svc_composite", cell, {}, None))
    assert (sql.command_type, scala.command_type, scala.fields()["language"]) == ("SqlCommand", "SparkCommand", "scala")


def test_options_of_spark_submit_need_a_session_of_their_own(notebook):
    error = notebook.error("%%svc_spark --app-id a --arguments '--name b'\n1\n")
    assert isinstance(error, SvcUsageError)
    assert "--app-id names a session" in str(error)
