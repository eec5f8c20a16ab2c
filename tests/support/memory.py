"""How much memory this process needed for something, whatever it had needed before."""

from __future__ import annotations

from pathlib import Path


class Peak:
    """The most memory that this process has held since this object was made."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest value so far (proc_pid_clear_refs(5))
        self._before = _peak()

    @property
    def growth(self) -> int:
        """By how many bytes it is more than at the beginning."""
        return _peak() - self._before


def _peak() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
