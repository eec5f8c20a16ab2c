"""The cells of the guides run, in their order, and print what the pages show below them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
GUIDES = ("tutorial", "parametrise", "backfill", "wait_for_data", "moving", "when_it_goes_wrong")
_BLOCK = re.compile(r"^(<!-- raises -->\n)?```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# They share the service of the notebooks.
pytestmark = [pytest.mark.all, pytest.mark.timeout(600), pytest.mark.xdist_group("notebooks")]


@dataclass
class Cell:
    source: str
    raises: bool
    shown: str = ""
    """What the page shows below it."""


def cells_of(page: str) -> list[Cell]:
    """Return the cells of a page: blocks of Python, and blocks without a language that begin with a magic."""
    cells: list[Cell] = []
    for raises, language, text in _BLOCK.findall(page):
        if language == "python" or (not language and text.startswith("%")):
            cells.append(Cell(text, bool(raises)))
        elif language == "text" and cells:
            cells[-1].shown = text
    return cells


def notebook_of(cells: list[Cell]) -> nbformat.NotebookNode:
    nodes = []
    for cell in cells:
        node = nbformat.v4.new_code_cell(cell.source)
        node.metadata["tags"] = ["raises-exception"] if cell.raises else []
        nodes.append(node)
    return nbformat.v4.new_notebook(cells=nodes)


def text_of(node: nbformat.NotebookNode) -> str:
    """Return what a cell shows: its prints, its value, its error."""
    texts = []
    for output in node.outputs:
        texts.append(output.get("text", ""))
        texts.append(output.get("data", {}).get("text/plain", ""))
        texts.append(output.get("evalue", ""))
    return "\n".join(texts)


def test_the_cells_of_the_guides_show_what_the_pages_say(demo_environment: dict[str, str], tmp_path: Path):
    cells = [cell for name in GUIDES for cell in cells_of((ROOT / "docs" / f"{name}.md").read_text())]
    nbformat.write(notebook_of(cells), tmp_path / "guides.ipynb")
    parameters = nbformat.v4.new_code_cell('region, days = "all", 1', metadata={"tags": ["parameters"]})
    shown = nbformat.v4.new_code_cell("print(region, days)")
    nbformat.write(nbformat.v4.new_notebook(cells=[parameters, shown]), tmp_path / "report.ipynb")
    ended = subprocess.run(
        [sys.executable, "-m", "svc_jupyter", "run-notebook", "guides.ipynb", "--output", "executed.ipynb"],
        env=demo_environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr
    executed = nbformat.read(tmp_path / "executed.ipynb", as_version=4).cells
    differing = [
        (cell.source, cell.shown, text_of(node))
        for cell, node in zip(cells, executed, strict=True)
        if not all(line in text_of(node) for line in cell.shown.splitlines())
    ]
    assert differing == []
    assert sum(bool(cell.shown) for cell in cells) > 12
