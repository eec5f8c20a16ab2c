"""How the end of a script is told."""

from __future__ import annotations

import json

import pytest

from svc_jupyter.service.commands.kind import ResultForm, Task
from svc_jupyter.service.kinds.pig.outcome import described, outcome_of

SCRIPT = "a = LOAD 'x';\n  b = FILTR a;\nDUMP b;"


@pytest.fixture
def task(tmp_path) -> Task:
    task = Task(id=7, account_id=1, user_id=1, attempt=1, command={}, root=tmp_path)
    task.folder.mkdir()
    return task


def failure(**told) -> dict:
    return {"message": "went wrong", "code": None, "line": None, "column": None, "may_retry": False} | told


def test_an_error_shows_the_cause_first_and_then_the_place():
    error = failure(message="Syntax error", code=1200, line=2, column=4)

    assert described(error, SCRIPT, "script") == ("Syntax error (ERROR 1200)\n  script, line 2, column 4: b = FILTR a;")


def test_an_error_without_a_place_is_one_line():
    assert described(failure(), SCRIPT, "script") == "went wrong"


def test_a_line_that_is_not_in_the_script_is_only_named():
    assert described(failure(line=9), SCRIPT, "s3://lake/x.pig") == "went wrong\n  s3://lake/x.pig, line 9"


def test_a_long_line_is_cut():
    text = described(failure(line=1, column=0), "a" * 500, "script")

    assert text.endswith("a…")
    assert len(text) < 250


@pytest.mark.parametrize(
    ("code", "words"),
    [(None, "was killed"), (143, "ended by signal 15"), (3, "ended with code 3")],
)
def test_a_java_that_could_not_say_why_is_reported_by_how_it_ended(task, code, words):
    outcome = outcome_of(task, code, SCRIPT, "script")

    assert not outcome.succeeded
    assert words in outcome.message
    assert outcome.may_retry


def test_running_out_of_memory_is_reported_as_such(task, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "err").write_text("Terminating due to java.lang.OutOfMemoryError: Java heap space\n")
    (task.folder / "scratch").write_text(f"{scratch}\n")

    assert "ran out of memory: its Java has 512 MB" in outcome_of(task, None, SCRIPT, "script").message


def test_the_last_dump_is_the_result_and_all_are_outputs(task):
    dumps = [{"alias": alias, "file": "f", "rows": 3, "size": 80, "columns": [["k", "string"]]} for alias in ("a", "b")]
    (task.folder / "result.json").write_text(json.dumps({"dumps": dumps, "stores": []}))

    outcome = outcome_of(task, 0, SCRIPT, "script")

    assert outcome.succeeded
    assert outcome.result.form is ResultForm.ARROW
    assert (outcome.result.file, outcome.result.rows) == ("1/result.arrow", 3)
    assert [dump["alias"] for dump in outcome.outputs["dumps"]] == ["a", "b"]
    assert "file" not in outcome.outputs["dumps"][0]


def test_without_a_dump_the_result_is_what_was_printed(task):
    stores = [{"alias": "a", "location": "file:///lake/a", "rows": 1, "bytes": 9}]
    (task.folder / "result.json").write_text(json.dumps({"dumps": [], "stores": stores}))
    (task.folder / "out").write_text("a: {k: chararray}\n")

    outcome = outcome_of(task, 0, SCRIPT, "script")

    assert (outcome.result.form, outcome.result.file) == (ResultForm.LINES, "1/out")
    assert outcome.message == "stored 1 row of a in file:///lake/a"


def test_a_script_that_printed_nothing_has_no_result(task):
    (task.folder / "result.json").write_text(json.dumps({"dumps": [], "stores": []}))
    (task.folder / "out").touch()

    assert outcome_of(task, 0, SCRIPT, "script").result is None
