from __future__ import annotations

from svc_jupyter.service.installs.progress import LINES_EVERY, DownloadProgress


def test_a_line_comes_first_last_and_not_more_often_than_now_and_then():
    now = 100.0
    said: list[str] = []
    progress = DownloadProgress("pig", 50_000_000, said.append, clock=lambda: now)
    for _ in range(50):
        progress.add(1_000_000)
        now += LINES_EVERY / 10
    assert said[0] == "installing pig (1.0 of 50.0 MB)"
    assert said[-1] == "installing pig (50.0 of 50.0 MB)"
    assert 5 <= len(said) <= 7


def test_bytes_that_are_downloaded_again_are_counted_once():
    said: list[str] = []
    progress = DownloadProgress("pig", 10_000_000, said.append, clock=lambda: 0.0)
    progress.add(4_000_000)
    progress.add(-4_000_000)
    progress.add(10_000_000)
    assert said[-1] == "installing pig (10.0 of 10.0 MB)"
