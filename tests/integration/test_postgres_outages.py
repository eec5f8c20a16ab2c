"""PostgreSQL goes away and comes back: the service says so, recovers by itself, and loses nothing."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from tests.support.outage_cluster import OutageCluster, outage_cluster
from tests.support.service_process import DATABASE_IS_AWAY, ServiceProcess, wait_until

pytestmark = pytest.mark.campaign
NewService = Callable[..., ServiceProcess]


@pytest.fixture(scope="module")
def cluster() -> Iterator[OutageCluster]:
    with outage_cluster() as made:
        yield made


@pytest.fixture
def service(new_service: NewService, cluster: OutageCluster) -> ServiceProcess:
    cluster.start()
    return new_service(database_url=cluster.url, lease_seconds=1, running_limit=20).start()


def test_calls_are_reported_to_come_back_and_the_service_recovers_by_itself(
    service: ServiceProcess, cluster: OutageCluster, tmp_path: Path
):
    go = tmp_path / "go"
    command_id = service.submit(f"echo begun >&2; until [ -e {go} ]; do sleep 0.02; done; echo end")["id"]
    wait_until(lambda: service.logs(command_id), "the begin of the script")
    folder = service.folder(command_id)
    cluster.stop()
    body = {"command_type": "ShellCommand", "inline": "true"}
    with service.client("unknown token") as stranger:
        told_of_stranger = stranger.get("/commands")
    for response in (
        told_of_stranger,
        service.http.get("/commands"),
        service.http.get("/commands/999"),
        service.http.post("/commands", json=body),
        service.http.post("/commands", json=body, headers={"Idempotency-Key": "k"}),
        service.http.get("/users"),
        service.http.post("/users/1/tokens", json={"name": "t"}, headers={"Idempotency-Key": "t"}),
    ):
        assert response.status_code == 503, response.text
        assert response.headers["Retry-After"] == "2"
        assert response.json()["error"]["error_code"] == 503
    go.touch()  # the command ends while nobody can write it down
    wait_until((folder / "1" / "rc").exists, "the end of the script")
    cluster.start()
    wait_until(lambda: service.http.get("/commands").status_code == 200, "the recovery")
    assert service.ended(command_id)["status"] == "done"
    assert service.text(command_id) == "end\r\n"
    again = service.submit("echo again")["id"]
    assert service.ended(again)["status"] == "done"
    assert service.exceptions(but=DATABASE_IS_AWAY) == []


def test_every_accepted_command_ends_exactly_once_when_it_restarts_under_load(
    service: ServiceProcess, new_service: NewService, cluster: OutageCluster, tmp_path: Path
):
    other = new_service(database_url=cluster.url, lease_seconds=1, running_limit=20).start()
    ran, enough = tmp_path / "ran", threading.Event()
    accepted: list[int] = []
    before = int(service.submit("true")["id"])

    def submit_all(replica: ServiceProcess) -> None:
        body = {"command_type": "ShellCommand", "inline": f"echo $SVC_COMMAND_ID >>{ran}"}
        with replica.client(replica.token) as http:
            while not enough.is_set():
                response = http.post("/commands", json=body)
                if response.status_code == 200:
                    accepted.append(int(response.json()["id"]))
                else:
                    assert response.status_code == 503, response.text
                    enough.wait(0.05)

    threads = [threading.Thread(target=submit_all, args=(replica,)) for replica in (service, other)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        reached = len(accepted) + 40
        wait_until(lambda reached=reached: len(accepted) >= reached, "the load")
        cluster.restart()
    reached = len(accepted) + 40
    wait_until(lambda: len(accepted) >= reached, "the load after the last restart")
    enough.set()
    for thread in threads:
        thread.join(30)
    with psycopg.connect(cluster.url, autocommit=True) as connection:

        def unfinished() -> int:
            query = "SELECT count(*) FROM commands WHERE status IN ('waiting', 'running')"
            row = connection.execute(query).fetchone()
            assert row is not None
            return int(row[0])

        wait_until(lambda: unfinished() == 0, "the end of every command", 40)
        ended = dict(connection.execute("SELECT id, status FROM commands WHERE id > %s", [before]).fetchall())
    assert len(accepted) == len(set(accepted)) >= 160
    assert {ended[command_id] for command_id in accepted} == {"done"}
    # Also one whose acceptance was lost with its connection is there and ran once.
    assert Counter(map(int, ran.read_text().split())) == Counter(list(ended))


def test_a_service_that_starts_while_it_is_away_says_so(new_service: NewService, cluster: OutageCluster):
    cluster.stop()
    with pytest.raises(AssertionError, match=r"(?s)exit code 1: .*the database cannot be used"):
        new_service(database_url=cluster.url).start()
    cluster.start()
    base_url = new_service(database_url=cluster.url).start().base_url
    assert httpx.get(f"{base_url}/api/openapi.json", timeout=60).status_code == 200
