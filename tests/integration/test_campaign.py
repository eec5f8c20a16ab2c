"""Twenty times something happens to services under load; in the end nothing is lost, nothing doubled, nothing wrong.

Real: the services, their databases, kill -9 of either, the backup and its restore as documented, the client, its
threads and their retries. The wall clock is set in the services' processes alone (tests/support/stepped_clock.py says
what that does not reach). All commands are of this host: one that is lost with its host is in test_replicas.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.campaign.backups import Backup, PostgresBackup, SqliteBackup
from tests.support.campaign.campaign import Campaign, Replica, campaign
from tests.support.outage_cluster import OutageCluster, outage_cluster
from tests.support.service_process import wait_until
from tests.support.stepped_clock import SteppedClock

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(1200)]

SEED = int(os.environ.get("CAMPAIGN_SEED", "16"))
Happening = Callable[[Campaign], None]


def is_killed(run: Campaign) -> None:
    replica = run.chance.choice(run.replicas)
    replica.kill()
    run.pause()
    replica.start()


def are_all_killed(run: Campaign) -> None:
    for replica in run.replicas:
        replica.kill()
    for replica in run.replicas:
        replica.start()


def is_stopped(run: Campaign) -> None:
    replica = run.chance.choice(run.replicas)
    assert replica.stop() == 0
    replica.start()


def has_its_clock_stepped(seconds: int, then: Happening) -> Happening:
    """Set the clock of one of them, and let the other thing happen while commands of both times run."""

    def happens(run: Campaign) -> None:
        run.begin_one_of_each(4)
        run.chance.choice(run.replicas).step(seconds)
        then(run)

    happens.__name__ = f"has_its_clock_stepped by {seconds} s and {then.__name__}"
    return happens


def gets_its_database_back(run: Campaign, back_up: Callable[[Path], Backup]) -> None:
    """The folders stay as they are: newer than the database, and with commands in them that it does not know."""
    before = {submission.token for submission in run.load.ledger.known()}
    backup = back_up(run.folder / "backup")
    run.go_on()
    with run.load.gate.closed():
        run.begin_one_of_each(1)  # they run while their database is rolled back
        run.restore(backup)
        assert before - {submission.token for submission in run.load.ledger.known()} == set()


def gets_everything_back(run: Campaign) -> None:
    (service,) = run.replicas
    with run.load.gate.closed():
        wait_until(lambda: not run.unfinished(), "the end of what runs")
        backup = SqliteBackup(service.data_dir, run.folder / "everything", is_whole=True)
    run.go_on()
    with run.load.gate.closed():
        run.restore(backup)


def test_a_service_on_sqlite(tmp_path: Path):
    def gets_its_file_back(run: Campaign) -> None:
        gets_its_database_back(run, lambda folder: SqliteBackup(tmp_path / "data", folder, is_whole=False))

    happenings = [
        *[is_killed, is_stopped] * 3,
        has_its_clock_stepped(20, is_killed),
        has_its_clock_stepped(-5, is_stopped),
        gets_its_file_back,
        gets_everything_back,
    ]
    with campaign(lambda clock: Replica(tmp_path / "data", clock), tmp_path, replicas=1, seed=SEED) as run:
        assert_nothing_is_wrong_after(happenings, run)


@pytest.fixture
def cluster() -> Iterator[OutageCluster]:
    with outage_cluster(keeps_commits=True) as made:
        yield made


def test_two_replicas_on_postgresql(tmp_path: Path, cluster: OutageCluster):
    def loses_its_database(run: Campaign) -> None:
        cluster.kill()
        run.pause()
        cluster.start()

    def loses_its_database_while_it_is_killed(run: Campaign) -> None:
        replica = run.chance.choice(run.replicas)
        cluster.kill()
        replica.kill()
        cluster.start()
        replica.start()

    def has_its_database_restarted(_run: Campaign) -> None:
        cluster.restart()

    def gets_its_dump_back(run: Campaign) -> None:
        gets_its_database_back(run, lambda file: PostgresBackup(cluster, file))

    happenings = [
        *[is_killed, loses_its_database] * 2,
        are_all_killed,
        gets_its_dump_back,
        loses_its_database_while_it_is_killed,
        has_its_database_restarted,
        has_its_clock_stepped(20, is_killed),
        has_its_clock_stepped(-5, is_stopped),
    ]

    def replica(clock: SteppedClock) -> Replica:
        return Replica(tmp_path / "data", clock, database_url=cluster.url, lease_seconds=4)

    with campaign(replica, tmp_path, replicas=2, seed=SEED) as run:
        assert_nothing_is_wrong_after(happenings, run)


def assert_nothing_is_wrong_after(happenings: list[Happening], run: Campaign) -> None:
    run.chance.shuffle(happenings)
    for number, happening in enumerate(happenings, 1):
        run.go_on()
        so_far = f"after {run.load.acknowledged} commands and {len(run.load.ledger.wrong)} faults"
        sys.stdout.write(f"seed {SEED}, round {number}, {so_far}: {happening.__name__}\n")
        happening(run)
    run.go_on()
    faults = run.faults()
    assert not faults, "\n".join(faults)
    for replica in run.replicas:
        assert replica.stop() == 0
