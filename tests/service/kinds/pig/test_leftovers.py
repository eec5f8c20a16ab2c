"""What a run leaves, and what of it is removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svc_jupyter.service.kinds.pig.leftovers import begun_stores, remove_local_stores, remove_scratch


@pytest.fixture
def attempt(tmp_path) -> Path:
    folder = tmp_path / "attempt"
    folder.mkdir()
    return folder


def test_only_what_the_run_has_begun_is_removed(attempt, tmp_path):
    begun, other = tmp_path / "lake" / "half done", tmp_path / "lake" / "older"
    for folder in (begun, other):
        folder.mkdir(parents=True)
        (folder / "part-r-00000").write_text("x")
    (attempt / "stores.json").write_text(json.dumps([f"file:{tmp_path}/lake/half%20done", "hdfs://h:8020/data"]))

    assert remove_local_stores(attempt) == [f"file:{tmp_path}/lake/half%20done"]
    assert not begun.exists()
    assert (other / "part-r-00000").exists()
    assert remove_local_stores(attempt) == []


def test_a_run_that_began_nothing_leaves_everything(attempt):
    assert begun_stores(attempt) == []
    assert remove_local_stores(attempt) == []


def test_temporary_files_go_with_the_run(attempt, tmp_path):
    scratch = tmp_path / "scratch"
    (scratch / "tmp").mkdir(parents=True)
    (attempt / "scratch").write_text(f"{scratch}\n")

    remove_scratch(attempt)
    remove_scratch(attempt)

    assert not scratch.exists()
    assert attempt.exists()
