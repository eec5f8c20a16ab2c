"""The published notebooks run, and their tagged outputs come out as they are published (nbval)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# One service for all of them, and the engines of a cluster need their time.
pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("notebooks"), pytest.mark.engine]
QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"


def compared_with_its_published_outputs(
    notebook: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    plugin = ["-p", "nbval", "-p", "tests.support.nbval_outputs"]
    options = [
        *plugin,
        "--nbval-lax",
        "--nbval-current-env",
        "--nbval-sanitize-with",
        str(ROOT / "notebooks" / "nbval.cfg"),
    ]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(notebook)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "notebook",
    [pytest.param(path, marks=pytest.mark.gate) if path == QUICKSTART else path for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs_and_gives_what_it_shows(notebook: Path, demo_environment: dict[str, str]):
    done = compared_with_its_published_outputs(notebook, demo_environment)
    assert done.returncode == 0, done.stdout


def test_a_wrong_row_count_would_be_noticed(tmp_path: Path, demo_environment: dict[str, str]):
    published = nbformat.read(QUICKSTART, as_version=4)
    published.cells = [cell for cell in published.cells if cell.cell_type == "code"][:2]
    altered = tmp_path / "altered.ipynb"
    altered.write_text(nbformat.writes(published).replace("336776", "336775"))
    done = compared_with_its_published_outputs(altered, demo_environment)
    assert done.returncode == 1
    assert "Cell outputs differ" in done.stdout


def test_the_quick_start_begins_with_the_row_counts_and_ends_with_a_plot():
    code = [cell for cell in nbformat.read(QUICKSTART, as_version=4).cells if cell.cell_type == "code"]
    tables = code[1].outputs[-1].data["text/plain"]
    assert code[0].source.startswith("%load_ext svc_jupyter")
    assert all(name in tables for name in ("flights  336776", "weather", "planes", "airports", "airlines"))
    assert "image/png" in code[-1].outputs[-1].data


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_published_notebook_shows_nothing_of_the_machine_it_ran_on(notebook: Path):
    published = nbformat.read(notebook, as_version=4)
    assert "execution" not in {key for cell in published.cells for key in cell.metadata}
    assert not [word for word in ("/home/", "/root/", "/tmp/", "127.0.0.1") if word in notebook.read_text()]
