"""Several replicas on one PostgreSQL and one data folder: they share the work, and inherit from one that is gone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.support.service_process import ServiceProcess, wait_until

NewService = Callable[..., ServiceProcess]
LEASE_SECONDS = 1


@pytest.fixture
def replicas(new_service: NewService, empty_postgres_url: str) -> tuple[ServiceProcess, ServiceProcess]:
    """Two services that started at the same moment on an empty database."""
    settings: dict[str, Any] = {
        "database_url": empty_postgres_url,
        "lease_seconds": LEASE_SECONDS,
        "running_limit": 50,
        "kill_grace_seconds": 0.5,
    }
    made = [new_service(**settings) for _ in range(2)]
    made[0].data_dir.mkdir(parents=True)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda service: service.start(), made)
    return first, second


@pytest.fixture
def rows(empty_postgres_url: str) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Asks the database itself."""
    with psycopg.connect(empty_postgres_url, autocommit=True, row_factory=dict_row) as connection:

        def rows(query: str, *values: Any) -> list[dict[str, Any]]:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

        yield rows


@pytest.fixture
def go(tmp_path: Path) -> Path:
    return tmp_path / "go"


def submit_waiting(services: tuple[ServiceProcess, ...], go: Path, count: int) -> list[int]:
    """Submit scripts in turn that wait for the file and append their id to another; return the ids."""
    script = f"echo begun >&2; until [ -e {go} ]; do sleep 0.05; done; echo $SVC_COMMAND_ID >>{go}.ran"
    return [int(services[number % len(services)].submit(script)["id"]) for number in range(count)]


def assert_each_ran_once(service: ServiceProcess, ids: list[int], go: Path) -> None:
    assert {service.ended(command_id)["status"] for command_id in ids} == {"done"}
    assert Counter(map(int, Path(f"{go}.ran").read_text().split())) == Counter(ids)


def test_they_share_the_work_within_one_limit(replicas, rows, go: Path):
    ids = submit_waiting(replicas, go, 60)
    count = "SELECT replica_id, count(*) AS n FROM commands WHERE status = 'running' GROUP BY replica_id"
    wait_until(lambda: sum(row["n"] for row in rows(count)) == 50, "as many running commands as allowed")
    running = [row["n"] for row in rows(count)]
    assert (sum(running), len(running)) == (50, 2)
    assert replicas[1].record(ids[-1])["throttled"]
    go.touch()
    assert_each_ran_once(replicas[0], ids, go)


def test_one_inherits_the_running_commands_of_the_other(replicas, rows, go: Path):
    killed, heir = replicas
    ids = submit_waiting(replicas, go, 12)
    wait_until(lambda: all(heir.logs(command_id) for command_id in ids), "the begin of every script")
    owners = "SELECT DISTINCT replica_id FROM commands"
    assert len(rows(owners)) == 2
    killed.kill()
    wait_until(lambda: len(rows(owners)) == 1, "the inheritance")
    assert len(rows("SELECT id FROM replicas")) == 1
    go.touch()
    assert_each_ran_once(heir, ids, go)


def test_any_of_them_answers_for_all(replicas, rows, go: Path):
    script = f"echo begun; echo begun >&2; until [ -e {go} ]; do sleep 0.02; done; echo end"
    command_id = replicas[0].submit(script)["id"]
    for service in replicas:
        wait_until(lambda service=service: service.logs(command_id) == "begun\n", "the log")
        assert service.record(command_id)["status"] == "running"
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(service.http.get, f"/commands/{command_id}?wait=60") for service in replicas]
        go.touch()
        assert [answer.result(30).json()["status"] for answer in waiting] == ["done", "done"]
    assert [service.text(command_id) for service in replicas] == ["begun\r\nend\r\n"] * 2


def test_any_of_them_cancels_for_all(replicas, go: Path):
    ids = submit_waiting(replicas, go, 4)
    wait_until(lambda: all(replicas[0].logs(command_id) for command_id in ids), "the begin of every script")
    for number, command_id in enumerate(ids):
        answer = replicas[number // 2].http.put(f"/commands/{command_id}", json={"status": "kill"})
        assert answer.json()["kill_succeeded"] is True
    assert not Path(f"{go}.ran").exists()


def test_a_replica_on_another_host_that_is_gone_has_lost_its_commands(replicas, rows, go: Path):
    """The other host is a row of the database: a lease that nobody renews any more."""
    (command_id,) = submit_waiting(replicas, go, 1)
    wait_until(lambda: replicas[0].logs(command_id), "the begin of the script")
    rows(
        "INSERT INTO replicas (id, host, pid, process_started, lease_until) VALUES ('gone', 'elsewhere', 1, 1, %s)",
        time.time() + LEASE_SECONDS,
    )
    rows("UPDATE commands SET replica_id = 'gone' WHERE id = %s", command_id)
    record = replicas[1].ended(command_id)
    assert record["status"] == "error"
    assert record["message"].startswith("lost: the host elsewhere that ran it no longer answers")
    assert rows("SELECT id FROM replicas WHERE id = 'gone'") == []
    go.touch()
    next_id = replicas[0].submit("echo unharmed")["id"]
    assert replicas[0].ended(next_id)["status"] == "done"
    assert replicas[0].record(command_id)["status"] == "error"


def test_a_request_repeated_at_two_replicas_creates_once(replicas):
    body = {"command_type": "ShellCommand", "inline": "true"}

    def post(number: int) -> tuple[int, Any]:
        response = replicas[number % 2].http.post(
            "/commands", json=body, headers={"Idempotency-Key": f"k{number // 6}"}
        )
        return response.status_code, response.json().get("id", response.text)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(post, range(60)))
    assert {status for status, _ in answers} == {200}, answers
    assert [len({answers[number][1] for number in range(start, start + 6)}) for start in range(0, 60, 6)] == [1] * 10
    assert len({command_id for _, command_id in answers}) == 10
