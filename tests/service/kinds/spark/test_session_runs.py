"""A statement whose session server dies: what has not started is sent to the next server, what may have is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.kinds.spark import session_runs
from svc_jupyter.service.kinds.spark.session_runs import SessionRuns
from svc_jupyter.service.runtimes.spark.driver.files import claim
from svc_jupyter.service.runtimes.spark.driver.statement import STARTED_FILE, SUMMARY_FILE, Language, Statement
from svc_jupyter.service.runtimes.spark.driver.wire import challenge, line
from svc_jupyter.service.runtimes.spark.session_servers import SessionServerAddress, SessionServers

WAITING = {"state": "waiting", "version": 0, "percent": 0, "rows": None}
Answer = dict[str, Any] | None


class Server:
    """Stands in for one session server after the other: answers in turn, and dies where the answer is None."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[Answer | Callable[[], Answer]] = []
        self.asked: list[str] = []
        self.starts = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(line({"challenge": challenge()}))
        while asked := await reader.readline():
            self.asked.append(json.loads(asked)["call"])
            answer = self.answers.pop(0)
            told = answer() if callable(answer) else answer
            if told is None:
                break
            writer.write(line(told))
        writer.close()

    def ends(self) -> Answer:
        """The program succeeds."""
        (self.folder / SUMMARY_FILE).write_text('{"rows": null, "message": "it ran"}')
        return {**WAITING, "state": "ended"}

    def starts_the_program(self) -> Answer:
        (self.folder / STARTED_FILE).touch()
        return WAITING

    def dies_with_the_program(self) -> Answer:
        (self.folder / STARTED_FILE).touch()
        return None

    # As the keeper of the cluster's servers

    async def ensure(self, *_: object) -> None:
        await asyncio.sleep(0)
        self.starts += 1

    async def is_current(self, _instance: object) -> bool:
        await asyncio.sleep(0)
        return True

    def address(self, _instance: object) -> SessionServerAddress:
        return SessionServerAddress("127.0.0.1", self.port, "secret")

    async def up_instance(self, _cluster_id: int) -> object:
        await asyncio.sleep(0)
        return object()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = Task(1, 1, 1, 1, {}, tmp_path, cluster_id=3)
    task.folder.mkdir()
    return task


@pytest.fixture
async def server(task: Task) -> AsyncIterator[Server]:
    server = Server(task.folder)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listening:
        server.port = listening.sockets[0].getsockname()[1]
        yield server


@pytest.fixture
def run(server: Server, task: Task, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Awaitable[Any]]:
    """Runs the task's statement."""
    monkeypatch.setattr(session_runs, "_AGAIN_SECONDS", 0.01)
    statement = Statement("1-1", Language.SQL, "SELECT 1", str(task.folder), str(task.log_file), "/")
    runs = SessionRuns(cast("SessionServers", server), cast("Clusters", server))
    return lambda: runs.run(task, Mock(), statement, None)


async def test_a_statement_that_waited_when_its_server_died_is_begun_by_the_next_one(
    server: Server, run: Callable[[], Awaitable[Any]]
):
    server.answers = [WAITING, None, {"state": "unknown"}, server.ends]
    outcome = await run()
    assert (outcome.succeeded, outcome.message) == (True, "it ran")
    assert server.asked == ["run", "wait", "wait", "run"]
    assert server.starts == 1


async def test_a_statement_that_had_started_is_lost_with_its_server(server: Server, run: Callable[[], Awaitable[Any]]):
    server.answers = [server.starts_the_program, None, {"state": "unknown"}]
    outcome = await run()
    assert not outcome.succeeded
    assert "ended while the program ran" in outcome.message
    assert server.asked.count("run") == 1


async def test_a_statement_is_not_sent_twice_when_its_start_was_never_answered(
    server: Server, run: Callable[[], Awaitable[Any]]
):
    server.answers = [server.dies_with_the_program, {"state": "unknown"}]
    assert not (await run()).succeeded
    assert server.asked == ["run", "wait"]


async def test_one_that_ends_every_server_before_it_begins_is_reported(
    server: Server, run: Callable[[], Awaitable[Any]]
):
    server.answers = [WAITING, None, {"state": "unknown"}] * 3
    outcome = await run()
    assert "ended 3 times before the program began" in outcome.message
    assert not server.answers


async def test_one_whose_end_is_known_and_whose_outcome_is_not_has_failed(
    server: Server, run: Callable[[], Awaitable[Any]]
):
    server.answers = [{**WAITING, "state": "ended"}]
    outcome = await run()
    assert not outcome.succeeded
    assert outcome.message.startswith("the program ended, and its session did not say how")


async def test_a_service_that_comes_back_has_a_statement_begun_that_had_not_started(
    server: Server, task: Task, run: Callable[[], Awaitable[Any]]
):
    (task.folder / session_runs.BEGUN_FILE).write_text("1-1\n")
    server.answers = [{"state": "unknown"}, server.ends]
    assert (await run()).succeeded
    assert server.asked == ["wait", "run"]


def test_a_start_is_claimed_once(tmp_path: Path):
    assert claim(tmp_path / STARTED_FILE)
    assert not claim(tmp_path / STARTED_FILE)
