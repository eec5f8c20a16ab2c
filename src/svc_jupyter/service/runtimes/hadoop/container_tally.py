"""Failed and killed containers of a whole cluster. Each NodeManager counts its own, from zero at each start.

The last known count of a NodeManager is kept when it restarts or its node is removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from svc_jupyter.files import write_whole
from svc_jupyter.service.runtimes.hadoop.jmx import ContainerCounters


@dataclass(frozen=True, slots=True)
class ContainerTally:
    """The sum of ended processes' counters, and the last counters of running ones, by node."""

    past_failed: int = 0
    past_killed: int = 0
    current: Mapping[str, ContainerCounters] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Containers that failed since the cluster started."""
        return self.past_failed + sum(counters.failed for counters in self.current.values())

    @property
    def killed(self) -> int:
        """Containers that were killed since the cluster started."""
        return self.past_killed + sum(counters.killed for counters in self.current.values())

    def seen(self, counters: Mapping[str, ContainerCounters], nodes: Collection[str]) -> Self:
        """Return the tally updated with NodeManagers' counters; `nodes` are all current nodes of the cluster."""
        latest = {**self.current, **counters}
        over = [
            before
            for node, before in self.current.items()
            if node not in nodes or latest[node].started != before.started
        ]
        return type(self)(
            self.past_failed + sum(before.failed for before in over),
            self.past_killed + sum(before.killed for before in over),
            {node: last for node, last in latest.items() if node in nodes},
        )


def read_tally(file: Path) -> ContainerTally:
    """Return the tally in a file, empty if the file is missing or damaged."""
    try:
        told = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return ContainerTally()
    current = {node: ContainerCounters(*counters) for node, counters in told["current"].items()}
    return ContainerTally(told["past_failed"], told["past_killed"], current)


def write_tally(file: Path, tally: ContainerTally) -> None:
    """Write the tally into its file atomically."""
    told = {
        "past_failed": tally.past_failed,
        "past_killed": tally.past_killed,
        "current": {node: [last.started, last.failed, last.killed] for node, last in tally.current.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(told))
