import pickle
from typing import Any

import httpx
import pytest
from tests.support.double.records import BrokenStream
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import ConnectionFailed, NotFound, Retries
from svc_jupyter.client.commands.following import LogReading, Tail, start_of_tail

TEXT = "eins\nzwei ✓\ndrei\n"
BYTES = TEXT.encode()


def log_event(offset: int, end: int) -> bytes:
    part = httpx.Response(200, json={"offset": offset, "end": end, "text": BYTES[offset:end].decode()}).text
    return f"id: {end}\nevent: log\ndata: {part}\n\n".encode()


END = b"event: end\ndata: {}\n\n"


def stream(*parts: bytes, broken: bool = False) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        content: Any = {"stream": BrokenStream(*parts)} if broken else {"content": b"".join(parts)}
        return httpx.Response(200, headers={"Content-Type": "text/event-stream; charset=utf-8"}, **content)

    return answer


def test_a_log_is_read_whole(client: Any, service: ServiceDouble) -> None:
    service.add().log = BYTES
    assert client.commands.get(1).logs() == TEXT


@pytest.mark.both_services
def test_a_log_is_followed_until_the_command_ends(client: Any, service: ServiceDouble) -> None:
    command = service.add("ShellCommand", "running", "running", "done")
    command.log = BYTES
    command.events.append(stream(log_event(0, 5), b": ping\n\n", log_event(5, 14), log_event(14, len(BYTES)), END))
    assert "".join(client.commands.get(1).logs(follow=True)) == TEXT


def test_following_by_polling_shows_what_is_added_meanwhile_once(connect: Any, bare: ServiceDouble) -> None:
    command = bare.add("ShellCommand", "running", "running", "done")
    command.log = BYTES[:12]  # in the middle of a character
    seen: list[str] = []
    for text in connect(bare).commands.get(1).logs(follow=True):
        seen.append(text)
        command.log = BYTES
    assert "".join(seen) == TEXT
    assert "err_file_processed=12" in bare.calls[-1]


def test_a_broken_stream_of_events_is_taken_up_where_it_broke(connect: Any, extended: ServiceDouble) -> None:
    command = extended.add("ShellCommand", "running")
    command.events.append(stream(log_event(0, 5), broken=True))
    command.events.append(stream(log_event(0, 5), log_event(0, 14), log_event(14, len(BYTES)), END))

    text = "".join(connect(extended).commands.get(1).logs(follow=True))

    assert text == TEXT
    assert extended.requests[-1].headers["Last-Event-ID"] == "5"


def test_breaks_between_answers_do_not_add_up_to_one_outage(connect: Any, extended: ServiceDouble) -> None:
    command = extended.add("ShellCommand", "running")
    command.events.extend(stream(b": ping\n\n", broken=True) for _ in range(4))
    command.events.append(stream(log_event(0, len(BYTES)), END))
    handle = connect(extended, retries=Retries(first=0.001, outage=0.0)).commands.get(1)
    assert "".join(handle.logs(follow=True)) == TEXT


@pytest.mark.both_services
def test_a_service_that_stays_away_ends_the_following(connect: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "running")
    handle = connect(service, retries=Retries(attempts=1, first=0.001, outage=0.0)).commands.get(1)
    service.next_answers.extend(httpx.ConnectError("refused") for _ in range(9))
    with pytest.raises(ConnectionFailed, match="cannot be reached"):
        list(handle.logs(follow=True))


def test_events_that_end_early_are_opened_again(connect: Any, extended: ServiceDouble) -> None:
    command = extended.add("ShellCommand", "running")
    command.events.extend([stream(log_event(0, 5)), stream(log_event(5, len(BYTES)), END)])
    assert "".join(connect(extended).commands.get(1).logs(follow=True)) == TEXT


@pytest.mark.both_services
def test_a_restart_while_following_is_survived(client: Any, service: ServiceDouble) -> None:
    command = service.add("ShellCommand", "running", "running", "done")
    command.log = BYTES
    command.events.append(stream(log_event(0, len(BYTES)), END))
    handle = client.commands.get(1)
    service.next_answers.extend([httpx.ConnectError("refused"), error(503, "stopping")])
    assert "".join(handle.logs(follow=True)) == TEXT


def test_without_events_the_log_is_polled(connect: Any) -> None:
    def followed(status: int) -> tuple[str, int]:
        """Return the log, and how often events are asked for."""
        service = ServiceDouble()
        command = service.add("ShellCommand", "running", "running", "done")
        command.log = BYTES
        command.events.append(lambda request: httpx.Response(status, text="no events"))
        text = "".join(connect(service).commands.get(1).logs(follow=True))
        return text, [call.split("?")[0].rsplit("/", 1)[-1] for call in service.calls].count("events")

    statuses = (404, 405, 406, 200)
    assert {status: followed(status) for status in statuses} == dict.fromkeys(statuses, (TEXT, 1))


@pytest.mark.both_services
def test_following_a_command_that_vanishes_raises(client: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "running")
    handle = client.commands.get(1)
    service.commands.clear()
    with pytest.raises(NotFound):
        list(handle.logs(follow=True))


def test_a_log_that_breaks_off_is_a_failed_connection(client: Any, service: ServiceDouble) -> None:
    service.add().log = BYTES
    handle = client.commands.get(1)
    service.next_answers.append(httpx.Response(200, stream=BrokenStream(BYTES[:4]), headers={"err_length": "19"}))
    with pytest.raises(ConnectionFailed, match="broke the connection off"):
        handle.logs()


def test_the_tail_of_a_long_log_is_fetched_without_the_rest(connect: Any, extended: ServiceDouble) -> None:
    extended.add().log = b"".join(b"line %d\n" % number for number in range(100_000))
    handle = connect(extended).commands.get(1)
    assert handle.log_tail(2) == "line 99998\nline 99999"
    assert int(extended.requests[-1].url.params["err_file_processed"]) > 1_000_000


@pytest.mark.both_services
def test_of_a_line_that_was_overwritten_the_tail_has_the_last_state(client: Any, service: ServiceDouble) -> None:
    service.add().log = b"begun\n\r10 %\r20 %\r30 %\n\x1b[31mno room\x1b[0m\r\n"
    assert client.commands.get(1).log_tail(3) == "begun\n30 %\n\x1b[31mno room\x1b[0m"


def test_the_tail_is_had_from_a_bare_service_too(connect: Any, bare: ServiceDouble) -> None:
    bare.add().log = b"".join(b"line %d\n" % number for number in range(100_000)) + b"\n"
    assert connect(bare).commands.get(1).log_tail(2) == "line 99998\nline 99999"


def test_a_service_that_ignores_offsets_is_not_read_twice() -> None:
    reading = LogReading(1)
    texts = []
    for content in (b"abc", b"abcdef", b"abcdefg"):
        reading.begin_poll({})
        texts.append(reading.take_bytes(content[:2]) + reading.take_bytes(content[2:]))
        reading.end_poll()
    assert texts == ["abc", "def", "g"]


def test_lengths_are_of_what_follows_and_ended_work_is_not_read_twice() -> None:
    """As the public client of such services reads them: what was in the other log comes again with the first."""
    reading = LogReading(1)
    asked, texts = [], []
    for errors, others, content in [
        ("0", "3", b"abc"),
        ("0", "2", b"de"),
        ("5", "2", b"abcdefg"),
        ("0", "0", b""),
        ("4", "0", b"fghi"),
        ("0", "1", b"j"),
    ]:
        asked.append(tuple(reading.poll_call().params.values()))
        reading.begin_poll({"err_length": errors, "tmp_length": others})
        texts.append(reading.take_bytes(content))
        reading.end_poll()
    assert texts == ["abc", "de", "fg", "", "hi", "j"]
    assert asked == [(0, 0), (0, 3), (0, 5), (5, 2), (5, 2), (9, 0)]


def test_a_poll_that_breaks_goes_on_from_the_last_byte() -> None:
    reading = LogReading(1)
    reading.begin_poll({"err_length": "100"})
    assert reading.take_bytes(b"abc") == "abc"
    reading.begin_poll({"err_length": "100"})
    assert reading.poll_call().params == {"err_file_processed": 3, "tmp_file_processed": 0}


def test_pauses_grow_while_nothing_comes() -> None:
    reading = LogReading(1)
    quiet = [reading.pause_between_polls() for _ in range(12)]
    reading.begin_poll({})
    reading.take_bytes(b"news")
    assert quiet == sorted(quiet)
    assert quiet[-1] == 5.0
    assert reading.pause_between_polls() == 0.1


def test_a_tail_holds_little() -> None:
    tail = Tail(3)
    for number in range(100_000):
        tail.take(f"{number}\n")
    assert tail.text() == "99997\n99998\n99999"
    assert len(pickle.dumps(tail)) < 100_000


def test_the_start_of_a_tail() -> None:
    assert [start_of_tail(length) for length in (None, 100, 65_536, 100_000)] == [0, 0, 0, 34_464]
