"""The jobs of a statement on the server's engine, from its REST API.

The engine identifies a statement by its text, so each ends with a comment that is its own.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

_ANSWER_SECONDS: Final = 2.0
_RUNNING: Final = "RUNNING"
_PROXIES_NONE: Final = urllib.request.ProxyHandler({})


def marked(statement: str, mark: str) -> str:
    """Return a statement with a mark that identifies its jobs; a trailing comment shifts no position in it."""
    return f"{statement}\n/* {mark} */"


class Jobs:
    """Queries jobs; `address` is `http://host:port` of the server's engine."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener = urllib.request.build_opener(_PROXIES_NONE)
        self._application: str | None = None

    def of(self, mark: str, name: str) -> list[dict[str, Any]]:
        """Return the jobs with a mark under this name, oldest first; none if the engine does not answer."""
        mine = (job for job in self._all() if f"/* {mark} */" in job.get("description", ""))
        return sorted((self._record(job, name) for job in mine), key=lambda job: int(job["job_id"]))

    def end(self, mark: str) -> None:
        """End the running jobs of all statements whose mark has this prefix."""
        for job in self._all("?status=running"):
            if f"/* {mark}-" in job.get("description", ""):
                with suppress(OSError):
                    place = f"{self._address}/jobs/job/kill/"
                    self._opener.open(place, data=f"id={job['jobId']}".encode(), timeout=_ANSWER_SECONDS).close()

    def _all(self, which: str = "") -> list[dict[str, Any]]:
        try:
            if self._application is None:
                self._application = str(self._get("applications")[0]["id"])
            return list(self._get(f"applications/{self._application}/jobs{which}"))
        except (OSError, ValueError, LookupError):
            return []

    def _record(self, job: Mapping[str, Any], name: str) -> dict[str, Any]:
        return {
            "job_id": str(job["jobId"]),
            "application_id": self._application,
            "name": name,
            "url": f"{self._address}/jobs/job/?id={job['jobId']}",
            "status": job["status"],
            "progress": round(100 * share(job)),
        }

    def _get(self, what: str) -> Any:
        with self._opener.open(f"{self._address}/api/v1/{what}", timeout=_ANSWER_SECONDS) as answer:
            return json.loads(answer.read())


def share(job: Mapping[str, Any]) -> float:
    """Return the share of a job that is done, 0 to 1, by its tasks; skipped tasks count as done."""
    tasks = int(job["numTasks"])
    done = int(job["numCompletedTasks"]) + int(job["numSkippedTasks"])
    return 1.0 if job["status"] != _RUNNING else min(1.0, done / tasks) if tasks else 0.0


def overall(jobs: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of a statement that is done, 0 to 1, by its jobs so far; always below 1."""
    shares = [int(job["progress"]) / 100 for job in jobs]
    return 0.0 if not shares else 0.95 * sum(shares) / len(shares)


_LOOK_EVERY: Final = 1.0
_LOOKS: Final = 60


class StrayJobs:
    """Looks for the jobs of ended commands for a minute, and ends them.

    HiveServer2 ends the jobs of a cancelled statement; but one that it starts a moment later, since it was still
    planning, would run to completion.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def end(self, address: str, mark: str) -> None:
        """End jobs with a mark that run or start; returns at once. `address` is the engine's, for REST calls."""
        task = asyncio.create_task(_end(Jobs(address), mark), name=f"stray jobs of {mark}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Stop looking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _end(jobs: Jobs, mark: str) -> None:
    for _ in range(_LOOKS):
        await asyncio.to_thread(jobs.end, mark)
        await asyncio.sleep(_LOOK_EVERY)
