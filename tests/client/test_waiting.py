"""The wait, step by step and with a clock of the test's own."""

import asyncio
from functools import partial
from typing import Any

import httpx
import pytest
from tests.client.clock import Clock
from tests.support.double.service import TOKEN, ServiceDouble
from tests.support.http_front import error

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.client import (
    AsyncCommand,
    CommandCancelled,
    CommandFailed,
    ConnectionFailed,
    NotFound,
    Retries,
    Settings,
    Update,
    WaitTimeout,
)
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.commands.waiting import failure


class Scene:
    """A wait whose service is a list of answers; holding an answer and pausing move the clock."""

    def __init__(self, clock: Clock, *, extended: bool, command_type: str = "ShellCommand") -> None:
        self.clock = clock
        self.double = ServiceDouble(bare=not extended).add(command_type)
        self.sender = AsyncSender(
            Settings.load("https://service.test", TOKEN),
            transport=httpx.MockTransport(self._reply),
            retries=Retries(jitter=lambda: 1.0, outage=100.0),
        )
        self.command = AsyncCommand(self.sender, CommandRecord.model_validate(self.double.record))
        self.sender.link.learn_from(self.command.record)
        self.left: list[Any] = []
        self.targets: list[str] = []

    def answer(self, status: str, after: float = 0.0) -> tuple[float, httpx.Response]:
        self.double.see(status)
        return after, httpx.Response(200, json=self.double.record)

    def wait(self, *replies: Any, timeout: float | None = None, on_update: Any = None) -> None:
        """Perform the wait; a reply is seconds with an answer or an error. They must be used up, all of them."""
        self.left = [*replies]
        asyncio.run(self.command.wait(timeout, on_update))
        assert self.left == []

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.targets.append(request.url.raw_path.decode().removeprefix("/api/v1.2/commands/1"))
        seconds, reply = self.left.pop(0)
        self.clock.now += seconds
        if isinstance(reply, httpx.RequestError):
            raise reply
        return reply


@pytest.fixture
def new_scene(clock: Clock) -> Any:
    return partial(Scene, clock)


def test_a_held_answer_is_asked_for_again_at_once(new_scene: Any) -> None:
    scene = new_scene(extended=True, command_type="DbTapQueryCommand")
    scene.wait(scene.answer("running", 30), scene.answer("running", 30), scene.answer("done", 4))
    assert scene.targets == ["?wait=30"] * 3
    assert scene.clock.pauses == []
    assert scene.command.ended


def test_only_the_first_look_asks_for_text_results_too(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    scene.wait(scene.answer("running", 30), scene.answer("done", 1))
    assert scene.targets == ["/status_with_results?wait=30", "?wait=30"]


def test_a_service_that_ignores_the_wait_is_polled_ever_slower(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    scene.wait(*[scene.answer("running")] * 12, scene.answer("done"))
    assert scene.clock.pauses[:3] == [0.1, 0.15, 0.225]
    assert scene.clock.pauses[-1] == 5.0


def test_a_bare_service_is_polled_without_a_wait(new_scene: Any) -> None:
    scene = new_scene(extended=False)
    scene.wait(scene.answer("waiting"), scene.answer("running"), scene.answer("done"))
    assert scene.targets == [""] * 3
    assert scene.clock.pauses == [0.1, 0.15]


def test_someone_who_watches_hears_every_second(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    updates: list[Update] = []
    scene.wait(
        scene.answer("running", 1), scene.answer("running", 1), scene.answer("done", 0.5), on_update=updates.append
    )
    assert scene.targets == ["/status_with_results?wait=1", "?wait=1", "?wait=1"]
    assert [update.elapsed for update in updates] == [1.0, 2.0, 2.5]
    assert [update.record.status for update in updates] == ["running", "running", "done"]


def test_the_hold_never_reaches_beyond_the_limit(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    with pytest.raises(WaitTimeout, match=r"command 1 is still running after 40.5 s; it goes on"):
        scene.wait(
            scene.answer("running", 30), scene.answer("running", 10), *[scene.answer("running")] * 9, timeout=40.5
        )
    assert scene.targets[:3] == ["/status_with_results?wait=30", "?wait=10", ""]
    assert scene.clock.now == pytest.approx(40.5)


def test_a_limit_of_zero_looks_once(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    with pytest.raises(WaitTimeout):
        scene.wait(scene.answer("running"), timeout=0)
    scene.wait(scene.answer("done"), timeout=0)


def test_the_wait_goes_on_over_a_restart_and_reports_it(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    updates: list[Update] = []
    refused = (0.0, httpx.ConnectError("refused"))
    stopping = (0.0, error(503, "the service is stopping", **{"Retry-After": "3"}))

    scene.wait(stopping, refused, refused, scene.answer("done"), on_update=updates.append)

    assert scene.clock.pauses == [3.0, 0.4, 0.8]
    assert [update.outage for update in updates] == [0.0, 3.0, 3.4, 0.0]
    assert updates[0].problem == "the service is stopping"
    assert updates[1].problem == "the service at https://service.test cannot be reached (refused)"
    assert updates[3].problem is None


def test_an_outage_that_lasts_too_long_ends_the_wait(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    with pytest.raises(ConnectionFailed):
        scene.wait(*[(0.0, httpx.ConnectError("refused"))] * 100)
    assert 100 < scene.clock.now < 120


def test_outages_do_not_add_up(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    broken = (60.0, httpx.ReadError("reset"))
    scene.wait(*[broken, scene.answer("running", 30)] * 5, scene.answer("done"))
    assert scene.clock.now > 300


def test_a_limit_counts_in_an_outage_too(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    with pytest.raises(WaitTimeout):
        scene.wait(*[(0.0, httpx.ConnectError("refused"))] * 100, timeout=5)
    assert scene.clock.now == pytest.approx(5)


def test_an_error_that_does_not_pass_ends_the_wait(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    gone = error(404, "there is no command 1")
    with pytest.raises(NotFound):
        scene.wait((0.0, gone))


def test_a_command_that_has_ended_is_not_asked_for(new_scene: Any) -> None:
    scene = new_scene(extended=True)
    scene.wait(scene.answer("done"))
    scene.wait()


ENDS = {
    ("error", "exit code 2", "noise"): (CommandFailed, "command 1 failed: exit code 2"),
    ("error", None, "ls: no such file"): (CommandFailed, "command 1 failed: ls: no such file"),
    ("error", None, None): (CommandFailed, "command 1 failed"),
    ("cancelled", "cancelled by reader", None): (CommandCancelled, "command 1 was cancelled: cancelled by reader"),
}
"""By status, message and the last line of the log."""


def test_a_bad_end_is_reported_with_the_best_reason_there_is(new_scene: Any) -> None:
    def reported(status: str, message: str | None, log_line: str | None) -> tuple[type[Exception], str]:
        scene = new_scene(extended=True)
        scene.double.message = message
        scene.double.see(status)
        ended = failure(Tracked(scene.sender.link, CommandRecord.model_validate(scene.double.record)), log_line)
        return type(ended), str(ended)

    assert {end: reported(*end) for end in ENDS} == ENDS
