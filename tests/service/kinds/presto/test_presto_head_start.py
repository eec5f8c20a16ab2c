"""Statements that are posted before their commands count: begun once, by the command they were posted for, or never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from tests.support.presto_coordinator import Coordinator, coordinator_at_work
from tests.support.until import until

from svc_jupyter.service.kinds.presto import head_start
from svc_jupyter.service.kinds.presto.client import Target
from svc_jupyter.service.kinds.presto.head_start import HeadStart, HeadStarts

CHANGING = "-- one\nCREATE TABLE t (a int); SELECT 2"
READING = "-- one\nSELECT 1; SELECT 2"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator that is slow on a busy machine is waited for, and what it has was posted just now."""
    monkeypatch.setattr(head_start, "_SECONDS", 60)
    monkeypatch.setattr(head_start, "_FRESH_SECONDS", 3600)


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with coordinator_at_work() as coordinator:
        coordinator.answers = [(200, {"id": "q", "nextUri": f"{coordinator.url}/queued/q/1"}, {}), (200, {}, {})]
        yield coordinator


@pytest.fixture
def head_starts() -> Iterator[HeadStarts]:
    head_starts = HeadStarts()
    yield head_starts
    head_starts.close()


def target_of(coordinator: Coordinator, source: str = "svc-command-7-1") -> Target:
    return Target(coordinator.url, "ann", source)


def asked(coordinator: Coordinator) -> list[tuple[str, str]]:
    return [(method, path) for method, path, *_ in coordinator.asked]


POSTED = ("POST", "/v1/statement")
BEGUN = ("GET", "/queued/q/1")
ENDED = ("DELETE", "/queued/q/1")


async def test_a_statement_that_changes_something_is_begun_when_its_command_counts(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    head_starts.post(7, target_of(coordinator), CHANGING)
    await until(lambda: coordinator.asked)
    await asyncio.sleep(0.1)
    assert asked(coordinator) == [POSTED]
    _, _, statement, headers = coordinator.asked[0]
    assert (statement, headers["X-Presto-Source"]) == ("-- one\nCREATE TABLE t (a int)", "svc-command-7-1")

    begun = await head_starts.begin(7, target_of(coordinator), CHANGING, tmp_path)

    assert begun is not None
    assert json.loads(begun.answer)["id"] == "q"
    assert HeadStart.written(tmp_path) == begun
    await until(lambda: asked(coordinator) == [POSTED, BEGUN])
    assert await head_starts.begin(7, target_of(coordinator), CHANGING, tmp_path) is None


async def test_a_statement_that_only_reads_is_begun_at_once_and_once(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    head_starts.post(7, target_of(coordinator), READING)
    await until(lambda: asked(coordinator) == [POSTED, BEGUN])
    begun = await head_starts.begin(7, target_of(coordinator), READING, tmp_path)
    assert begun is not None
    assert HeadStart.written(tmp_path) == begun
    await asyncio.sleep(0.1)
    assert asked(coordinator) == [POSTED, BEGUN]


@pytest.mark.parametrize("other", ["command", "script", "target", "time"])
@pytest.mark.parametrize("script", [CHANGING, READING])
async def test_a_head_start_that_is_old_or_for_another_statement_is_not_used(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, other: str, script: str, monkeypatch
):
    coordinator.answers.append((200, {}, {}))
    head_starts.post(7, target_of(coordinator), script)
    begun = [POSTED, BEGUN] if script == READING else [POSTED]
    await until(lambda: asked(coordinator) == begun)
    if other == "time":
        monkeypatch.setattr("svc_jupyter.service.kinds.presto.head_start._FRESH_SECONDS", 0)
    number = 8 if other == "command" else 7
    wanted = "DROP TABLE t" if other == "script" else script
    target = target_of(coordinator, "svc-command-8-1" if other == "target" else "svc-command-7-1")

    assert await head_starts.begin(number, target, wanted, tmp_path) is None

    assert HeadStart.written(tmp_path) is None
    head_starts.drop(7)
    ended = [ENDED] if script == READING else []
    await until(lambda: asked(coordinator) == begun + ended)


@pytest.mark.parametrize("trouble", ["it takes too long", "its folder cannot be written to"])
async def test_a_head_start_that_cannot_be_used_is_ended(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, trouble: str, monkeypatch
):
    coordinator.answers.append((200, {}, {}))
    head_starts.post(7, target_of(coordinator), READING)
    await until(lambda: len(coordinator.asked) == 2)
    if trouble == "it takes too long":
        late = AsyncMock(side_effect=TimeoutError)
        monkeypatch.setattr("svc_jupyter.service.kinds.presto.head_start._within", late)
        assert await head_starts.begin(7, target_of(coordinator), READING, tmp_path) is None
    else:
        with pytest.raises(FileNotFoundError):
            await head_starts.begin(7, target_of(coordinator), READING, tmp_path / "gone")
    await until(lambda: asked(coordinator) == [POSTED, BEGUN, ENDED])


async def test_an_unused_head_start_is_ended_with_the_service(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    coordinator.answers.append((200, {}, {}))
    head_starts.post(7, target_of(coordinator), READING)
    await until(lambda: len(coordinator.asked) == 2)
    head_starts.close()
    await until(lambda: asked(coordinator) == [POSTED, BEGUN, ENDED])
    head_starts.post(8, target_of(coordinator), READING)
    assert await head_starts.begin(8, target_of(coordinator), READING, tmp_path) is None


@pytest.mark.parametrize("trouble", ["breaks off", "refuses", "is gone"])
async def test_a_coordinator_that_does_not_take_it_is_left_to_the_worker(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, trouble: str
):
    coordinator.answers = [(400, {}, {}) if trouble == "refuses" else None]
    target = Target("http://127.0.0.1:9", "ann", "s") if trouble == "is gone" else target_of(coordinator)
    head_starts.post(7, target, CHANGING)
    assert await head_starts.begin(7, target, CHANGING, tmp_path) is None
    assert HeadStart.written(tmp_path) is None


@pytest.mark.parametrize("script", ["-- nothing", "SELECT '" + 5000 * "x" + "'"])
async def test_a_script_without_a_statement_or_a_long_one_has_no_head_start(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, script: str
):
    head_starts.post(7, target_of(coordinator), script)
    assert await head_starts.begin(7, target_of(coordinator), script, tmp_path) is None
    assert coordinator.asked == []


async def test_the_number_of_unused_head_starts_is_limited(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    coordinator.answers = [*(65 * coordinator.answers[:1]), *coordinator.answers[1:]]
    for number in range(65):
        head_starts.post(number, target_of(coordinator), CHANGING)
    await until(lambda: len(coordinator.asked) == 65)
    assert await head_starts.begin(0, target_of(coordinator), CHANGING, tmp_path) is None
    assert await head_starts.begin(1, target_of(coordinator), CHANGING, tmp_path) is not None
