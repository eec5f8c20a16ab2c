"""Failed and killed containers of a whole cluster: NodeManagers count for themselves, from zero at each start.

What a NodeManager had counted when it was last seen stays counted when it starts again or its node goes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from svc_jupyter.service.engines.hadoop.jmx import ContainerCounters


@dataclass(frozen=True, slots=True)
class ContainerTally:
    """The counters of processes that are over, and the last ones of those that run, by node."""

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
        """Return the tally after a look at NodeManagers; `nodes` are all that the cluster has now."""
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
    """Return the tally in a file, an empty one where there is none."""
    try:
        told = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return ContainerTally()
    current = {node: ContainerCounters(*counters) for node, counters in told["current"].items()}
    return ContainerTally(told["past_failed"], told["past_killed"], current)


def write_tally(file: Path, tally: ContainerTally) -> None:
    """Put the tally into its file, whole or not at all."""
    told = {
        "past_failed": tally.past_failed,
        "past_killed": tally.past_killed,
        "current": {node: [last.started, last.failed, last.killed] for node, last in tally.current.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(json.dumps(told))
    draft.replace(file)
