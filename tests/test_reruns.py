"""A test that passes only at its second try is not a secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLAKY = """
from pathlib import Path

def test_flaky():
    mark = Path(__file__).with_name("mark")
    first = not mark.exists()
    mark.touch()
    print("what it printed")
    assert not first, "the cause of the first try"

def test_broken():
    assert False, "always"
"""


@pytest.mark.all  # nothing else runs a test again
@pytest.mark.parametrize("more", [[], ["-p", "xdist.plugin", "-n", "1"]], ids=["alone", "in workers"])
def test_the_summary_shows_why_a_first_try_failed_and_lists_the_flaky_tests(tmp_path: Path, more: list[str]):
    (tmp_path / "test_it.py").write_text(FLAKY)
    names = ("pytest_rerunfailures", "tests.support.reruns", "no:cacheprovider", "no:warnings")
    plugins = [f"-p{name}" for name in names]
    run = [sys.executable, "-m", "pytest", *plugins, "--reruns", "1", *more, f"--rootdir={tmp_path}", str(tmp_path)]
    # Loading the other plugins, which do nothing here, takes most of the time.
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    printed = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True)
    tries, _, flaky = printed.stdout.partition("FIRST TRIES THAT FAILED")[2].partition("FLAKY TESTS")
    assert "the cause of the first try" in tries
    assert "what it printed" in tries
    assert "always" in tries
    assert "test_it.py::test_flaky" in flaky
    assert "test_broken" not in flaky.partition("short test summary")[0]
    assert printed.stdout.splitlines()[-1].strip("= ").startswith("1 failed, 1 passed, 2 rerun")
