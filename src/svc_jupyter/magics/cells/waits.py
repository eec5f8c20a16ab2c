"""A cell's wait for something that is no command, shown on its progress line."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from svc_jupyter.api.status_words import FAILED, RUNNING
from svc_jupyter.durations import duration, span
from svc_jupyter.magics.cells.running import REDRAW_SECONDS
from svc_jupyter.magics.display.progress import SILENT_SECONDS, Line, interrupted
from svc_jupyter.magics.session.session import Background

if TYPE_CHECKING:
    from svc_jupyter.client import Client

T = TypeVar("T")


class Wait(ABC, Generic[T]):
    """A cell's wait; an interrupt ends the wait, not the operation."""

    def __init__(self, client: Client, line: Line, what: str, hint: str) -> None:
        """`what` is the object of the wait, `hint` the magic that shows its state later."""
        self._client = client
        self._line = line
        self._what = what
        self._hint = hint
        self._given_up = False
        self._drawn = False
        self._started = time.monotonic()

    def _attend(self) -> T:
        """Run `_wait` in a thread and update the progress line; return or raise what it returned or raised."""
        work = Background(self._wait, "wait").start()
        try:
            if not self._line.animates:
                work.wait()
            elif not work.wait(SILENT_SECONDS):
                self._drawn = True
                self._line.replace(self._progress())
                while not work.wait(REDRAW_SECONDS):
                    self._line.replace(self._progress())
            return work.outcome()
        except KeyboardInterrupt:
            self._given_up = True
            what = f"{self._what} is no longer waited for; it goes on · {self._hint}"
            raise interrupted(self._line, what) from None
        except Exception:
            self._show_failure()
            raise

    def _show_failure(self) -> None:
        """Show that nothing goes on any more; the cell's error says why."""
        if not self._line.shows_failures:
            self._line.clear()
        elif self._drawn:
            self._line.finish(f"{FAILED} {self._what} · failed after {duration(self._seconds)}")

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    @abstractmethod
    def _wait(self) -> T:
        """Wait in the worker thread until the end or `_given_up`."""

    def _progress(self) -> str:
        """Return the progress line."""
        return f"{RUNNING} {self._what} · {span(self._seconds)} · interrupt to stop waiting"
