"""Progress of a statement's jobs, by Spark's own counts: ended tasks out of all known ones."""

from __future__ import annotations

from typing import Any, Final

_JOBS_SHOWN: Final = 100
_STATES: Final = {"RUNNING": "RUNNING", "SUCCEEDED": "SUCCEEDED", "FAILED": "FAILED", "UNKNOWN": "UNKNOWN"}


class Progress:
    """Queries job groups of a driver; every method takes about a millisecond."""

    def __init__(self, context: Any) -> None:
        """`context` is a `SparkContext`."""
        self._tracker = context._jsc.statusTracker()
        self._context = context

    @property
    def ui(self) -> str | None:
        """The address of the driver's pages, None where they are switched off.

        On YARN it is at YARN's proxy, to which all links of the pages lead once the application's master has said so.
        """
        own: str | None = self._context.uiWebUrl
        base = self._context._jvm.java.lang.System.getProperty("spark.ui.proxyBase")
        if own is None or not base:
            return own
        settings = self._context._jsc.hadoopConfiguration()
        return f"http://{settings.get('yarn.resourcemanager.webapp.address')}{base}"

    def of(self, group: str) -> list[dict[str, Any]]:
        """Return the jobs of a group, oldest first, as `GET commands/ID/jobs` shows them."""
        found, ui = [], self.ui
        for number in sorted(self._tracker.getJobIdsForGroup(group))[-_JOBS_SHOWN:]:
            job = self._tracker.getJobInfo(number)
            if job is None:
                continue
            done, of = self._tasks(job.stageIds())
            status = str(job.status())
            found.append(
                {
                    "job_id": str(number),
                    "name": group,
                    "url": None if ui is None else f"{ui}/jobs/job/?id={number}",
                    "status": _STATES.get(status, status),
                    "progress": 100 if status == "SUCCEEDED" else 100 * done // max(1, of),
                    "tasks_done": of if status == "SUCCEEDED" else done,
                    "tasks": of,
                }
            )
        return found

    def _tasks(self, stages: Any) -> tuple[int, int]:
        done = of = 0
        for stage in stages:
            info = self._tracker.getStageInfo(stage)
            if info is not None:
                done += int(info.numCompletedTasks())
                of += int(info.numTasks())
        return done, of


def percent(jobs: list[dict[str, Any]]) -> int:
    """Return the share of all jobs together that is done, 0..99."""
    done, of = sum(job["tasks_done"] for job in jobs), sum(job["tasks"] for job in jobs)
    return min(99, 100 * done // of) if of else 0
