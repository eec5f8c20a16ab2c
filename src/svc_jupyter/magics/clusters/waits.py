"""A cluster on its way to UP or DOWN, followed on a cell's progress line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from svc_jupyter.magics.cells.running import REDRAW_SECONDS
from svc_jupyter.magics.display.errors import SvcMagicError, told_in_words
from svc_jupyter.magics.display.progress import SILENT_SECONDS, Line, clock, duration, interrupted
from svc_jupyter.magics.session.background import Background
from svc_jupyter.widgets.panels.status_words import DONE, RUNNING, STOPPED

if TYPE_CHECKING:
    from svc_jupyter.api.clusters import ClusterStateRecord
    from svc_jupyter.client import Client

_DOING = {"UP": "starting", "DOWN": "terminating"}


class _GivenUp(Exception):
    """The cell no longer waits."""


class ClusterWait:
    """One wait of a cell; an interrupt ends it, never what the cluster does."""

    def __init__(self, client: Client, cluster_id: int, name: str, wanted: str, line: Line) -> None:
        self._client = client
        self._cluster_id = cluster_id
        self._name = name
        self._wanted = wanted
        self._line = line
        self._latest: ClusterStateRecord | None = None
        self._given_up = False
        self._started = time.monotonic()

    def to_end(self) -> ClusterStateRecord:
        """Wait until the cluster is in its state, and leave a line that says so. Raises SvcMagicError: why not."""
        work = Background(self._wait, "cluster").start()
        try:
            if not self._line.animates:
                work.wait()
            elif not work.wait(SILENT_SECONDS):
                self._draw()
                while not work.wait(REDRAW_SECONDS):
                    self._draw()
            record = work.outcome()
        except KeyboardInterrupt:
            self._given_up = True
            what = f"cluster {self._name} is no longer waited for; it goes on · %svc_cluster {self._name} state"
            raise interrupted(self._line, what) from None
        self._line.finish(self._last_line(record))
        return record

    def _wait(self) -> ClusterStateRecord:
        from svc_jupyter.client.errors import ClusterFailed

        with told_in_words():
            try:
                return self._client.clusters.wait(self._cluster_id, self._wanted, on_state=self._note)
            except ClusterFailed as error:
                raise SvcMagicError(f"{error.message}\n  %svc_cluster {self._name} state") from error

    def _note(self, record: ClusterStateRecord) -> None:
        if self._given_up:
            raise _GivenUp
        self._latest = record

    def _draw(self) -> None:
        told = f" · {self._latest.message}" if self._latest is not None and self._latest.message else ""
        seconds = clock(time.monotonic() - self._started)
        self._line.replace(f"{RUNNING} {_DOING[self._wanted]} cluster {self._name}{told} · {seconds}")

    def _last_line(self, record: ClusterStateRecord) -> str:
        took = duration(time.monotonic() - self._started)
        if self._wanted == "DOWN":
            return f"{STOPPED} cluster {self._name} · DOWN after {took}"
        workers = sum(str(node.role) == "worker" for node in record.nodes)
        told = f" · {workers} worker{'' if workers == 1 else 's'}" if record.nodes else ""
        return f"{DONE} cluster {self._name} · UP in {took}{told}"
