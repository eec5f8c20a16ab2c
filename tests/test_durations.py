"""Durations as text; jest checks the functions of the JupyterLab extension against the same examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svc_jupyter.durations import duration, elapsed, span

EXAMPLES = json.loads((Path(__file__).parents[1] / "labextension" / "src" / "durations.json").read_text())


@pytest.mark.parametrize(("seconds", "text"), EXAMPLES["span"].items())
def test_a_span(seconds: str, text: str):
    assert span(float(seconds)) == text


@pytest.mark.parametrize(("seconds", "text"), EXAMPLES["elapsed"].items())
def test_a_time_between_moments_that_are_known_to_the_second(seconds: str, text: str):
    assert elapsed(int(seconds)) == text


@pytest.mark.parametrize(("seconds", "text"), EXAMPLES["duration"].items())
def test_a_duration(seconds: str, text: str):
    assert duration(float(seconds)) == text
