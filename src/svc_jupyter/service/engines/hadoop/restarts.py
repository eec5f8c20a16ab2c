"""When a daemon that died is started again: at once, then later and later."""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW_SECONDS: Final = 120.0
TROUBLED_AFTER: Final = 5
_LONGEST_SECONDS: Final = 30.0


class Deaths:
    """The deaths of one daemon; times are seconds of any clock that goes on."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def note(self, now: float) -> None:
        """Note a death: the daemon is about to be started again."""
        self._times.append(now)

    def may_restart(self, now: float) -> bool:
        """Whether its time has come: the first time at once, then 1, 2, 4 … 30 seconds after the last."""
        recent = self._recent(now)
        return recent == 0 or now - self._times[-1] >= min(_LONGEST_SECONDS, 2.0 ** (recent - 1))

    def is_troubled(self, now: float) -> bool:
        """Whether it dies so often that somebody should look."""
        return self._recent(now) >= TROUBLED_AFTER

    def _recent(self, now: float) -> int:
        while self._times and now - self._times[0] > WINDOW_SECONDS:
            self._times.popleft()
        return len(self._times)
