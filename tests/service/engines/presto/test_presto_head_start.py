"""Statements that are posted before their commands count: begun once, by the command they were posted for, or never."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.presto_coordinator import Coordinator, coordinator_at_work
from tests.support.until import until

from svc_jupyter.service.db_taps.engines.presto.client import Target
from svc_jupyter.service.engines.presto.head_start import HeadStart, HeadStarts

SCRIPT = "-- one\nSELECT 1; SELECT 2"


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


async def test_the_first_statement_is_posted_and_begun_when_its_command_counts(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    head_starts.post(7, target_of(coordinator), SCRIPT)
    await until(lambda: asked(coordinator) == [("POST", "/v1/statement")])
    method, _, statement, headers = coordinator.asked[0]
    assert (method, statement, headers["X-Presto-Source"]) == ("POST", "SELECT 1", "svc-command-7-1")

    begun = await head_starts.begin(7, target_of(coordinator), SCRIPT, tmp_path)

    assert begun is not None
    assert json.loads(begun.answer)["id"] == "q"
    assert HeadStart.written(tmp_path) == begun
    await until(lambda: asked(coordinator)[1:] == [("GET", "/queued/q/1")])
    assert await head_starts.begin(7, target_of(coordinator), SCRIPT, tmp_path) is None


@pytest.mark.parametrize("other", ["command", "script", "target"])
async def test_what_was_posted_for_another_is_never_begun(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, other: str
):
    head_starts.post(7, target_of(coordinator), SCRIPT)
    await until(lambda: len(coordinator.asked) == 1)
    number = 8 if other == "command" else 7
    script = "DROP TABLE t" if other == "script" else SCRIPT
    target = target_of(coordinator, "svc-command-8-1" if other == "target" else "svc-command-7-1")

    assert await head_starts.begin(number, target, script, tmp_path) is None

    assert HeadStart.written(tmp_path) is None
    await asyncio.sleep(0.1)
    assert asked(coordinator) == [("POST", "/v1/statement")]


@pytest.mark.parametrize("trouble", ["breaks off", "refuses", "is gone"])
async def test_a_coordinator_that_does_not_take_it_is_left_to_the_worker(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, trouble: str
):
    coordinator.answers = [(400, {}, {}) if trouble == "refuses" else None]
    target = Target("http://127.0.0.1:9", "ann", "s") if trouble == "is gone" else target_of(coordinator)
    head_starts.post(7, target, SCRIPT)
    assert await head_starts.begin(7, target, SCRIPT, tmp_path) is None
    assert HeadStart.written(tmp_path) is None


@pytest.mark.parametrize("script", ["-- nothing", "SELECT '" + 5000 * "x" + "'"])
async def test_a_script_without_a_statement_or_a_long_one_has_no_head_start(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path, script: str
):
    head_starts.post(7, target_of(coordinator), script)
    assert await head_starts.begin(7, target_of(coordinator), script, tmp_path) is None
    assert coordinator.asked == []


async def test_what_is_never_asked_for_does_not_pile_up(
    head_starts: HeadStarts, coordinator: Coordinator, tmp_path: Path
):
    coordinator.answers = [*(65 * coordinator.answers[:1]), *coordinator.answers[1:]]
    for number in range(65):
        head_starts.post(number, target_of(coordinator), SCRIPT)
    await until(lambda: len(coordinator.asked) == 65)
    assert await head_starts.begin(0, target_of(coordinator), SCRIPT, tmp_path) is None
    assert await head_starts.begin(1, target_of(coordinator), SCRIPT, tmp_path) is not None
