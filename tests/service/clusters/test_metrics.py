"""Samples over time in a file of fixed size."""

from itertools import pairwise
from pathlib import Path

import pytest

from svc_jupyter.service.clusters.health import INTERVALS, METRICS, STEP_SECONDS, MetricHistory

NOON = 1_790_000_040.0  # a full minute


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "instance" / "metrics"


def _times(history: MetricHistory, since: float = 0.0, name: str = "cpu_usage") -> list[float]:
    return [moment for moment, _ in history.read([name], since=since)[name]]


def test_nothing_was_kept_yet(file):
    assert MetricHistory(file).read(["cpu_usage"], since=0) == {"cpu_usage": ()}


def test_samples_come_back_oldest_first(file):
    history = MetricHistory(file)
    for step in range(3):
        history.add(NOON + step * STEP_SECONDS, {"cpu_usage": float(step)})
    found = MetricHistory(file).read(["cpu_usage"], since=NOON)
    assert found == {"cpu_usage": ((NOON + 5, 1.0), (NOON + 10, 2.0))}


def test_a_metric_without_a_reading_has_no_sample(file):
    history = MetricHistory(file)
    history.add(NOON, {"cpu_usage": 1.0})
    history.add(NOON + STEP_SECONDS, {"disk_usage": 2.0})
    found = history.read(["cpu_usage", "disk_usage"], since=0)
    assert found == {"cpu_usage": ((NOON, 1.0),), "disk_usage": ((NOON + 5, 2.0),)}


def test_the_file_does_not_grow_and_keeps_a_fine_hour_and_a_coarse_day(file):
    history = MetricHistory(file)
    history.add(NOON, {})
    size = file.stat().st_size
    end = NOON + 2 * INTERVALS["hour"]
    for step in range(2 * INTERVALS["hour"] // STEP_SECONDS):
        history.add(NOON + (step + 1) * STEP_SECONDS, {"cpu_usage": float(step)})
    assert file.stat().st_size == size
    hour, day = _times(history, end - INTERVALS["hour"]), _times(history, end - INTERVALS["day"])
    assert len(hour) == INTERVALS["hour"] // STEP_SECONDS
    assert {later - earlier for earlier, later in pairwise(hour)} == {STEP_SECONDS}
    older = [moment for moment in day if moment <= hour[0]]
    assert len(older) in {60, 61}
    assert {later - earlier for earlier, later in pairwise(older[:-1])} == {60}


def test_a_file_of_another_version_is_begun_anew(tmp_path):
    def times(content):
        file = tmp_path / "metrics"
        file.write_bytes(content)
        history = MetricHistory(file)
        before = _times(history)
        history.add(NOON, {"cpu_usage": 1.0})
        return before, _times(history)

    contents = (b"", b"another version's", b"[]".ljust(300_000))
    assert [times(content) for content in contents] == [([], [NOON])] * 3


def test_every_metric_is_kept(file):
    history = MetricHistory(file)
    history.add(NOON, {name: float(number) for number, name in enumerate(METRICS)})
    found = history.read(list(METRICS), since=0)
    assert found == {name: ((NOON, float(number)),) for number, name in enumerate(METRICS)}
