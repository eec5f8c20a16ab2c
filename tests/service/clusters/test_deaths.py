from __future__ import annotations

from itertools import pairwise

from svc_jupyter.service.clusters.supervision import Deaths


def restarts_within(seconds: int) -> list[int]:
    """Return when a daemon that dies at once each time is started again; looked at every second."""
    deaths, moments = Deaths(), []
    for now in range(seconds):
        if deaths.may_restart(float(now)):
            deaths.note(float(now))
            moments.append(now)
    return moments


def test_a_daemon_starts_again_at_once_and_then_later_and_later():
    assert restarts_within(70) == [0, 1, 3, 7, 15, 31, 61]


def test_the_longest_wait_is_half_a_minute():
    moments = restarts_within(600)
    assert max(later - earlier for earlier, later in pairwise(moments)) == 30


def test_five_deaths_within_two_minutes_are_reported():
    deaths = Deaths()
    for now in range(0, 50, 10):
        assert not deaths.is_troubled(now)
        deaths.note(now)
    assert deaths.is_troubled(60)
    assert not deaths.is_troubled(121)


def test_a_daemon_that_lived_long_is_started_at_once_again():
    deaths = Deaths()
    for now in range(5):
        deaths.note(float(now))
    assert not deaths.may_restart(10.0)
    assert deaths.may_restart(200.0)
