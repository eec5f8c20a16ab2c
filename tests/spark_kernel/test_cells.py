"""What runs a cell of the kernel Spark (svc)."""

from __future__ import annotations

from svc_jupyter.spark_kernel.cells import Runner, cell_of


def test_leaving_ends_the_console_and_not_the_session() -> None:
    words = ["exit", "quit\n", " exit()"]
    assert {text: cell_of(text, ()).runner for text in words} == dict.fromkeys(words, Runner.LOCAL)


def test_code_that_names_it_runs_in_the_session() -> None:
    codes = ["exit_code = 1", "exit(3)", "exit\nspark"]
    assert {text: cell_of(text, ()).runner for text in codes} == dict.fromkeys(codes, Runner.PYTHON)
