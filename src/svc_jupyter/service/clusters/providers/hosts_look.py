"""The state of a host: its daemons, processors and disk, parsed from a script's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from svc_jupyter.service.clusters.providers.provider import DaemonState


@dataclass(frozen=True, slots=True)
class Look:
    """A host's state. `busy` and `idle` are processor times since the host was started, in one unit."""

    daemons: Sequence[DaemonState]
    busy: int
    idle: int
    disk_percent: float


def parse_look(text: str) -> Look:
    """Parse the output of `hosts_scripts.look`."""
    daemons: list[DaemonState] = []
    busy = idle = 0
    disk_percent = 0.0
    for line in text.splitlines():
        match line.split():
            case ["daemon", name, pid, exit_code]:
                daemons.append(_daemon(name, pid, exit_code))
            case ["cpu", *counts] if len(counts) >= 4:
                # user nice system idle iowait irq softirq steal; user already includes the time of guests
                times = list(map(int, counts[:8]))
                idle = sum(times[3:5])
                busy = sum(times) - idle
            case ["disk", used, available]:
                disk_percent = 100 * int(used) / max(1, int(used) + int(available))
    return Look(daemons, busy, idle, disk_percent)


def processors_percent(before: Look | None, now: Look) -> float:
    """Return how busy all processors were between two looks, 0..100; without an earlier one, since the host's start."""
    busy = now.busy - (before.busy if before else 0)
    total = busy + now.idle - (before.idle if before else 0)
    return min(100.0, max(0.0, 100 * busy / total)) if total > 0 else 0.0


def parse_facts(text: str) -> Mapping[str, str]:
    """Parse lines `name value`, such as `memory_kb 16384000`."""
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def _daemon(name: str, pid: str, exit_code: str) -> DaemonState:
    if pid != "-":
        return DaemonState(name, pid=int(pid))
    return DaemonState(name, exit_code=int(exit_code) if exit_code.isdecimal() else None)
