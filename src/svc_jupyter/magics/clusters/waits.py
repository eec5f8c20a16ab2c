"""Waits for a cluster or a package environment, shown on a cell's progress line."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import DONE, RUNNING, STOPPED
from svc_jupyter.durations import duration, span
from svc_jupyter.magics.cells.waits import Wait
from svc_jupyter.magics.display.errors import SvcMagicError, translated_errors
from svc_jupyter.magics.display.progress import Line

if TYPE_CHECKING:
    from svc_jupyter.api.clusters import ClusterStateRecord
    from svc_jupyter.api.package_environments import PackageActivity, PackageEnvironment
    from svc_jupyter.client import Client

_DOING = {"UP": "starting", "DOWN": "terminating"}
_SUCCESS = "success"
_LOOK_SECONDS = 2.0
"""How long a wait may continue to poll after it was given up."""


class _GivenUp(Exception):
    """The cell no longer waits."""


class ClusterWait(Wait["ClusterStateRecord"]):
    """Waits for a cluster to be UP or DOWN."""

    def __init__(self, client: Client, cluster_id: int, name: str, wanted: str, line: Line) -> None:
        super().__init__(client, line, f"cluster {name}", f"%svc_cluster {name} state")
        self._cluster_id = cluster_id
        self._wanted = wanted
        self._latest: ClusterStateRecord | None = None

    def to_end(self) -> ClusterStateRecord:
        """Wait until the cluster is in its state, and leave a final line. Raises SvcMagicError with the reason."""
        record = self._attend()
        self._line.finish(self._last_line(record))
        return record

    def _wait(self) -> ClusterStateRecord:
        from svc_jupyter.client.errors import ClusterFailed

        with translated_errors():
            try:
                return self._client.clusters.wait(self._cluster_id, self._wanted, on_state=self._note)
            except ClusterFailed as error:
                raise SvcMagicError(f"{error.message}\n  {self._hint}") from error

    def _note(self, record: ClusterStateRecord) -> None:
        if self._given_up:
            raise _GivenUp
        self._latest = record

    def _progress(self) -> str:
        message = f" · {self._latest.message}" if self._latest is not None and self._latest.message else ""
        return f"{RUNNING} {_DOING[self._wanted]} {self._what}{message} · {span(self._seconds)}"

    def _last_line(self, record: ClusterStateRecord) -> str:
        took = duration(self._seconds)
        if self._wanted == "DOWN":
            return f"{STOPPED} {self._what} · down after {took}"
        workers = sum(str(node.role) == "worker" for node in record.nodes)
        size = f" · {workers} worker{'' if workers == 1 else 's'}" if record.nodes else ""
        return f"{DONE} {self._what} · up in {took}{size}"


class ActivityWait(Wait["PackageActivity"]):
    """Waits for the end of an activity of a package environment."""

    def __init__(self, client: Client, environment: PackageEnvironment, activity: PackageActivity, line: Line) -> None:
        what = f"environment {environment.name} · {activity.action} · row {activity.id}"
        super().__init__(client, line, what, f"%svc_environment history {environment.id}")
        self._environment = environment
        self._activity = activity

    def begun_line(self) -> str:
        """Return the line for a cell that does not wait."""
        return f"{RUNNING} {self._what} · begun · {self._hint}"

    def to_end(self) -> None:
        """Wait until it is over, and leave a final line. Raises SvcMagicError with the reason."""
        row = self._attend()
        self._line.finish(f"{DONE} {self._what} · {row.message}")

    def _wait(self) -> PackageActivity:
        from svc_jupyter.client.errors import WaitTimeout

        environments = self._client.package_environments
        with translated_errors():
            while not self._given_up:
                with contextlib.suppress(WaitTimeout):
                    return self._checked(
                        environments.wait(self._environment.id, self._activity.id, timeout=_LOOK_SECONDS)
                    )
        return self._activity

    def _checked(self, row: PackageActivity) -> PackageActivity:
        if row.status != _SUCCESS:
            took = duration(self._seconds)
            raise SvcMagicError(f"{self._what} failed after {took}: {row.message}\n  Nothing was changed.")
        return row
