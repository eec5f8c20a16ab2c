"""How late APScheduler calls its jobs: `python -m benchmarks.apscheduler_lags FOLDER COUNT SECONDS`, prints JSON."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.processes import busy_share, resident

PER_SECOND = 100
_LEAD_SECONDS = 12
_DRAIN_SECONDS = 3
_LAGS: list[float] = []
_WINDOW = [0.0, 0.0]


def job(start: float, every: float) -> None:
    """Record the delay of this call after its nominal time."""
    now = time.time()
    nominal = start + (now - start) // every * every
    if _WINDOW[0] <= nominal < _WINDOW[1]:
        _LAGS.append(now - nominal)


def main(folder: Path, count: int, seconds: int) -> None:
    """Fill a job store, wait until its jobs are due, and print the lags, the shares of a core and the memory."""
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
    from apscheduler.schedulers.background import BackgroundScheduler

    store = SQLAlchemyJobStore(url=f"sqlite:///{folder / 'apscheduler.db'}")
    scheduler = BackgroundScheduler(
        jobstores={"default": store}, executors={"default": ThreadPoolExecutor(20)}, timezone=UTC
    )
    scheduler.start(paused=True)
    first = int(time.time()) + _LEAD_SECONDS + count / 1000
    _fill(scheduler, store, count, first)
    if time.time() + _LEAD_SECONDS / 2 > first:
        raise SystemExit("the jobs were not stored in time")
    _WINDOW[:] = [first, first + seconds]
    scheduler.resume()
    idle = busy_share(os.getpid(), _LEAD_SECONDS / 2)
    time.sleep(max(0.0, first - time.time()))
    busy = busy_share(os.getpid(), max(0.0, first + seconds + _DRAIN_SECONDS - time.time()))
    print(json.dumps({"lags": _LAGS, "idle": idle, "busy": busy, "rss": resident(os.getpid())}), flush=True)
    os._exit(0)  # its threads may be far behind


def _fill(scheduler: Any, store: Any, count: int, first: float) -> None:
    """Store the jobs in one transaction: adding them individually takes minutes."""
    from apscheduler.job import Job
    from apscheduler.triggers.interval import IntervalTrigger

    spread = max(1, count // PER_SECOND // 60) * 60
    rows = []
    for place in range(count):
        start = first + place * spread / count
        due = datetime.fromtimestamp(start, UTC)
        made = Job(
            scheduler,
            id=str(place),
            trigger=IntervalTrigger(seconds=spread, start_date=due, timezone=UTC),
            executor="default",
            func=job,
            args=(start, float(spread)),
            kwargs={},
            name="job",
            misfire_grace_time=None,
            coalesce=False,
            max_instances=1,
            next_run_time=due,
        )
        state = pickle.dumps(made.__getstate__(), store.pickle_protocol)
        rows.append({"id": made.id, "next_run_time": start, "job_state": state})
    with store.engine.begin() as connection:
        connection.execute(store.jobs_t.insert(), rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
