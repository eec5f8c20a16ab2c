"""100,000 active schedules of which 100 are due each second: their lag, and the cost of the ticker.

The lag is from the nominal time to the creation of the command, whose script is `true`; the share of a core is that of
the whole service, which also runs these commands. It is compared with APScheduler with the same number of jobs in a
SQLite job store: its lag ends at the call of a function in its own process, which starts nothing. The catch-up is after
a week's outage of 1,000 hourly schedules while the others continue; the lag shown is that of the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from benchmarks import report
from benchmarks.postgres import postgres
from benchmarks.processes import ProcessorTime, busy_share, resident
from benchmarks.service import Service
from benchmarks.surroundings import environment

PER_SECOND = 100
HOURLY = 1000
_HOUR = 3600
_WEEK = 7 * 24 * _HOUR
_LEAD_SECONDS = 12
"""Approximate time from the end of the seeding to the first nominal time; meanwhile the idle service is measured."""
_SEEDED_PER_SECOND = 2000
_DRAIN_SECONDS = 3


def run(folder: Path, *, quick: bool) -> None:
    """Print the lags, the idle costs and the catch-up, on SQLite and on PostgreSQL, and APScheduler's lags."""
    count, seconds = (12_000, 8) if quick else (100_000, 60)
    rows: list[list[str]] = []
    with Service(folder / "sqlite") as service:
        url = f"sqlite:///{service.data_dir / 'service.db'}"
        rows += _measured("SQLite", service, url, count, seconds)
    with postgres(folder) as url, Service(folder / "on-postgres", SVC_DATABASE_URL=url) as service:
        rows += _measured("PostgreSQL", service, _for_psycopg(url), count, seconds)
    rows.append(_apscheduler(folder, count, seconds))
    columns = ["", "fired", "lag p50, ms", "p99, ms", "max, ms", "% of a core", "RSS, megabytes", "idle, % of a core"]
    report.table(f"{count:,} schedules, {PER_SECOND} due a second, over {seconds} s", columns, rows)


def _measured(name: str, service: Service, url: str, count: int, seconds: int) -> list[list[str]]:
    engine = sa.create_engine(url)
    try:
        template = _create_template(service)
        first = int(time.time()) + _LEAD_SECONDS + count // _SEEDED_PER_SECOND
        _seed(engine, template, count, first)
        _wake(service, template)
        idle = busy_share(service.pid, _LEAD_SECONDS / 2) * 100
        usual = [name, *_fired_columns(engine, service.pid, first, seconds), f"{idle:.2f}"]
        _seed_outage(engine, template)
        _wake(service, template)
        during = _fired_columns(engine, service.pid, int(time.time()) + 2, seconds)
        return [usual, [f"{name}, {_caught_up(engine):,} caught up", *during, ""]]
    finally:
        engine.dispose()


def _create_template(service: Service) -> int:
    """Create a schedule far in the future, the template of the other rows; return its id."""
    body = {
        "command_type": "ShellCommand",
        "command": {"inline": "true"},
        "frequency": 1,
        "time_unit": "hours",
        "start_time": "2199-01-01 00:00",
    }
    return int(_call(service, "POST", "/api/v1.2/scheduler", body)["id"])


def _seed(engine: sa.Engine, template: int, count: int, first: int) -> None:
    """Copy the template: the copies are due in turn, and again after a full round."""
    minutes = max(1, count // PER_SECOND // 60)
    spread = minutes * 60
    starts = [first + place * spread / count for place in range(count)]
    _copy(engine, template, [{"start_time": at, "next_nominal": at, "frequency": minutes} for at in starts], "minutes")


def _seed_outage(engine: sa.Engine, template: int) -> None:
    begin = time.time() - _WEEK
    starts = [begin + _HOUR * place / HOURLY for place in range(HOURLY)]
    rows = [{"start_time": at, "next_nominal": at, "frequency": 1} for at in starts]
    _copy(engine, template, rows, "hours", name="caught up")


def _copy(engine: sa.Engine, template: int, rows: Sequence[dict[str, Any]], unit: str, name: str | None = None) -> None:
    table = sa.Table("schedules", sa.MetaData(), autoload_with=engine)
    with engine.begin() as connection:
        row = dict(connection.execute(sa.select(table).where(table.c.id == template)).mappings().one())
        del row["id"]
        same = row | {"time_unit": unit, "name": name}
        connection.execute(sa.insert(table), [same | part | {"due_at": part["next_nominal"]} for part in rows])


def _wake(service: Service, template: int) -> None:
    """Change a schedule, so that the service notices the rows inserted from outside."""
    _call(service, "PUT", f"/api/v1.2/scheduler/{template}", {"concurrency": 1})


def _call(service: Service, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    base_url, token = service.address
    answer = httpx.request(method, base_url + path, json=body, headers={"X-AUTH-TOKEN": token}, timeout=60)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def _fired_columns(engine: sa.Engine, pid: int, first: float, seconds: int) -> list[str]:
    """Wait for the actions due in the `seconds` after `first`; return their columns of the table."""
    time.sleep(max(0.0, first - time.time()))
    before, begun = ProcessorTime.of(pid), time.monotonic()
    lags = _wait_and_read(engine, first, seconds)
    busy = ProcessorTime.of(pid).since(before).own / (time.monotonic() - begun)
    return [*_lag_columns(lags), f"{busy * 100:.0f}", report.megabytes(resident(pid))]


def _wait_and_read(engine: sa.Engine, first: float, seconds: int) -> list[float]:
    """Return the lags, in seconds, of the actions due in the `seconds` after `first`, once all can have fired."""
    last = first + seconds
    time.sleep(max(0.0, last + _DRAIN_SECONDS - time.time()))
    query = sa.text(
        "SELECT a.nominal_time, c.created_at FROM actions a JOIN schedules s ON s.id = a.schedule_id"
        " LEFT JOIN commands c ON c.id = a.command_id"
        " WHERE a.nominal_time >= :first AND a.nominal_time < :last AND s.name IS NULL"
    )
    with engine.connect() as connection:
        rows = connection.execute(query, {"first": first, "last": last}).all()
    now = time.time()
    return [(now if created is None else created) - nominal for nominal, created in rows]


def _caught_up(engine: sa.Engine) -> int:
    query = sa.text(
        "SELECT count(*) FROM actions a JOIN schedules s ON s.id = a.schedule_id WHERE s.name IS NOT NULL AND a.done"
    )
    with engine.connect() as connection:
        found: int = connection.execute(query).scalar_one()
    return found


def _lag_columns(lags: Sequence[float]) -> list[str]:
    ordered = sorted(lags) or [float("nan")]
    at = [ordered[round(share * (len(ordered) - 1))] for share in (0.5, 0.99, 1.0)]
    return [f"{len(lags):,}", *(report.milliseconds(lag) for lag in at)]


def _for_psycopg(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def _apscheduler(folder: Path, count: int, seconds: int) -> list[str]:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.apscheduler_lags",
        str(folder),
        str(count),
        str(seconds),
    ]
    done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"APScheduler failed:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    costs = [f"{found['busy'] * 100:.0f}", report.megabytes(found["rss"]), f"{found['idle'] * 100:.2f}"]
    return ["APScheduler, SQLite", *_lag_columns(found["lags"]), *costs]
