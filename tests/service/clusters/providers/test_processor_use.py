from __future__ import annotations

import pytest

from svc_jupyter.service.clusters.providers.local_machine import percent_used


@pytest.mark.parametrize(
    ("before", "now", "percent"),
    [
        ({1: 2.0}, {1: 3.0}, 5.0),  # one second of two processors over ten seconds
        ({1: 2.0}, {1: 2.0}, 0.0),
        ({}, {1: 20.0}, 100.0),
        ({1: 9.0}, {2: 1.0}, 5.0),  # one went, another came
        ({1: 9.0}, {}, 0.0),
        ({1: 9.0}, {1: 1.0}, 0.0),  # its number belongs to another process now
    ],
)
def test_use_is_the_share_of_all_processors(before: dict[int, float], now: dict[int, float], percent: float):
    assert percent_used(before, now, 10.0, 2) == percent
