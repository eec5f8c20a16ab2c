"""The processor use of the processes with a mark on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath

import psutil

from svc_jupyter.service.clusters.providers.marked_processes import marked


def percent_used(before: Mapping[int, float], now: Mapping[int, float], seconds: float, processors: int) -> float:
    """Return the share of all processors, 0..100, that processes used between two readings of their processor seconds.

    A process that started meanwhile counts from its start; one that ended does not count.
    """
    used = sum(value - before.get(pid, 0.0) for pid, value in now.items())
    return min(100.0, max(0.0, 100 * used / (max(seconds, 0.001) * processors)))


class ProcessorUse:
    """Keeps the last reading of each mark. The first call for a mark measures since the start of its processes."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, dict[int, float]]] = {}
        self._lock = threading.Lock()

    def percent(self, mark: str, value: PurePath) -> float:
        """Return the share since the last call, 0..100 of all processors; a call within a tenth of a second does not
        replace the last reading.
        """
        readings: dict[int, float] = {}
        oldest = 0.0
        for process in marked(mark, value):
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                readings[process.pid] = times.user + times.system
                oldest = max(oldest, time.time() - process.create_time())
        now = time.monotonic()
        with self._lock:
            moment, before = self._last.get(str(value), (now - oldest, {}))
            if now - moment >= 0.1 or str(value) not in self._last:
                self._last[str(value)] = (now, readings)
        return percent_used(before, readings, now - moment, psutil.cpu_count() or 1)

    def forget(self, value: PurePath) -> None:
        """Drop the readings of a node that is gone."""
        with self._lock:
            self._last.pop(str(value), None)
