from __future__ import annotations

from svc_jupyter.service.clusters.providers.local_machine import percent_used


def test_use_is_the_share_of_all_processors():
    uses = [
        ({1: 2.0}, {1: 3.0}, 5.0),  # one second of two processors over ten seconds
        ({1: 2.0}, {1: 2.0}, 0.0),
        ({}, {1: 20.0}, 100.0),
        ({1: 9.0}, {2: 1.0}, 5.0),  # one went, another came
        ({1: 9.0}, {}, 0.0),
        ({1: 9.0}, {1: 1.0}, 0.0),  # its number belongs to another process now
    ]
    assert [(before, now, percent_used(before, now, 10.0, 2)) for before, now, _ in uses] == uses
