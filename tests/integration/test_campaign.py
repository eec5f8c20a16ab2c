"""A campaign: whatever happens to two replicas, their database and their clocks, nothing is lost, doubled or wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg import sql
from tests.conftest import end_commands_of
from tests.support.outage_cluster import OutageCluster, outage_cluster
from tests.support.service_process import ServiceProcess, wait_until

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
PER_ROUND = 6
STEPS = ("+1800", "-1800", "+0")
"""Seconds by which the clocks of both replicas are off, one after the other."""


class Blow(Enum):
    """What happens in a round, while commands run and others are submitted."""

    KILL_ONE = "a replica is killed"
    KILL_BOTH = "both replicas are killed"
    RESTART_DATABASE = "PostgreSQL is restarted"
    STEP_CLOCK = "the clocks are set"
    RESTORE = "an older backup is restored"


ROUNDS = [Blow.KILL_ONE] * 6 + [Blow.KILL_BOTH] * 3 + [Blow.RESTART_DATABASE] * 4 + [Blow.STEP_CLOCK] * 4
ROUNDS += [Blow.RESTORE] * 3
assert len(ROUNDS) == 20


class ClockedService(ServiceProcess):
    """A service whose clock can be set while it runs, where libfaketime is there; its monotonic clock runs on."""

    def __init__(self, data_dir: Path, clock: Path, **settings: object) -> None:
        super().__init__(data_dir, **settings)
        self._clock = clock

    def environment(self) -> Mapping[str, str]:
        if FAKETIME is None:
            return super().environment()
        return {
            **super().environment(),
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }


@dataclass
class Campaign:
    """Two replicas, their database, and what was acknowledged: the word of each command by its id."""

    folder: Path
    cluster: OutageCluster
    replicas: tuple[ClockedService, ClockedService]
    clock: Path
    acknowledged: dict[int, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    """Words of the commands that were acknowledged after the backup that was restored."""

    def submit(self, count: int) -> None:
        """Submit commands, to whichever replica answers, until so many are acknowledged."""
        for _ in range(count):
            word = uuid4().hex
            script = f"echo {word} >>{self.folder}/ran-{word}; sleep 0.{random.randrange(5)}; echo {word}"
            body = {"command_type": "ShellCommand", "inline": script}
            answer = wait_until(lambda body=body, word=word: self._posted(body, word), "an acknowledgement", 60)
            self.acknowledged[answer] = word

    def _posted(self, body: Mapping[str, str], word: str) -> int | None:
        for replica in random.sample(self.replicas, 2):
            try:
                response = replica.http.post("/commands", json=body, headers={"Idempotency-Key": word})
            except (httpx.TransportError, RuntimeError):  # it was killed; its client may be closed by now
                continue
            if response.status_code == 200:
                return int(response.json()["id"])
            assert response.status_code == 503, response.text
        return None

    def strike(self, blow: Blow) -> None:
        first, second = random.sample(self.replicas, 2)
        if blow is Blow.KILL_ONE:
            first.kill()
            first.start()
        elif blow is Blow.KILL_BOTH:
            first.kill()
            second.kill()
            self.start_both()
        elif blow is Blow.RESTART_DATABASE:
            self.cluster.restart()
        elif blow is Blow.STEP_CLOCK:
            self.clock.write_text(random.choice(STEPS))
        else:
            self.restore()

    def start_both(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(ClockedService.start, self.replicas))

    def back_up(self) -> None:
        self._copy("svc", "backup")
        self._backed_up = dict(self.acknowledged)

    def restore(self) -> None:
        for replica in self.replicas:
            replica.kill()
        self._copy("backup", "svc")
        self.lost += [self.acknowledged[number] for number in self.acknowledged.keys() - self._backed_up]
        self.acknowledged = dict(self._backed_up)
        self.start_both()

    def _copy(self, source: str, target: str) -> None:
        names = {"source": sql.Identifier(source), "target": sql.Identifier(target)}
        with psycopg.connect(self.cluster.url_of("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {target} WITH (FORCE)").format(**names))
            kick = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(kick, [source])
            connection.execute(sql.SQL("CREATE DATABASE {target} TEMPLATE {source}").format(**names))

    def record(self, number: int) -> dict[str, Any] | None:
        """Return the record of a command that has ended, None while it has not."""
        response = self.replicas[0].http.get(f"/commands/{number}", params={"wait": 5})
        assert response.status_code == 200, response.text
        record = dict(response.json())
        return record if record["status"] in ("done", "error", "cancelled") else None

    def runs_of(self, word: str) -> list[str]:
        file = self.folder / f"ran-{word}"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    data_dir, clock = tmp_path / "data", tmp_path / "clock"
    clock.write_text("+0")
    with outage_cluster() as cluster:
        settings: dict[str, Any] = {"database_url": cluster.url, "lease_seconds": 1, "running_limit": 20}
        replicas = (ClockedService(data_dir, clock, **settings), ClockedService(data_dir, clock, **settings))
        campaign = Campaign(tmp_path, cluster, replicas, clock)
        try:
            campaign.start_both()
            yield campaign
        finally:
            for replica in replicas:
                replica.kill()
            end_commands_of(data_dir)


@pytest.mark.timeout(600)
def test_a_campaign_ends_with_nothing_lost_nothing_doubled_and_nothing_wrong(campaign: Campaign):
    random.seed(20)
    rounds = random.sample(ROUNDS, len(ROUNDS))
    campaign.submit(PER_ROUND)
    campaign.back_up()
    for blow in rounds:
        campaign.submit(PER_ROUND // 2)
        with ThreadPoolExecutor(1) as pool:
            # A restore forgets what is acknowledged meanwhile: nobody can tell before or after which moment it was.
            meanwhile = None if blow is Blow.RESTORE else pool.submit(campaign.submit, PER_ROUND // 2)
            campaign.strike(blow)
            if meanwhile is not None:
                meanwhile.result()
    campaign.clock.write_text("+0")
    assert len(campaign.acknowledged) > PER_ROUND
    assert len(campaign.lost) > PER_ROUND
    for number, word in campaign.acknowledged.items():
        record = wait_until(lambda number=number: campaign.record(number), f"the end of command {number}", 60)
        assert record["status"] == "done", record
        assert campaign.replicas[0].text(number).split() == [word], "the result is its own"
        assert campaign.runs_of(word) == [word]
    for word in campaign.lost:
        assert campaign.runs_of(word) in ([], [word]), "what the database has forgotten has not run twice"
