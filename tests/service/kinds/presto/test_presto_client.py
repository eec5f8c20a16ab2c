"""The statement protocol over real connections; the server stands in for a coordinator and answers as it was told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.support.ports import refusing_port
from tests.support.presto_coordinator import Answer, Coordinator, coordinator_at_work
from tests.support.service_process import wait_until

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import JOBS_FILE, Connection, EngineName
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.kinds.presto.client import CoordinatorLost, SessionState, StatementClient, Target
from svc_jupyter.service.kinds.presto.engine import PrestoSqlEngine
from svc_jupyter.sql_tokens import Dialect

[STATEMENT] = split("SELECT 1", Dialect.PRESTO)


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with coordinator_at_work() as coordinator:
        yield coordinator


@pytest.fixture
def client(coordinator: Coordinator) -> Iterator[StatementClient]:
    client = StatementClient(coordinator.url, SessionState("ann", "svc-command-1-1", catalog="hive"))
    yield client
    client.close()


def engine_of(coordinator: Coordinator, folder: Path) -> PrestoSqlEngine:
    target = Target(coordinator.url, "ann", "s").to_json()
    connection = Connection("p", "Presto", EngineName.PRESTO, Dialect.PRESTO, "here", target)
    return PrestoSqlEngine(connection, folder)


def test_a_statement_and_its_answers_go_over_one_connection(coordinator: Coordinator, client: StatementClient):
    coordinator.answers = [(200, {"id": "q"}, {"X-Presto-Set-Schema": "tiny"}), (200, {"data": [["ä"]]}, {})]
    assert client.post("SELECT 'ä'") == {"id": "q"}
    assert client.following(f"{coordinator.url}/v1/statement/q/1?slug=x") == {"data": [["ä"]]}
    (posted, first), (got, second) = ((asked[:3], asked[3]) for asked in coordinator.asked)
    assert posted == ("POST", "/v1/statement", "SELECT 'ä'")
    assert got == ("GET", "/v1/statement/q/1?slug=x", "")
    assert (first["X-Presto-User"], first["X-Presto-Catalog"], first["X-Presto-Schema"]) == ("ann", "hive", None)
    assert second["X-Presto-Schema"] == "tiny"
    assert len(coordinator.connections) == 1


def test_an_answer_that_did_not_come_is_asked_for_again(coordinator: Coordinator, client: StatementClient):
    coordinator.answers = [(200, {}, {}), None, (503, {}, {}), (200, {"id": "q"}, {})]
    client.post("SELECT 1")
    assert client.following(f"{coordinator.url}/next") == {"id": "q"}
    assert [asked[1] for asked in coordinator.asked] == ["/v1/statement", "/next", "/next", "/next"]


def test_a_statement_is_never_sent_twice(coordinator: Coordinator, client: StatementClient):
    coordinator.answers = [None]
    with pytest.raises(CoordinatorLost):
        client.post("INSERT INTO t VALUES 1")
    assert len(coordinator.asked) == 1


def test_a_connection_that_was_closed_meanwhile_fails_no_statement(coordinator: Coordinator, client: StatementClient):
    coordinator.answers = [(200, {}, {"Connection": "close"}), (200, {"id": "q"}, {})]
    client.post("SELECT 1")
    assert client.post("SELECT 2") == {"id": "q"}


@pytest.mark.parametrize(("status", "reason"), [(404, "started again"), (410, "started again"), (401, "answers 401")])
def test_a_query_that_is_not_known_any_more_is_reported(
    coordinator: Coordinator, client: StatementClient, status: int, reason: str
):
    coordinator.answers = [(200, {}, {}), (status, {}, {})]
    client.post("SELECT 1")
    with pytest.raises(CoordinatorLost, match=reason):
        client.following(f"{coordinator.url}/next")


def test_a_cancellation_goes_to_the_next_answers_address(coordinator: Coordinator, client: StatementClient):
    coordinator.answers = [(200, {}, {})]
    client.cancel(f"{coordinator.url}/v1/statement/q/2")
    assert coordinator.asked[0][:2] == ("DELETE", "/v1/statement/q/2")


def test_a_coordinator_that_is_gone_is_reported_to_who_cancels():
    with refusing_port() as port:
        url = f"http://127.0.0.1:{port}"
        client = StatementClient(url, SessionState("ann", "s"))
        with pytest.raises(CoordinatorLost):
            client.cancel(f"{url}/v1/statement/q/2")


def test_a_query_that_is_cancelled_is_shown_so_whatever_its_last_answer_calls_it(
    coordinator: Coordinator, tmp_path: Path
):
    coordinator.gate.clear()
    stats = {"state": "RUNNING", "scheduled": False}
    failed = {"id": "q", "stats": {**stats, "state": "FAILED"}, "error": {"message": "Query was canceled"}}
    coordinator.answers = [
        (200, {"id": "q", "stats": stats, "nextUri": f"{coordinator.url}/next"}, {}),
        (200, {}, {}),
        (200, failed, {}),
    ]
    engine = engine_of(coordinator, tmp_path)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.run, [STATEMENT], taker())
        wait_until(lambda: any(asked[0] == "GET" for asked in coordinator.asked), "the wait for an answer")
        engine.cancel()
        with pytest.raises(QueryFailure):
            running.result(20)
    [job] = json.loads((tmp_path / JOBS_FILE).read_text())
    assert (job["job_id"], job["status"]) == ("q", "CANCELED")


def taker(*, is_full: bool = False) -> Mock:
    """A sink that takes rows."""
    return Mock(is_full=is_full)


def answer(coordinator: Coordinator, state: str, number: int = 0, **more: Any) -> Answer:
    """An answer of a query; with a number it names the next one."""
    columns = [{"name": "one", "type": "integer"}]
    body = {"id": "q", "stats": {"state": state, "scheduled": False}, "columns": columns, **more}
    return (200, body | ({"nextUri": f"{coordinator.url}/{number}"} if number else {}), {})


def test_the_next_answer_is_on_its_way_while_rows_are_written(coordinator: Coordinator, tmp_path: Path):
    coordinator.answers = [answer(coordinator, "RUNNING", 1, data=[[1]]), answer(coordinator, "FINISHED")]
    sink = taker()
    sink.write.side_effect = lambda _batch: wait_until(lambda: len(coordinator.asked) == 2, "the next call")
    engine_of(coordinator, tmp_path).run([STATEMENT], sink)
    assert sink.write.called
    assert not coordinator.answers


def test_a_read_query_that_is_finished_is_not_asked_for_the_count_of_its_work(coordinator: Coordinator, tmp_path: Path):
    coordinator.answers = [
        answer(coordinator, "RUNNING", 1),
        answer(coordinator, "FINISHED", 2),
        answer(coordinator, "FINISHED", 3, data=[[1]]),
        answer(coordinator, "FINISHED", 4, data=[[2]]),
        answer(coordinator, "FINISHED", 5),
        answer(coordinator, "FINISHED"),
    ]
    sink = taker()
    engine_of(coordinator, tmp_path).run([STATEMENT], sink)
    assert sum(call.args[0].num_rows for call in sink.write.call_args_list) == 2
    assert [asked[1] for asked in coordinator.asked[1:]] == ["/1", "/2", "/3", "/4"]


def test_a_query_is_ended_once_there_are_enough_rows(coordinator: Coordinator, tmp_path: Path):
    coordinator.answers = [answer(coordinator, "RUNNING", 1, data=[[1]]), (200, {}, {}), (200, {}, {})]
    sink = taker(is_full=True)
    engine_of(coordinator, tmp_path).run([STATEMENT], sink)
    assert sink.done.called
    assert [asked[:2] for asked in coordinator.asked if asked[0] == "DELETE"] == [("DELETE", "/1")]
    [job] = json.loads((tmp_path / JOBS_FILE).read_text())
    assert job["status"] == "CANCELED"


def test_a_statement_that_changes_something_is_followed_to_its_last_answer(coordinator: Coordinator, tmp_path: Path):
    coordinator.answers = [
        answer(coordinator, "FINISHED", 1, updateType="INSERT"),
        answer(coordinator, "FINISHED", 2, updateType="INSERT"),
        answer(coordinator, "FINISHED", updateType="INSERT", updateCount=3),
    ]
    sink = taker()
    engine_of(coordinator, tmp_path).run(split("INSERT INTO t VALUES 1", Dialect.PRESTO), sink)
    sink.done.assert_called_once_with(3)
