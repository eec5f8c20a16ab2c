"""The list of a command's jobs, which its own processes can write."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from svc_jupyter.service.db_taps.job import JOBS_FILE
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.kinds.queries.worker_query import written_jobs


def write(root: Path, attempt: int, text: str) -> None:
    (root / str(attempt)).mkdir()
    (root / str(attempt) / JOBS_FILE).write_text(text)


async def test_the_jobs_of_all_attempts_are_returned_in_order(tmp_path: Path):
    for attempt in (10, 2):
        write(tmp_path, attempt, json.dumps([{"id": attempt}]))
    (tmp_path / "3").mkdir()
    assert await written_jobs(tmp_path) == [{"id": 2}, {"id": 10}]


async def test_a_list_of_any_length_takes_little_memory(tmp_path: Path):
    write(tmp_path, 1, "[" + " " * (100 << 20) + "]")
    tracemalloc.start()
    try:
        with pytest.raises(Invalid, match="more than 4 MiB"):
            await written_jobs(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


async def test_a_damaged_list_is_named(tmp_path: Path):
    write(tmp_path, 1, "[{")
    with pytest.raises(Invalid, match=r"cannot be read: file://.*/1/"):
        await written_jobs(tmp_path)
