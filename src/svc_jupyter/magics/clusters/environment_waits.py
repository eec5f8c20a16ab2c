"""An environment that is changed, followed on a cell's progress line."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from svc_jupyter.magics.cells.running import REDRAW_SECONDS
from svc_jupyter.magics.display.errors import SvcMagicError, told_in_words
from svc_jupyter.magics.display.progress import SILENT_SECONDS, Line, clock, duration, interrupted
from svc_jupyter.magics.session.background import Background
from svc_jupyter.widgets.panels.status_words import DONE, RUNNING

if TYPE_CHECKING:
    from svc_jupyter.api.package_environments import PackageActivity, PackageEnvironment
    from svc_jupyter.client import Client

_SUCCESS = "success"
_LOOK_SECONDS = 2.0
"""How long a wait that was given up may still look."""


class ActivityWait:
    """One wait of a cell; an interrupt ends it, never what is done to the environment."""

    def __init__(self, client: Client, environment: PackageEnvironment, activity: PackageActivity, line: Line) -> None:
        self._client = client
        self._environment = environment
        self._activity = activity
        self._line = line
        self._given_up = False
        self._started = time.monotonic()

    @property
    def _what(self) -> str:
        return f"environment {self._environment.name} · {self._activity.action} · row {self._activity.id}"

    def begun_line(self) -> str:
        """Return the line for who does not wait."""
        return f"{RUNNING} {self._what} · begun · %svc_environment history {self._environment.id}"

    def to_end(self) -> None:
        """Wait until it is over, and leave a line that says so. Raises SvcMagicError: why it failed."""
        work = Background(self._wait, "environment").start()
        try:
            if not self._line.animates:
                work.wait()
            elif not work.wait(SILENT_SECONDS):
                self._draw()
                while not work.wait(REDRAW_SECONDS):
                    self._draw()
            row = work.outcome()
        except KeyboardInterrupt:
            self._given_up = True
            what = f"{self._what} is no longer waited for; it goes on · %svc_environment history {self._environment.id}"
            raise interrupted(self._line, what) from None
        seconds = duration(time.monotonic() - self._started)
        if row.status != _SUCCESS:
            raise SvcMagicError(f"{self._what} failed after {seconds}: {row.message}\n  Nothing was changed.")
        self._line.finish(f"{DONE} {self._what} · {row.message}")

    def _wait(self) -> PackageActivity:
        from svc_jupyter.client.errors import WaitTimeout

        environments = self._client.package_environments
        with told_in_words():
            while not self._given_up:
                with contextlib.suppress(WaitTimeout):
                    return environments.wait(self._environment.id, self._activity.id, timeout=_LOOK_SECONDS)
        return self._activity

    def _draw(self) -> None:
        passed = clock(time.monotonic() - self._started)
        self._line.replace(f"{RUNNING} {self._what} · {passed} · interrupt to stop waiting")
