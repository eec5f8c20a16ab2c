"""What a run leaves, and what of it is removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.pig.kind import PigKind
from svc_jupyter.service.kinds.pig.leftovers import begun_stores, remove_local_stores, remove_scratch
from svc_jupyter.service.storage.failures import StorageFailure


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


class WritingUntilEnded:
    """Stands for a cluster whose job writes to its target until it is ended."""

    def __init__(self, target: Path) -> None:
        self._target = target

    async def end(self, _task: Task) -> list[str]:
        self._target.mkdir(parents=True, exist_ok=True)
        return ["ended application_1"]

    async def remove_temporary(self, _task: Task) -> None:
        pass


class NoStorage:
    """Stands for an account without a storage."""

    async def of(self, _account_id: int) -> Any:
        raise StorageFailure("none")


async def test_a_file_that_a_job_writes_until_it_is_ended_is_removed_too(tmp_path):
    task, target = Task(7, 1, 1, 1, {}, tmp_path / "7", cluster_id=3), tmp_path / "lake" / "half"
    task.folder.mkdir(parents=True)
    (task.folder / "stores.json").write_text(json.dumps([target.as_uri()]))
    target.mkdir(parents=True)
    parts: Any = (None, None, NoStorage(), None, WritingUntilEnded(target))
    await PigKind(*parts, Settings(data_dir=tmp_path)).end_remote(task)
    assert not target.exists()
    assert f"removed {target.as_uri()}, which the script had begun to store" in task.log_file.read_text()
