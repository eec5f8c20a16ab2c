"""Resources of processes, read from /proc: processor time, and memory now and at its peak."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

_SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class ProcessorTime:
    """Processor seconds of a process and of its children that have ended."""

    own: float
    children: float

    @classmethod
    def of(cls, pid: int) -> ProcessorTime:
        """Return the time used so far."""
        times = psutil.Process(pid).cpu_times()
        return cls(times.user + times.system, times.children_user + times.children_system)

    def since(self, earlier: ProcessorTime) -> ProcessorTime:
        """Return the time used since an earlier reading."""
        return ProcessorTime(self.own - earlier.own, self.children - earlier.children)


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    return _status(pid, "VmRSS")


def peak_resident(pid: int) -> int:
    """Return the peak of a process's resident memory in bytes, since its start or `forget_peak`."""
    return _status(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Reset the peak to the current memory."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(f"process {pid} has ended")


@dataclass
class Descendants:
    """Measures, in a `with`, the memory of a process's descendants: each at its peak and all together.

    Shared memory counts proportionally (PSS): a forked worker shares most of its memory with its parent.
    """

    pid: int
    peak_together: int = 0
    peaks: dict[int, int] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        assert self._thread is not None
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(_SAMPLE_SECONDS):
            self.look()

    def look(self) -> int:
        """Take one reading; return the total bytes of the process and its descendants."""
        together = proportional(self.pid)
        with suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self.pid).children(recursive=True):
                size = proportional(process.pid)
                self.peaks[process.pid] = max(size, self.peaks.get(process.pid, 0))
                together += size
        self.peak_together = max(self.peak_together, together)
        return together


def proportional(pid: int) -> int:
    """Return a process's proportional memory; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def busy_share(pid: int, seconds: float) -> float:
    """Return the share of one core that a process uses over some seconds: 0.01 is one percent."""
    before, started = ProcessorTime.of(pid), time.monotonic()
    time.sleep(seconds)
    return ProcessorTime.of(pid).since(before).own / (time.monotonic() - started)
