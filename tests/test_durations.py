"""Durations as text; jest checks the functions of the JupyterLab extension against the same examples."""

from __future__ import annotations

import json
from pathlib import Path

from svc_jupyter.durations import duration, elapsed, span

EXAMPLES = json.loads((Path(__file__).parents[1] / "labextension" / "src" / "durations.json").read_text())


def test_spans_are_those_of_the_examples():
    assert {seconds: span(float(seconds)) for seconds in EXAMPLES["span"]} == EXAMPLES["span"]


def test_times_between_two_moments_are_those_of_the_examples():
    assert {seconds: elapsed(float(seconds)) for seconds in EXAMPLES["elapsed"]} == EXAMPLES["elapsed"]


def test_durations_are_those_of_the_examples():
    assert {seconds: duration(float(seconds)) for seconds in EXAMPLES["duration"]} == EXAMPLES["duration"]
