"""What a `SparkCommand` is: a statement for a session, an application of its own, or nothing that can be run."""

import pytest
from pydantic import ValidationError

from svc_jupyter.api.spark_commands import SparkSubmission, SqlSubmission
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.kinds.spark.plans import described, plan_of
from svc_jupyter.service.runtimes.spark.driver.statement import Language


def plan(**fields):
    return plan_of(described(SparkSubmission.model_validate(fields)))


STATEMENTS = [
    ({"program": "1", "language": "python"}, Language.PYTHON),
    ({"program": "1", "language": "Scala"}, Language.SCALA),
    ({"program": "SELECT 1", "language": "sql"}, Language.SQL),
    ({"sql": "SELECT 1"}, Language.SQL),
    ({"script_location": "jobs/a.py"}, Language.PYTHON),
    ({"script_location": "s3://b/a.SCALA"}, Language.SCALA),
    ({"script_location": "jobs/a", "language": "sql"}, Language.SQL),
]


def test_a_program_in_a_language_of_sessions_is_a_statement():
    plans = [plan(**fields) for fields, _ in STATEMENTS]
    assert [made.language for made in plans] == [language for _, language in STATEMENTS]
    assert not [made for made in plans if made.runs_alone(None, None, on_yarn=True)]


def test_options_of_spark_submit_make_it_an_application_of_its_own():
    made = plan(program="1", language="python", arguments="--executor-memory 2g --name 'a b'")
    assert made.options == ("--executor-memory", "2g", "--name", "a b")
    assert made.runs_alone(None, None, on_yarn=False)


def test_a_pool_is_a_queue_of_yarn_only():
    made = plan(sql="SELECT 1")
    assert made.runs_alone("etl", None, on_yarn=True)
    assert not made.runs_alone("etl", None, on_yarn=False)


def test_a_jar_and_a_command_line_are_run_as_they_are():
    assert plan(script_location="jobs/a.jar", arguments="--class A").language is None
    made = plan(cmdline="/usr/bin/spark-submit --class A 'my job.jar' 1")
    assert made.cmdline == ("--class", "A", "my job.jar", "1")


def test_arguments_of_the_program_are_split_as_a_shell_does():
    assert plan(program="1", language="python", user_program_arguments="a 'b c'").arguments == ("a", "b c")


def test_a_kept_session_goes_with_programs_that_it_can_run():
    assert plan(sql="SELECT 1", app_id=7).session == "7"
    with pytest.raises(Invalid, match="app_id names a session"):
        plan(sql="SELECT 1", app_id="x", arguments="--name a")
    with pytest.raises(Invalid, match="app_id names a session"):
        plan(script_location="a.jar", app_id="x")


ONE_OF = "give exactly one of program, cmdline, sql, script_location, note_id"
CONTRADICTIONS = [
    ({}, f"{ONE_OF}: none was given"),
    ({"sql": "SELECT 1", "cmdline": "spark-submit a.py"}, f"{ONE_OF}: given were cmdline, sql"),
    ({"program": "1"}, "language: a program needs one of python, scala, R and sql"),
    ({"program": "1", "language": "cobol"}, "language: 'cobol' is not one of python, scala, R, sql, notebook"),
    ({"program": "1", "language": "notebook"}, "language: notebook needs a note_id"),
    ({"note_id": 1, "language": "scala"}, "language: of a note it is notebook, not scala"),
    ({"sql": "SELECT 1", "arguments": {"a": 1}}, "arguments: options of spark-submit are one string"),
]


def test_fields_that_contradict_each_other_are_refused():
    def refusal(fields):
        with pytest.raises(ValidationError) as refused:
            SparkSubmission.model_validate(fields)
        return explain(refused.value)

    assert [(fields, refusal(fields)) for fields, _ in CONTRADICTIONS] == CONTRADICTIONS


OF_THE_CLUSTER = "is the cluster's: leave it out, or choose another cluster by its label"
INVALID = [
    (
        {"script_location": "jobs/a.txt"},
        "script_location: its name ends with .py, .scala, .sql, .R or .jar; for another name give the language",
    ),
    (
        {"program": "1", "language": "python", "arguments": "--name 'a"},
        "arguments cannot be split as a shell does: no closing quotation",
    ),
    (
        {"program": "1", "language": "python", "arguments": "--master local"},
        f"arguments: --master {OF_THE_CLUSTER}",
    ),
    (
        {"program": "1", "language": "python", "arguments": "--properties-file=/etc/x"},
        f"arguments: --properties-file {OF_THE_CLUSTER}",
    ),
    ({"cmdline": "bash -c x"}, "cmdline: it begins with spark-submit, and its options and the program follow"),
    ({"cmdline": "spark-submit"}, "cmdline: spark-submit needs a program"),
    ({"cmdline": "spark-submit --master yarn a.py"}, f"cmdline: --master {OF_THE_CLUSTER}"),
    (
        {"cmdline": "spark-submit a.py", "app_id": "x"},
        "app_id goes with a program, not with cmdline, which holds everything itself",
    ),
    ({"sql": "SELECT '\0'"}, "sql must not contain a NUL character"),
]


def test_an_invalid_spark_command_is_refused_with_the_reason():
    def refusal(fields):
        with pytest.raises(Invalid) as refused:
            plan(**fields)
        return refused.value.message

    assert [(fields, refusal(fields)) for fields, _ in INVALID] == INVALID


def test_r_needs_an_rscript_on_the_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Invalid, match="there is no Rscript on the path"):
        plan(program="1", language="R")
    (tmp_path / "Rscript").touch(0o755)
    made = plan(program="1", language="R")
    assert (made.language, made.suffix) == (None, ".r")
    assert plan(script_location="program.txt", language="R").is_in_r
    assert not plan(script_location="program.jar").is_in_r


def test_a_sql_command_has_exactly_one_query():
    with pytest.raises(ValidationError):
        SqlSubmission.model_validate({})
    with pytest.raises(ValidationError):
        SqlSubmission.model_validate({"query": "SELECT 1", "script_location": "a.sql"})
