from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from svc_jupyter.cli.main import main
from svc_jupyter.cli.run_notebook import write_copy


def notebook_at(path: Path, *cells: nbformat.NotebookNode) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


def sources(path: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


@pytest.mark.usefixtures("data_dir")
def test_cells_and_outputs_are_printed_and_the_copy_holds_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    frame = "import pandas as pd\npd.DataFrame({'carrier': ['UA'], 'flights': [58665]})"
    notebook = notebook_at(tmp_path / "a.ipynb", new_markdown_cell("# Flights"), new_code_cell(frame))
    published = notebook.read_bytes()
    assert main(["run-notebook", str(notebook), "--output", str(tmp_path / "out" / "a.ipynb")]) == 0
    printed = capfd.readouterr()
    assert printed.err == ""
    assert "── Flights ─" in printed.out
    assert "│ pd.DataFrame" in printed.out
    assert "0      UA    58665" in printed.out
    assert notebook.read_bytes() == published
    copy = nbformat.read(tmp_path / "out" / "a.ipynb", as_version=4)
    assert "58665" in copy.cells[1].outputs[0].data["text/plain"]


@pytest.mark.usefixtures("data_dir")
def test_a_failing_cell_ends_the_run_and_the_copy_shows_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    cells = [new_code_cell("print('one')"), new_code_cell("1 / 0"), new_code_cell("print('three')")]
    notebook = notebook_at(tmp_path / "a.ipynb", *cells)
    assert main(["run-notebook", str(notebook), "--output", str(tmp_path / "copy.ipynb")]) == 1
    printed = capfd.readouterr()
    assert "one" in printed.out
    assert "three" not in printed.out
    assert "a cell failed: ZeroDivisionError: division by zero" in printed.err
    assert nbformat.read(tmp_path / "copy.ipynb", as_version=4).cells[1].outputs[0].ename == "ZeroDivisionError"


@pytest.mark.usefixtures("data_dir")
def test_the_output_of_a_kernel_that_dies_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    said = new_code_cell("get_ipython().kernel.log.error('a word of its own')")
    assert main(["run-notebook", str(notebook_at(tmp_path / "a.ipynb", said))]) == 0
    assert capfd.readouterr().err == ""
    died = new_code_cell("import os\nos._exit(3)")
    assert main(["run-notebook", str(notebook_at(tmp_path / "b.ipynb", said, died))]) == 1
    error = capfd.readouterr().err
    assert "a word of its own" in error
    assert error.endswith("svc-jupyter run-notebook: the kernel ended by itself: too little memory?\n")


def test_a_copy_that_somebody_changed_is_kept(tmp_path: Path):
    mine = notebook_at(tmp_path / "work" / "a.ipynb", new_code_cell("my own"))
    executed = new_notebook(cells=[new_code_cell("1")])
    kept = [write_copy(executed, mine, ["1"]) for _ in range(2)]
    assert kept == [mine.with_name("a-1.ipynb"), None]
    assert sources(mine.with_name("a-1.ipynb")) == ["my own"]
    assert sources(mine) == ["1"]


def test_a_copy_that_nobody_changed_is_replaced(tmp_path: Path):
    executed = new_notebook(cells=[new_code_cell("1")])
    for _ in range(2):
        assert write_copy(executed, tmp_path / "work" / "a.ipynb", ["1"]) is None
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["a.ipynb"]


@pytest.mark.parametrize(("content", "message"), [(None, "No such file"), ("print(1)", "is not a notebook")])
def test_a_missing_or_invalid_notebook_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_text(content)
    assert main(["run-notebook", str(path)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert message in line
