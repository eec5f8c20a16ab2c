"""Real worker processes: one job each, whatever happens to whom."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.service.db_taps.answers import read_json, read_table, sqlite_connection
from tests.support.processes import is_over, open_files
from tests.support.until import until

from svc_jupyter.service.db_taps.job import from_line
from svc_jupyter.service.kinds.queries.worker_query import Workers, worker_environment
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.identity import Identity, read_pid_file
from svc_jupyter.service.processes.worker_parent import to_line

DEADLINE = 30.0
ENDLESS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT count(*) FROM n"


def jobs_of(parent_pid: int) -> list[int]:
    """Return the workers that have a job: they lead sessions of their own, which one that waits for a job does not."""
    found = []
    for child in psutil.Process(parent_pid).children():
        with suppress(ProcessLookupError):
            if os.getsid(child.pid) != os.getsid(parent_pid):
                found.append(child.pid)
    return found


def shown(process: DurableProcess, parent_pid: int) -> str:
    """Return what others can see of a worker: arguments and environment, its parent's too, and its files."""
    seen = [Path(f"/proc/{pid}/{name}") for pid in (process.pid, parent_pid) for name in ("cmdline", "environ")]
    return "".join(path.read_text() for path in [*seen, *process.folder.rglob("*")] if path.is_file())


def peak_so_far(pid: int) -> int:
    """Return the largest resident memory that a living process had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    return peak


@pytest.fixture
def flights_job(tap_file, make_job):
    return lambda text: make_job(sqlite_connection(tap_file), text)


@pytest.fixture
async def start(workers, flights_job):
    """Starts workers with queries on the flights; they are gone afterwards."""
    started: list[DurableProcess] = []

    async def start(text: str) -> DurableProcess:
        started.append(await workers.start(flights_job(text)))
        return started[-1]

    yield start
    for process in started:
        await process.stop(0)
        await process.wait()


def test_a_job_crosses_the_pipe_as_it_is(flights_job):
    job = replace(flights_job("SELECT 'ä\n\u2028'"), source="s3://b/q.sql", min_free_bytes=5)
    assert to_line(job).count(b"\n") == 1
    assert from_line(to_line(job)) == job


async def test_a_worker_runs_its_job_and_ends(start):
    process = await start("SELECT carrier FROM flights WHERE id = 1")
    assert await process.wait() == 0
    assert read_table(process.folder / "result.arrow").to_pylist() == [{"carrier": "UA"}]
    assert read_json(process.folder / "result.json")["rows"] == 1
    assert (process.folder / "rc").read_text() == "0\n"


async def test_a_worker_reports_who_it_is_whatever_clock_and_mark_say(start):
    process = await start(ENDLESS)
    assert read_pid_file(process.folder / "pid") == Identity.of(process.pid)
    assert process.is_running
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() is None


async def test_a_failed_query_ends_with_1(start):
    process = await start("SELECT nosuch")
    assert await process.wait() == 1
    assert read_json(process.folder / "error.json")["message"].startswith("no such column: nosuch")


async def test_many_jobs_at_once_each_get_a_process(start):
    processes = await asyncio.gather(*(start(f"SELECT {number} AS n") for number in range(20)))
    assert await asyncio.gather(*(process.wait() for process in processes)) == [0] * 20
    assert len({process.pid for process in processes}) == 20
    found = [read_table(process.folder / "result.arrow").to_pylist() for process in processes]
    assert found == [[{"n": number}] for number in range(20)]


async def test_a_worker_leads_a_session_of_its_own_and_inherits_nothing(start, workers):
    process = await start(ENDLESS)
    assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
    assert os.readlink(f"/proc/{process.pid}/fd/0") == os.devnull
    assert not [name for name in open_files(process.pid) if name.startswith(("pipe:", "socket:"))]


async def test_a_killed_worker_is_reported_as_lost(start):
    process = await start(ENDLESS)
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() is None
    assert not (process.folder / "result.json").exists()


async def test_a_worker_outlives_its_parent_and_is_found_again(start, workers, tap_file):
    process = await start(ENDLESS.replace("FROM n)", "FROM n WHERE n < 3000000)"))
    os.kill(workers.parent_pid, signal.SIGKILL)
    found = DurableProcess.adopt(process.folder)
    assert found is not None
    assert await found.wait() == 0
    assert read_table(process.folder / "result.arrow").to_pylist() == [{"count(*)": 3_000_000}]


async def test_a_parent_that_was_killed_is_replaced(start, workers):
    await (await start("SELECT 1")).wait()
    first = workers.parent_pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: is_over(first))
    process = await start("SELECT 2 AS n")
    assert await process.wait() == 0
    assert workers.parent_pid != first


async def test_a_job_that_was_taken_is_not_taken_again(workers, flights_job, tap_file):
    job = flights_job("DELETE FROM flights WHERE id = (SELECT min(id) FROM flights)")
    assert await (await workers.start(job)).wait() == 0
    with pytest.raises(OSError, match="no worker process could be started: FileExistsError"):
        await workers.start(job)
    with closing(sqlite3.connect(tap_file)) as connection:
        assert connection.execute("SELECT count(*) FROM flights").fetchone() == (2,)


async def test_a_cancelled_start_leaves_no_worker_behind(workers, flights_job):
    job = flights_job(ENDLESS)
    starting = asyncio.create_task(workers.start(job))
    await until(lambda: workers.parent_pid is not None)  # the job is on its way, and the parent still loads
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert not (job.folder / "pid").exists()
    await until(lambda: jobs_of(workers.parent_pid) == [])
    assert await (await workers.start(replace(job, query="SELECT 1"))).wait() == 0


async def test_the_parent_is_loaded_ahead_and_once(workers):
    workers.warm()
    workers.warm()
    await until(lambda: workers.parent_pid is not None)
    pid = workers.parent_pid
    workers.warm()
    await workers.stop()
    assert not psutil.pid_exists(pid)


async def test_an_idle_parent_ends(flights_job):
    workers = Workers(idle_seconds=0.01)
    try:
        await (await workers.start(flights_job("SELECT 1"))).wait()
        await until(lambda: workers.parent_pid is None)
        assert await (await workers.start(flights_job("SELECT 1"))).wait() == 0
    finally:
        await workers.stop()


async def test_a_stopped_service_ends_the_parent_and_leaves_the_workers(start, workers):
    process = await start(ENDLESS)
    pid = workers.parent_pid
    await workers.stop()
    assert not psutil.pid_exists(pid)
    assert process.is_running


def test_the_parent_ends_with_the_service_that_started_it_and_survives_a_broken_job(flights_job):
    job = flights_job("SELECT 1")
    lines = b"no job\n" + to_line(replace(job, folder=job.folder / "gone")) + to_line(job)
    parent = subprocess.run(
        [sys.executable, "-m", "svc_jupyter.service.kinds.query_worker"],
        input=lines,
        capture_output=True,
        env=worker_environment(os.environ),
        timeout=DEADLINE,
    )
    assert (parent.returncode, parent.stderr) == (0, b"")
    broken, missing, taken = parent.stdout.decode().splitlines()
    assert broken.startswith("JSONDecodeError")
    assert missing.startswith("FileNotFoundError")
    assert taken == "taken"


async def test_a_python_without_the_drivers_is_reported(flights_job, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named pyarrow' >&2\nexit 1\n")
    python.chmod(0o700)
    workers = Workers(python=str(python))
    try:
        with pytest.raises(OSError, match="no worker process could be started: ModuleNotFoundError: No module named"):
            await workers.start(flights_job("SELECT 1"))
    finally:
        await workers.stop()


def test_the_environment_holds_nothing_of_the_services_own():
    kept = worker_environment({"PATH": "/bin", "SVC_DATABASE_URL": "x", "PGPASSWORD": "y", "PGSSLMODE": "z"})
    assert set(kept) == {"PATH", "OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF"}


async def test_a_forking_parent_has_one_thread(start, workers):
    await (await start("SELECT 1")).wait()
    assert psutil.Process(workers.parent_pid).num_threads() == 1


async def test_a_password_shows_in_no_argument_environment_or_file(workers, make_job, postgres_connection):
    password = "geheim-1234567"
    connection = replace(postgres_connection, target=f"{postgres_connection.target} password='{password}'")
    process = await workers.start(make_job(connection, "SELECT pg_sleep(1000)"))
    try:
        assert password not in shown(process, workers.parent_pid)
    finally:
        await process.stop(10)
        await process.wait()


@pytest.fixture
def running_on_postgres(postgres_connection):
    """Tells what the server runs for others right now."""

    def running() -> list[str]:
        with psycopg.connect(postgres_connection.target, autocommit=True) as connection:
            return [
                text
                for (text,) in connection.execute(
                    "SELECT query FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(1000)%'"
                    " AND pid <> pg_backend_pid()"
                )
            ]

    return running


@pytest.mark.parametrize(
    "text", ["SELECT pg_sleep(1000)", "SELECT 1; CREATE TABLE t AS SELECT 1 AS a FROM pg_sleep(1000)"]
)
async def test_a_stop_ends_the_query_on_the_server_too(
    workers, make_job, postgres_connection, running_on_postgres, text
):
    process = await workers.start(make_job(postgres_connection, text))
    await until(running_on_postgres)
    await process.stop(10)
    assert await process.wait() == 128 + signal.SIGTERM
    await until(lambda: not running_on_postgres())
    with psycopg.connect(postgres_connection.target) as connection:
        assert connection.execute("SELECT to_regclass('t')").fetchone() == (None,)


async def test_a_killed_worker_ends_the_query_on_the_server_too(
    workers, make_job, postgres_connection, running_on_postgres
):
    process = await workers.start(make_job(postgres_connection, "SELECT pg_sleep(1000)"))
    await until(running_on_postgres)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    await until(lambda: not running_on_postgres())


async def test_progress_reports_rows_while_they_arrive(start):
    process = await start("WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT n, 'x' || n FROM n")
    file = process.folder / "progress"

    def progress() -> tuple[int, ...]:
        return tuple(map(int, file.read_text().split())) if file.exists() else (0, 0)

    await until(lambda: progress()[1] > 0)
    percent, rows = progress()
    assert percent == 0
    await until(lambda: progress()[1] > rows)


async def log_of_first_statement(process: DurableProcess) -> str:
    """Return a worker's log once the first of its two statements is done, or the worker has failed."""
    log = process.folder / "log"
    await until(lambda: "statement 1 of 2" in log.read_text() or not process.is_running, 4 * DEADLINE)
    return log.read_text()


SERIES = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) "


@pytest.mark.parametrize(
    "columns",
    [
        "n, n * 1.5 AS x, printf('%032d', n) AS t",
        "CASE WHEN n < 150000 THEN n ELSE printf('%032d', n) END AS mixed",
    ],
    ids=["typed", "mixed"],
)
async def test_memory_is_flat_whatever_the_number_of_rows(start, columns):
    few, many = 200_000, 1_200_000
    peaks = []
    for rows in (few, many):
        # The second statement keeps the process alive, so that its peak can be read.
        process = await start(SERIES.format(rows=rows) + f"SELECT {columns} FROM n; {ENDLESS}")
        assert f"statement 1 of 2 (line 1, WITH): {rows:,} rows, " in await log_of_first_statement(process)
        peaks.append(peak_so_far(process.pid))
    assert peaks[1] - peaks[0] < 25 * 2**20  # the rows themselves are 50 MB
