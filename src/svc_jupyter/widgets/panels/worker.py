"""The thread of a panel: it performs the buttons' jobs, and refreshes the panel while it is visible.

A kernel runs a button's callback on its main thread, where a call to an unresponsive service would block the notebook.
The thread sleeps until there is a job or a refresh is due; an invisible panel is not refreshed.
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
"""A panel without interaction for this long pauses until the next one: the user has left it open."""


class PanelWorker:
    """Runs jobs one after the other, and `look` every `period()` seconds while visible. Thread-safe."""

    def __init__(
        self,
        look: Callable[[], None],
        period: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        on_pause: Callable[[], None] | None = None,
        *,
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`on_pause` is called once when the panel pauses: what it shows is out of date from then on.

        `on_failure` receives the error of a job or a refresh, to show it; the thread continues.
        """
        self._look = look
        self._period = period
        self._clock = clock
        self._on_pause = on_pause
        self._on_failure = on_failure
        self._pause_shown = False
        self._jobs: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._visible = False
        self._closed = False
        self._touched = clock()
        self._looked = clock()
        self._thread: threading.Thread | None = None

    @property
    def is_paused(self) -> bool:
        """Whether the panel has paused for lack of interaction."""
        return self._clock() - self._touched > UNTOUCHED_SECONDS

    def submit(self, job: Callable[[], None]) -> None:
        """Queue a job, after a button press."""
        with self._changed:
            self._touched = self._clock()
            self._jobs.append(job)
            self._wake()

    def show(self, *, visible: bool) -> None:
        """Set whether the panel is visible."""
        with self._changed:
            if visible and not self._visible:
                self._touched = self._clock()
            self._visible = visible
            if visible:
                self._wake()
            else:
                self._changed.notify()

    def close(self) -> None:
        """End the thread after its current job."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _wake(self) -> None:
        self._pause_shown = False
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
                self._show_failure(error)

    def _show_failure(self, error: Exception) -> None:
        try:
            self._on_failure(error)
        except Exception:  # noqa: BLE001 -- drawing itself may be what fails; the log is what is left
            _log.exception("a panel could not show why its job failed")

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next job or refresh; return None when the panel is closed."""
        with self._changed:
            while not self._closed:
                if self._jobs:
                    return self._jobs.popleft()
                if self._visible and self.is_paused and not self._pause_shown:
                    self._pause_shown = True
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
    """Return the text for an unexpected error of a panel."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"unexpected error, {what}. Try again; the log of the notebook's kernel says where it happened."
