"""Rows that are read while their query runs: they count only when they are whole, and cost nothing when not."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.support.double.commands import CommandDouble
from tests.support.double.records import BrokenStream, arrow_bytes
from tests.support.double.service import TOKEN, ServiceDouble
from tests.support.http_front import error

from svc_jupyter.api import paths
from svc_jupyter.client import Client, CommandCancelled, CommandFailed, WaitTimeout
from svc_jupyter.client.asynchronous import reading_ahead as async_reading_ahead
from svc_jupyter.client.blocking import reading_ahead as blocking_reading_ahead
from svc_jupyter.client.commands import reading_ahead

pytestmark = [pytest.mark.both_services, pytest.mark.both_clients]

TABLE = pa.table({"n": pa.array(range(5000)), "name": [None if n % 7 == 0 else f"row {n}" for n in range(5000)]})
WHOLE = arrow_bytes(TABLE)
SHORT = arrow_bytes(TABLE.slice(0, 4000))


def answer(*pieces: bytes, breaks: bool = False) -> Callable[[httpx.Request], httpx.Response]:
    """Return what answers with pieces of a stream; the connection breaks after them, or the answer ends."""
    content: dict[str, Any] = {"stream": BrokenStream(*pieces)} if breaks else {"content": b"".join(pieces)}
    return lambda _request: httpx.Response(200, headers={"Content-Type": paths.ARROW_STREAM}, **content)


class SlowStream(httpx.SyncByteStream):
    """A body whose later pieces wait for an event."""

    def __init__(self, first: bytes, go_on: threading.Event, *later: bytes | Exception) -> None:
        self.asked = threading.Event()
        self.reader: threading.Thread | None = None
        self._first, self._go_on, self._later = first, go_on, later

    def __iter__(self) -> Iterator[bytes]:
        self.reader = threading.current_thread()
        self.asked.set()
        yield self._first
        self._go_on.wait(20)
        for piece in self._later:
            if isinstance(piece, Exception):
                raise piece
            yield piece


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that come late on a busy machine are waited for, not asked for anew."""
    for module in (async_reading_ahead, blocking_reading_ahead):
        monkeypatch.setattr(module, "STALL_SECONDS", 600)


@pytest.fixture
def submit_blocking(extended: ServiceDouble) -> Iterator[Callable[..., Any]]:
    """Submits a query by the blocking client; who reads ahead gets the stream."""
    with Client(extended.base_url, TOKEN, transport=extended.transport()) as client:

        def submit(stream: SlowStream, *statuses: str) -> Any:
            def prepare(command: CommandDouble) -> None:
                command.statuses.clear()
                command.statuses.extend(statuses)
                command.table = TABLE
                command.ahead.append(lambda _request: httpx.Response(200, stream=stream))

            extended.prepare = prepare
            return client.commands.submit("DbTapQueryCommand", db_tap_id=1, query="select 1")

        yield submit


@pytest.fixture
def submit(connect: Any, extended: ServiceDouble) -> Callable[..., tuple[Any, CommandDouble]]:
    """Submits a query; `ahead` answers who asks for its rows before it ends as one of `statuses`."""

    def submit(*ahead: Any, statuses: tuple[str, ...] = ("running", "done")) -> tuple[Any, CommandDouble]:
        def prepare(command: CommandDouble) -> None:
            command.statuses.clear()
            command.statuses.extend(statuses)
            command.table = TABLE
            command.ahead.extend(ahead)

        extended.prepare = prepare
        command = connect(extended).commands.submit("DbTapQueryCommand", db_tap_id=1, query="select 1")
        return command, extended.commands[1]

    return submit


def plain_downloads(service: ServiceDouble) -> list[str]:
    return [call for call in service.calls if "/results" in call and "follow" not in call]


def test_rows_that_came_whole_are_not_fetched_again(submit: Any, extended: ServiceDouble) -> None:
    command, _ = submit(answer(WHOLE))
    command.wait(read_ahead=True)
    result = command.result()
    assert result.to_arrow().equals(TABLE)
    assert result.rows == 5000
    assert plain_downloads(extended) == []
    assert result.to_arrow().equals(TABLE), "a second reading fetches them: they are not held twice"
    assert len(plain_downloads(extended)) == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda result: pa.Table.from_pandas(result.to_pandas(limit=10)).num_rows == 10,
        lambda result: result.to_pandas().equals(TABLE.to_pandas()),
        lambda result: pa.Table.from_batches(list(result.batches())).equals(TABLE),
    ],
)
def test_every_way_to_read_takes_them(submit: Any, extended: ServiceDouble, read: Callable[[Any], bool]) -> None:
    command, _ = submit(answer(WHOLE[:100], WHOLE[100:]))
    assert read(command.wait(read_ahead=True).result())
    assert plain_downloads(extended) == []


@pytest.mark.parametrize(
    "ahead",
    [
        answer(),
        answer(WHOLE, breaks=True),
        answer(WHOLE[:-8]),
        answer(WHOLE[:-8], b"\xff"),
        answer(WHOLE[:30_000]),
        answer(WHOLE, b"\xff"),
        answer(b"<html>no rows at all</html>"),
        answer(SHORT),
        answer(arrow_bytes(TABLE, rows_per_batch=999)),
        lambda _request: error(422, "command 1 is not done (running)"),
        lambda _request: error(503, "the service is stopping", **{"Retry-After": "1"}),
        lambda _request: error(500, "a mistake"),
    ],
    ids=[
        *("nothing", "broken connection", "no end marker", "broken off", "in a batch", "more than a stream"),
        *("no stream", "other rows", "other batches", "older service", "stopping service", "failing service"),
    ],
)
def test_a_result_that_was_not_read_ahead_completely_is_downloaded_after_the_end(
    submit: Any, extended: ServiceDouble, ahead: Any
) -> None:
    command, _ = submit(ahead)
    assert command.wait(read_ahead=True).result().to_arrow().equals(TABLE)
    assert len(plain_downloads(extended)) == 1


def test_a_service_that_held_the_call_is_asked_again(
    submit: Any, extended: ServiceDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "_HOLD", 0)
    refusal = error(422, "command 1 is not done (running)")
    command, _ = submit(lambda _request: refusal, lambda _request: refusal, answer(WHOLE))
    assert command.wait(read_ahead=True).result().to_arrow().equals(TABLE)
    assert plain_downloads(extended) == []


@pytest.mark.parametrize(("status", "raised"), [("error", CommandFailed), ("cancelled", CommandCancelled)])
def test_the_rows_of_a_command_that_failed_are_nobodys(submit: Any, status: str, raised: type[Exception]) -> None:
    command, _ = submit(answer(WHOLE), statuses=("running", status))
    with pytest.raises(raised):
        command.wait(read_ahead=True)
    with pytest.raises(raised):
        command.result()


def test_last_rows_that_do_not_come_are_asked_for_anew(
    extended: ServiceDouble, submit_blocking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (async_reading_ahead, blocking_reading_ahead):
        monkeypatch.setattr(module, "STALL_SECONDS", 0.05)
    stalled = threading.Event()
    command = submit_blocking(SlowStream(WHOLE[:1000], stalled, b"nobody waits for this"), "running", "done")
    assert command.wait(read_ahead=True).result().to_arrow().equals(TABLE)
    assert len(plain_downloads(extended)) == 1
    stalled.set()


def test_nobody_reads_ahead_who_did_not_ask_or_cannot(connect: Any, service: ServiceDouble) -> None:
    client = connect(service)
    client.commands.submit("DbTapQueryCommand", db_tap_id=1, query="select 1").wait()
    client.commands.submit("ShellCommand", inline="echo hi").wait(read_ahead=True)
    if service.bare:
        client.commands.submit("DbTapQueryCommand", db_tap_id=1, query="select 1").wait(read_ahead=True)
    assert not [call for call in service.calls if "follow" in call]


def test_a_wait_that_is_given_up_reads_no_further(submit_blocking: Any) -> None:
    go_on = threading.Event()
    stream = SlowStream(b"", go_on, WHOLE[:1000], AssertionError("nobody wants more"))
    command = submit_blocking(stream, "running")
    with pytest.raises(WaitTimeout):
        command.wait(timeout=0.1, read_ahead=True)
    assert stream.asked.wait(20)
    assert stream.reader is not None
    assert stream.reader.name == "svc-read-ahead"
    go_on.set()
    stream.reader.join(20)
    assert not stream.reader.is_alive()
