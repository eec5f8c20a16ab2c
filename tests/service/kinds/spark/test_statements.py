"""Statements on their way to the driver, and the names of the files by which it tells of them."""

from svc_jupyter.service.db_taps import job
from svc_jupyter.service.kinds.spark.sql_parts import sql_parts
from svc_jupyter.service.runtimes.spark.driver import statement, wire
from svc_jupyter.service.runtimes.spark.driver.failure import spark_text


def test_the_statements_of_a_script_know_their_lines():
    assert sql_parts("-- first\nSELECT 1;\n\nSELECT ';'\n FROM t;", {}) == [
        statement.SqlPart(2, "-- first\nSELECT 1", lines_above=1),
        statement.SqlPart(4, "SELECT ';'\n FROM t"),
    ]


def test_a_statement_survives_the_wire():
    sent = statement.Statement(
        "a-1", statement.Language.SQL, "SELECT 1", "/f", "/l", "/w", parts=[statement.SqlPart(1, "SELECT 1")]
    )
    assert statement.from_json(statement.to_json(sent)) == sent


def test_the_files_are_those_that_every_typed_result_has():
    assert (statement.RESULT_FILE, statement.PART_SUFFIX) == (job.RESULT_FILE, job.PART_SUFFIX)
    assert (statement.SUMMARY_FILE, statement.ERROR_FILE) == (job.SUMMARY_FILE, job.ERROR_FILE)
    assert (statement.PROGRESS_FILE, statement.JOBS_FILE) == (job.PROGRESS_FILE, job.JOBS_FILE)


def test_only_who_knows_the_secret_can_answer_a_challenge():
    challenged = wire.challenge()
    assert challenged != wire.challenge()
    assert wire.is_proof("secret", challenged, wire.proof("secret", challenged))
    assert not wire.is_proof("secret", challenged, wire.proof("other", challenged))


def test_the_plan_of_a_query_is_no_part_of_its_error():
    text = "[TABLE_OR_VIEW_NOT_FOUND] There is no `t`; line 1 pos 14;\n'Project [*]\n+- 'UnresolvedRelation"
    assert spark_text(RuntimeError(text)) == "[TABLE_OR_VIEW_NOT_FOUND] There is no `t`; line 1 pos 14"
