"""Several replicas on one PostgreSQL and one data folder: they share the work, and inherit from one that is gone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.conftest import end_commands_of
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess, wait_until

LEASE_SECONDS = 5
"""No replica that lives stands still for so long, also on a busy machine: the other one would take its commands."""


@dataclass
class Pair:
    """Two services on one database and one data folder."""

    first: ServiceProcess
    second: ServiceProcess
    connection: psycopg.Connection[dict[str, Any]]

    @property
    def both(self) -> tuple[ServiceProcess, ServiceProcess]:
        return self.first, self.second

    def rows(self, query: LiteralString, *values: Any) -> list[dict[str, Any]]:
        """Ask the database itself."""
        cursor = self.connection.execute(query, values)
        return cursor.fetchall() if cursor.description else []

    def submit_waiting(self, go: Path, count: int) -> list[int]:
        """Submit, in turn to each, scripts that wait for the file and append their id to another; return the ids."""
        script = f"echo begun >&2; until [ -e {go} ]; do sleep 0.3; done; echo $SVC_COMMAND_ID >>{go}.ran"
        return [int(self.both[number % 2].submit(script)["id"]) for number in range(count)]


@contextmanager
def started_pair(data_dir: Path, cluster: PostgresCluster) -> Iterator[Pair]:
    """Start two services at the same moment on an empty database."""
    with cluster.database() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        settings: dict[str, Any] = {"lease_seconds": LEASE_SECONDS, "running_limit": 50, "kill_grace_seconds": 0.5}
        data_dir.mkdir()
        made = [ServiceProcess(data_dir, database_url=url, **settings) for _ in range(2)]
        try:
            with ThreadPoolExecutor(2) as pool:
                first, second = pool.map(lambda service: service.start(), made)
            yield Pair(first, second, connection)
        finally:
            for service in made:
                service.kill()
            end_commands_of(data_dir)


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory, postgres_cluster: PostgresCluster) -> Iterator[Pair]:
    """Two services for the tests that end neither."""
    with started_pair(tmp_path_factory.mktemp("replicas") / "data", postgres_cluster) as pair:
        yield pair


@pytest.fixture
def go(tmp_path: Path) -> Iterator[Path]:
    """A file for which scripts wait; those of a test that failed end, too, and leave their slots to the next one."""
    go = tmp_path / "go"
    yield go
    go.touch()


def assert_each_ran_once(service: ServiceProcess, ids: list[int], go: Path) -> None:
    assert {service.ended(command_id)["status"] for command_id in ids} == {"done"}
    assert Counter(map(int, Path(f"{go}.ran").read_text().split())) == Counter(ids)


def test_they_share_the_work_within_one_limit(replicas: Pair, go: Path):
    ids = replicas.submit_waiting(go, 60)
    count = "SELECT replica_id, count(*) AS n FROM commands WHERE status = 'running' GROUP BY replica_id"
    wait_until(lambda: sum(row["n"] for row in replicas.rows(count)) == 50, "as many running commands as allowed", 60)
    running = [row["n"] for row in replicas.rows(count)]
    assert (sum(running), len(running)) == (50, 2)
    assert replicas.second.record(ids[-1])["throttled"]
    go.touch()
    assert_each_ran_once(replicas.first, ids, go)


def test_any_of_them_answers_for_all(replicas: Pair, go: Path):
    script = f"echo begun; echo begun >&2; until [ -e {go} ]; do sleep 0.02; done; echo end"
    command_id = replicas.first.submit(script)["id"]
    for service in replicas.both:
        wait_until(lambda service=service: service.logs(command_id) == "begun\n", "the log")
        assert service.record(command_id)["status"] == "running"
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(service.http.get, f"/commands/{command_id}?wait=60") for service in replicas.both]
        go.touch()
        assert [answer.result(30).json()["status"] for answer in waiting] == ["done", "done"]
    assert [service.text(command_id) for service in replicas.both] == ["begun\r\nend\r\n"] * 2


def test_any_of_them_cancels_for_all(replicas: Pair, go: Path):
    ids = replicas.submit_waiting(go, 4)
    wait_until(lambda: all(replicas.first.logs(command_id) for command_id in ids), "the begin of every script")
    for number, command_id in enumerate(ids):
        answer = replicas.both[number // 2].http.put(f"/commands/{command_id}", json={"status": "kill"})
        assert answer.json()["kill_succeeded"] is True
    assert not Path(f"{go}.ran").exists()


def test_a_replica_on_another_host_that_is_gone_has_lost_its_commands(replicas: Pair, go: Path):
    """The other host is a row of the database: a lease that nobody renews any more."""
    (command_id,) = replicas.submit_waiting(go, 1)
    wait_until(lambda: replicas.first.logs(command_id), "the begin of the script")
    replicas.rows(
        "INSERT INTO replicas (id, host, pid, boot_id, start_ticks, lease_until)"
        " VALUES ('gone', 'elsewhere', 1, '', 0, %s)",
        time.time() + LEASE_SECONDS,
    )
    replicas.rows("UPDATE commands SET replica_id = 'gone' WHERE id = %s", command_id)
    record = replicas.second.ended(command_id)
    assert record["status"] == "error"
    assert record["message"].startswith("lost: the host elsewhere that ran it no longer answers")
    assert replicas.rows("SELECT id FROM replicas WHERE id = 'gone'") == []
    go.touch()
    next_id = replicas.first.submit("echo unharmed")["id"]
    assert replicas.first.ended(next_id)["status"] == "done"
    assert replicas.first.record(command_id)["status"] == "error"


def test_a_request_repeated_at_two_replicas_creates_once(replicas: Pair):
    body = {"command_type": "ShellCommand", "inline": "true"}

    def post(number: int) -> tuple[int, Any]:
        response = replicas.both[number % 2].http.post(
            "/commands", json=body, headers={"Idempotency-Key": f"k{number // 6}"}
        )
        return response.status_code, response.json().get("id", response.text)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(post, range(60)))
    assert {status for status, _ in answers} == {200}, answers
    assert [len({answers[number][1] for number in range(start, start + 6)}) for start in range(0, 60, 6)] == [1] * 10
    assert len({command_id for _, command_id in answers}) == 10


def test_one_inherits_the_running_commands_of_the_other(tmp_path: Path, postgres_cluster: PostgresCluster, go: Path):
    with started_pair(tmp_path / "data", postgres_cluster) as pair:
        ids: list[int] = []
        while len(pair.rows("SELECT DISTINCT replica_id FROM commands WHERE status = 'running'")) < 2:
            new = pair.submit_waiting(go, 4)  # which of them claims a command is a race
            wait_until(lambda new=new: all(pair.second.logs(command_id) for command_id in new), "the begin of all")
            ids += new
            assert len(ids) < 48, "one replica claims everything"
        pair.first.kill()
        wait_until(lambda: len(pair.rows("SELECT DISTINCT replica_id FROM commands")) == 1, "the inheritance")
        assert len(pair.rows("SELECT id FROM replicas")) == 1
        go.touch()
        assert_each_ran_once(pair.second, ids, go)
