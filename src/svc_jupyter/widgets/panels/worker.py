"""The one thread of a panel: it does what the buttons ask for, and looks again while somebody sees the panel.

A kernel runs a button's callback on its main thread, where a call to a service that does not answer would hold up the
notebook. The thread sleeps until there is work or a look is due; while nobody sees the panel no look is ever due.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections import deque
from collections.abc import Callable

_log = logging.getLogger(__name__)

UNTOUCHED_SECONDS = 1800.0
"""A panel that nobody touched for so long is left open by somebody who went away: it looks no more until touched."""


class PanelWorker:
    """Runs jobs one after the other, and `look` every `period()` seconds while visible. Safe to use from any thread."""

    def __init__(
        self,
        look: Callable[[], None],
        period: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        on_pause: Callable[[], None] | None = None,
        *,
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`on_pause` is called once when the panel is no longer looked after: what it shows grows old from then on.

        `on_failure` gets the error that a job or a look ended with, which is to be shown: the thread goes on.
        """
        self._look = look
        self._period = period
        self._clock = clock
        self._on_pause = on_pause
        self._on_failure = on_failure
        self._pause_told = False
        self._jobs: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._visible = False
        self._closed = False
        self._touched = clock()
        self._looked = clock()
        self._thread: threading.Thread | None = None

    @property
    def is_paused(self) -> bool:
        """Whether the panel is no longer looked after since nobody touched it for a long time."""
        return self._clock() - self._touched > UNTOUCHED_SECONDS

    def submit(self, job: Callable[[], None]) -> None:
        """Do a job soon: somebody pressed a button."""
        with self._changed:
            self._touched = self._clock()
            self._jobs.append(job)
            self._wake()

    def show(self, *, visible: bool) -> None:
        """Say whether somebody sees the panel."""
        with self._changed:
            if visible and not self._visible:
                self._touched = self._clock()
            self._visible = visible
            if visible:
                self._wake()
            else:
                self._changed.notify()

    def close(self) -> None:
        """End the thread after the job it is at."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _wake(self) -> None:
        self._pause_told = False
        if self._thread is None and not self._closed:
            context = contextvars.copy_context()
            self._thread = threading.Thread(target=context.run, args=(self._run,), name="svc-panel", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except Exception as error:  # noqa: BLE001 -- the end of the thread would be the end of the panel, unseen
                _log.exception("a panel's job failed")
                self._tell(error)

    def _tell(self, error: Exception) -> None:
        try:
            self._on_failure(error)
        except Exception:  # noqa: BLE001 -- drawing itself may be what fails; the log is what is left
            _log.exception("a panel could not show why its job failed")

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next job, or until a look is due; None when the panel is closed."""
        with self._changed:
            while not self._closed:
                if self._jobs:
                    return self._jobs.popleft()
                if self._visible and self.is_paused and not self._pause_told:
                    self._pause_told = True
                    if self._on_pause is not None:
                        return self._on_pause
                due = self._seconds_to_look()
                if due is not None and due <= 0:
                    self._looked = self._clock()
                    return self._look
                self._changed.wait(due)
            return None

    def _seconds_to_look(self) -> float | None:
        if not self._visible or self.is_paused:
            return None
        return self._looked + self._period() - self._clock()


def unexpected(error: Exception) -> str:
    """Return an error that nobody foresaw, in words for the panel that it happened in."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"unexpected error, {what}. Try again; the log of the notebook's kernel says where it happened."
