"""Maps that do not grow for as long as the service runs."""

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from svc_jupyter.service.clusters.providers import hosts_machine
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.http import rate_limit
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers


def test_the_oldest_is_forgotten_and_what_is_reported_again_is_the_newest():
    known: dict[str, int] = {}
    forgotten: list[int] = []
    for number, key in enumerate("abcad"):
        remember(known, key, number, most=3, on_forgotten=forgotten.append)
    assert list(known.items()) == [("c", 2), ("a", 3), ("d", 4)]
    assert forgotten == [1]


def test_requests_are_counted_of_the_latest_users_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limit, "_MOST_USERS", 3)
    limit = RateLimit(1.0, clock=lambda: 0.0)
    for user in range(10):
        limit.count(user)
    assert list(limit._buckets) == [7, 8, 9]


def test_digests_of_files_that_changed_are_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(hosts_machine, "_MOST_DIGESTS", 2)
    sets = hosts_machine.FileSets()
    names = set()
    for length in range(1, 6):
        (tmp_path / "jar").write_bytes(b"x" * length)
        names.add(sets.of("engine", [tmp_path / "jar"]).folder)
    assert len(names) == 5
    assert len(sets._digests) == 2


def test_the_lock_of_a_session_server_lasts_for_as_long_as_somebody_has_it():
    nothing: Any = None
    servers = SessionServers(nothing, {}, nothing, nothing, nothing)
    instance: Any = SimpleNamespace(id=7)
    held = servers._lock(instance)
    assert servers._lock(instance) is held
    del held
    gc.collect()
    assert len(servers._locks) == 0
