import threading
from collections.abc import Iterator

import pytest
from tests.widgets.screen import finish

from svc_jupyter.widgets.panels.worker import UNTOUCHED_SECONDS, PanelWorker

SECONDS = 20


class Looks:
    """Counts looks, and lets a test wait for a number of them."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def __call__(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.count >= count, SECONDS)


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def now() -> list[float]:
    """The clock's seconds, in a list so that a test can set them."""
    return [0.0]


@pytest.fixture
def failures() -> list[Exception]:
    """What the worker has told of."""
    return []


@pytest.fixture
def worker(looks: Looks, now: list[float], failures: list[Exception]) -> Iterator[PanelWorker]:
    """A worker whose period is over at once when the clock is set forward."""
    worker = PanelWorker(looks, lambda: 5.0, clock=lambda: now[0], on_failure=failures.append)
    yield worker
    worker.close()


def test_jobs_are_done_in_order_in_one_thread(worker):
    order = []
    for number in range(5):
        worker.submit(lambda number=number: order.append((number, threading.get_ident())))
    thread = finish(worker)
    assert order == [(number, thread.ident) for number in range(5)]
    assert thread is not threading.current_thread()


def test_nothing_runs_before_somebody_sees_or_touches_the_panel(looks, failures):
    before = set(threading.enumerate())
    worker = PanelWorker(looks, lambda: 0.0, on_failure=failures.append)
    assert set(threading.enumerate()) <= before
    worker.close()


def test_a_seen_panel_looks_once_per_period(worker, looks, now):
    worker.show(visible=True)
    finish(worker)
    assert looks.count == 0
    now[0] = 5.0
    finish(worker)
    looks.wait(1)
    finish(worker)
    assert looks.count == 1


def test_a_hidden_panel_does_not_look(worker, looks, now):
    worker.show(visible=True)
    worker.show(visible=False)
    now[0] = 100.0
    finish(worker)
    finish(worker)
    assert looks.count == 0


def test_a_panel_that_nobody_touched_for_long_looks_no_more_until_touched(worker, looks, now):
    worker.show(visible=True)
    now[0] = UNTOUCHED_SECONDS + 1
    assert worker.is_paused
    worker.show(visible=False)
    worker.show(visible=True)
    assert not worker.is_paused
    now[0] *= 3
    worker.show(visible=True)
    assert worker.is_paused
    finish(worker)  # which touches it
    assert not worker.is_paused
    looks.wait(1)


def test_a_closed_worker_does_nothing_more(worker, looks, now):
    thread = finish(worker)
    worker.show(visible=True)
    worker.close()
    thread.join(SECONDS)
    assert not thread.is_alive()
    now[0] = 5.0
    worker.submit(looks)
    assert looks.count == 0


def fail():
    raise RuntimeError("the disk is full")


def test_a_job_that_fails_is_reported_and_the_thread_goes_on(worker, failures):
    worker.submit(fail)
    finish(worker)
    assert [str(error) for error in failures] == ["the disk is full"]


def test_a_look_that_fails_is_reported_and_the_next_one_comes(looks, now, failures):
    def look():
        looks()
        fail()

    worker = PanelWorker(look, lambda: 5.0, clock=lambda: now[0], on_failure=failures.append)
    worker.show(visible=True)
    for count in (1, 2):
        now[0] += 5.0
        worker.show(visible=True)
        looks.wait(count)
    finish(worker)
    assert len(failures) == 2
    worker.close()


def test_a_failure_that_cannot_be_shown_does_not_end_the_thread_either(caplog):
    def cannot_show(error):
        raise ValueError("no widget")

    worker = PanelWorker(lambda: None, lambda: 5.0, on_failure=cannot_show)
    worker.submit(fail)
    finish(worker)
    assert "could not show" in caplog.text
    worker.close()
