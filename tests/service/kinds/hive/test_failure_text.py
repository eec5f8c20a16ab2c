"""What HiveServer2 says of a failure, cut down to what helps. The texts are the server's own."""

from __future__ import annotations

from svc_jupyter.service.db_taps.failures import offset_of
from svc_jupyter.service.kinds.hive.engine import failure_of

_STACK = "\n\tat org.apache.spark.sql.hive.thriftserver.HiveThriftServerErrors$.runningQueryError(H.scala:43)"
_BEGIN = "org.apache.hive.service.cli.HiveSQLException: Error running query: "


def test_a_parse_error_has_its_place() -> None:
    text = (
        f"{_BEGIN}[PARSE_SYNTAX_ERROR] org.apache.spark.sql.catalyst.parser.ParseException: \n"
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'selec'. SQLSTATE: 42601 (line 1, pos 0)\n\n"
        f"== SQL ==\nselec 1\n^^^\n{_STACK}"
    )
    failure = failure_of(text, "selec 1")
    assert failure.message == "[PARSE_SYNTAX_ERROR] Syntax error at or near 'selec'. SQLSTATE: 42601"
    assert failure.position == 0


def test_an_analysis_error_comes_without_the_plan() -> None:
    text = (
        f"{_BEGIN}[TABLE_OR_VIEW_NOT_FOUND] org.apache.spark.sql.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND] "
        "The table or view `nope` cannot be found.\nTo tolerate the error on drop use DROP VIEW IF EXISTS. "
        f"SQLSTATE: 42P01; line 2 pos 5;\n'Project [*]\n+- 'UnresolvedRelation [nope], [], false\n{_STACK}"
    )
    failure = failure_of(text, "SELECT *\nFROM nope")
    assert failure.message.splitlines() == [
        "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nope` cannot be found.",
        "To tolerate the error on drop use DROP VIEW IF EXISTS. SQLSTATE: 42P01",
    ]
    assert failure.position == len("SELECT *\nFROM ")


def test_the_cause_of_a_failed_task_comes_first() -> None:
    text = "org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] '(1 = 2)' is not true! SQLSTATE: P0001"
    assert failure_of(text, "SELECT 1").message == "[USER_RAISED_EXCEPTION] '(1 = 2)' is not true! SQLSTATE: P0001"


def test_a_place_is_never_outside_of_the_statement() -> None:
    offsets = {(1, 3): 3, (2, 1): 10, (9, 9): 18, (1, 99): 18}
    assert {place: offset_of("SELECT *\nFROM nope", *place) for place in offsets} == offsets
