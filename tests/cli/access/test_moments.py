from __future__ import annotations

from datetime import UTC, datetime

import pytest

from svc_jupyter.cli.access.moments import before_now, from_now

NOW = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)


MOMENTS = {
    "90s": ("2026-11-21T12:01:30Z", "2026-11-21T11:58:30Z"),
    "30 m": ("2026-11-21T12:30:00Z", "2026-11-21T11:30:00Z"),
    "24h": ("2026-11-22T12:00:00Z", "2026-11-20T12:00:00Z"),
    "10d": ("2026-12-01T12:00:00Z", "2026-11-11T12:00:00Z"),
    "2w": ("2026-12-05T12:00:00Z", "2026-11-07T12:00:00Z"),
    " 2031-05-31": ("2031-05-31", "2031-05-31"),
    "2031-05-31T18:00:00+02:00": ("2031-05-31T18:00:00+02:00", "2031-05-31T18:00:00+02:00"),
}


def test_a_moment_is_a_span_or_a_time():
    assert {text: (from_now(text, NOW), before_now(text, NOW)) for text in MOMENTS} == MOMENTS


def refusal(text: str) -> str:
    with pytest.raises(ValueError, match="moment") as refused:
        from_now(text, NOW)
    return str(refused.value)


def test_an_invalid_moment_is_refused_with_examples():
    refusals = [refusal(text) for text in ("", "soon", "5", "5y", "-3d", "2031-13-01", "1.5h")]
    assert [words for words in refusals if "is not a moment: write 2031-05-31" not in words] == []


def test_a_span_out_of_the_calendar_is_reported():
    with pytest.raises(ValueError, match="'999999w' leads out of the calendar"):
        before_now("999999w", NOW)
