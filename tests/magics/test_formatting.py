"""`%svc_format`: the next input of the front end is the formatted cell."""

from __future__ import annotations

from typing import Any

import pytest

from svc_jupyter.magics.display.errors import SvcUsageError

Inputs = list[tuple[str, bool]]


@pytest.fixture
def inputs(unconnected: Any, monkeypatch: pytest.MonkeyPatch) -> Inputs:
    """What a front end is told to write, and whether that takes the place of the cell."""
    told: Inputs = []
    monkeypatch.setattr(unconnected.shell, "set_next_input", lambda text, replace=False: told.append((text, replace)))
    return told


def test_the_cell_below_is_laid_out_in_its_place_and_does_not_run(unconnected: Any, inputs: Inputs) -> None:
    assert unconnected.value("%%svc_format\n%%svc_db --tap x\nselect  1") is None
    assert inputs == [("%%svc_db --tap x\nselect 1", True)]


def test_alone_it_takes_the_last_cell_with_sql(unconnected: Any, inputs: Inputs) -> None:
    for cell in ("%%svc_db --wrong\nselect  1", "%%svc_db --wrong\nselect  2", "x = 1"):
        unconnected.run(cell)
    unconnected.value("%svc_format")
    unconnected.value("y = 1\n%svc_format")
    assert inputs == [("%%svc_db --wrong\nselect 2", True), ("%%svc_db --wrong\nselect 2", False)]


def test_statements_that_stay_as_written_are_named(
    unconnected: Any, inputs: Inputs, capsys: pytest.CaptureFixture[str]
) -> None:
    unconnected.value("%%svc_format\n%%svc_db\nselect  'x")
    assert inputs == [("%%svc_db\nselect  'x", True)]
    assert capsys.readouterr().out.startswith("The SQL at line 2 stays as written")


def test_without_sql_it_says_so(unconnected: Any, inputs: Inputs) -> None:
    errors = [unconnected.error(cell) for cell in ("%%svc_format\nx = 1", "%svc_format", "%svc_format x")]
    assert [type(error) for error in errors] == [SvcUsageError] * 3
    said, nothing_ran, stray = map(str, errors)
    assert said.startswith("svc_format: the cell has no SQL")
    assert nothing_ran.startswith("svc_format: no cell with SQL was run. Write %%svc_format above one")
    assert stray.startswith("svc_format: ")
    assert inputs == []


def test_in_a_terminal_it_is_the_next_input(terminal: Any) -> None:
    terminal.value("%%svc_format\n%%svc_hive\nselect  1")
    assert terminal.shell.rl_next_input == "%%svc_hive\nselect 1"
