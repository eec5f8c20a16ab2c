"""What runs a cell of the kernel Spark (svc)."""

from __future__ import annotations

import pytest

from svc_jupyter.spark_kernel.cells import Runner, cell_of


@pytest.mark.parametrize("text", ["exit", "quit\n", " exit()"])
def test_leaving_ends_the_console_and_not_the_session(text: str) -> None:
    assert cell_of(text, ()).runner is Runner.LOCAL


@pytest.mark.parametrize("text", ["exit_code = 1", "exit(3)", "exit\nspark"])
def test_code_that_names_it_runs_in_the_session(text: str) -> None:
    assert cell_of(text, ()).runner is Runner.PYTHON
