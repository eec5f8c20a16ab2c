"""The report of a statement that failed on Spark, from what its driver wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.service.commands.kind import Outcome, Task
from svc_jupyter.service.kinds.script_source import Script
from svc_jupyter.service.kinds.spark.sql_failures import reason_of, reported
from svc_jupyter.service.runtimes.spark.driver.statement import ERROR_FILE

_OUTCOME = Outcome(False, "line 2: no", exit_code=1)
_CODE = "SELECT 1;\nSELECT :a, depart"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = Task(1, 1, 1, 1, {"bindings": {"a": "a long text"}}, tmp_path, cluster_id=3)
    task.folder.mkdir()
    return task


def written(task: Task, **error: Any) -> Outcome:
    told = {"message": "no", "line": 2, "may_retry": True, **error}
    (task.folder / ERROR_FILE).write_text(json.dumps(told), "utf-8")
    return reported(_OUTCOME, task, Script(_CODE, "query"))


def test_the_place_is_the_authors_where_a_value_was_put_in(task: Task) -> None:
    position = len("SELECT ('a long text'), ")
    ended = written(task, part=1, position=position)
    assert ended.message == "no\n  query, line 2, column 12: SELECT :a, depart\n  cluster 3 (Spark)"
    assert ended.outputs is not None
    assert ended.outputs["failure"]["column"] == 12
    assert (ended.exit_code, ended.may_retry) == (1, True)


def test_a_part_without_a_place_is_shown_from_its_beginning(task: Task) -> None:
    assert str(written(task, part=1).message).startswith("no\n  query, line 2: SELECT :a, depart\n")


def test_the_words_of_a_program_stay_in_their_order() -> None:
    said = "[UNRESOLVED_COLUMN] A column with name `carier` cannot be resolved."
    message = f"{said} Did you mean one of the following? [`carrier`]. SQLSTATE: 42703"
    assert reason_of({"message": message, "part": 0}) == f"{said} Did you mean carrier?"
    in_program = {"message": f"AnalysisException: {message}\n  program, line 2: f()", "line": 2}
    assert reason_of(in_program) == in_program["message"]


@pytest.mark.parametrize("error", [{}, {"part": 2, "position": 3}])
def test_a_failure_of_an_older_driver_or_in_another_text_stays_as_it_is(task: Task, error: dict[str, Any]) -> None:
    assert written(task, **error) is _OUTCOME
