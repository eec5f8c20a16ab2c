"""DB queries, run by the job that also runs them in the service."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pydantic import ValidationError
from tests.support.locked_sqlite import locked

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.db_taps import DbTapCreate, DbTapUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.job import Job
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.kinds.db_query.kind import DbTapQueryKind
from svc_jupyter.service.kinds.queries.worker_query import Workers
from svc_jupyter.service.schema.commands import NEW_ROW
from svc_jupyter.service.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
FIELDS = ("db_tap_id", "query", "md_cmd", "script_location")
ENDLESS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def lake(settings) -> Path:
    """The account's default storage, with a database in it."""
    settings.storage_dir.mkdir()
    with closing(sqlite3.connect(settings.storage_dir / "flights.db")) as connection:
        connection.executescript(
            "CREATE TABLE flights (id INTEGER PRIMARY KEY, carrier TEXT, delay REAL);"
            "INSERT INTO flights VALUES (1, 'UA', 2.5), (2, 'AA', NULL)"
        )
    return settings.storage_dir


@pytest.fixture
def caller(account_id) -> Caller:
    return Caller(1, account_id, "reader@example.org", frozenset({BuiltinGroup.USER}), 1)


@pytest.fixture
def secrets(settings) -> SecretBox:
    return SecretBox(settings.data_dir / "secret.key")


@pytest.fixture
def db_taps(settings, database, secrets, lake) -> DbTaps:
    return DbTaps(settings, database, secrets)


@pytest.fixture
def tap_id(db_taps, caller) -> int:
    """A tap on the flights."""
    return db_taps.create(DbTapCreate(name="flights", db_type="sqlite", db_name="flights.db"), by=caller).id


@pytest.fixture
async def workers():
    workers = Workers()
    yield workers
    await workers.stop()


@pytest.fixture
def kind(settings, database, secrets, db_taps, workers):
    settings.kill_grace_seconds = 5
    storage = Storage(settings, database, secrets)
    yield DbTapQueryKind(db_taps, workers, storage)
    storage.close()


@pytest.fixture
def new_job(kind, settings, account_id, tap_id, tmp_path):
    """Makes the job of a command; its worker is ended with the test."""
    root = tmp_path / "command"
    root.mkdir()

    def new_job(*, macros=None, attempts=None, **command) -> Job:
        row = (
            NEW_ROW
            | {"folder_key": "0a1b"}
            | {
                "id": 7,
                "account_id": account_id,
                "user_id": 1,
                "parent_id": 6,
                "command": dict.fromkeys(FIELDS) | {"db_tap_id": tap_id} | command,
                "resolved_macros": macros,
                "attempts": attempts,
                "next_attempt_at": None,
                "progress": 0,
                "result_rows": None,
                "start_time": time.time(),
                "timeout": None,
                "retry": 0,
                "retry_delay": None,
            }
        )

        async def note(_values) -> None:
            """Nothing is kept between attempts here."""

        return Job(CommandRow.new(row), kind, settings, root=root, note=note, on_progress=lambda: None)

    yield new_job
    for file in root.glob("*/pid"):
        with suppress(ProcessLookupError):
            os.killpg(int(file.read_text().split()[0]), signal.SIGKILL)


def rows(root: Path, final) -> list[dict]:
    """Return the rows of a finished command."""
    assert final["status"] == "done", final["message"]
    assert final["result"]["form"] == "arrow"
    file = root / final["result"]["file"]
    assert file.stat().st_size == final["result"]["size"]
    with pa.OSFile(str(file), "rb") as source, pa.ipc.open_stream(source) as reader:
        return reader.read_all().to_pylist()


async def worker_of(job: Job) -> int:
    """Wait until a job's worker runs and return its number."""
    async with asyncio.timeout(30):
        while job.live.pid is None:  # noqa: ASYNC110  a job tells nobody when it has its process
            await asyncio.sleep(0.01)
    return job.live.pid


def count(lake: Path) -> int:
    with closing(sqlite3.connect(lake / "flights.db")) as connection:
        return connection.execute("SELECT count(*) FROM flights").fetchone()[0]


class TestDescribing:
    async def test_the_record_shows_every_field(self, kind, caller, tap_id):
        described = await kind.describe({"db_tap_id": str(tap_id), "query": "SELECT 1", "unknown": 1}, caller)
        assert described == {"db_tap_id": tap_id, "query": "SELECT 1", "md_cmd": False, "script_location": None}

    async def test_a_script_may_lie_in_the_storage(self, kind, caller, tap_id):
        described = await kind.describe({"db_tap_id": tap_id, "script_location": "reports/$day$.sql"}, caller)
        assert described["script_location"] == "reports/$day$.sql"

    async def test_a_submission_without_a_query_is_refused(self, kind, caller, tap_id):
        with pytest.raises(ValidationError, match="give exactly one of query and script_location"):
            await kind.describe({"db_tap_id": tap_id}, caller)

    async def test_an_unknown_tap_is_refused(self, kind, caller):
        with pytest.raises(Invalid, match="db_tap_id: there is no DB tap 99 in this account"):
            await kind.describe({"db_tap_id": 99, "query": "SELECT 1"}, caller)

    async def test_an_inactive_tap_is_refused(self, kind, caller, db_taps, tap_id):
        db_taps.update(tap_id, DbTapUpdate(active=False), by=caller)
        with pytest.raises(Invalid, match="is not active"):
            await kind.describe({"db_tap_id": tap_id, "query": "SELECT 1"}, caller)

    async def test_a_script_that_may_not_be_read_is_refused(self, kind, caller, tap_id):
        with pytest.raises(Invalid, match=r"^the location ftp://h/q\.sql has an unknown scheme"):
            await kind.describe({"db_tap_id": tap_id, "script_location": "ftp://h/q.sql"}, caller)
        with pytest.raises(Invalid, match=r"^file:///etc/passwd is outside the folders"):
            await kind.describe({"db_tap_id": tap_id, "script_location": "file:///etc/passwd"}, caller)

    async def test_the_record_shows_the_values_of_names(self, kind, caller, tap_id):
        bindings = {"day": {"type": "date", "value": "2026-01-31"}, "many": [1, "x", None]}
        body = {"db_tap_id": tap_id, "query": "SELECT :day, ':no' IN :many", "bindings": bindings}
        assert (await kind.describe(body, caller))["bindings"] == bindings

    @pytest.mark.parametrize(
        ("bindings", "message"),
        [
            ({"a": 1}, "bindings: :b has no value; there are values for a"),
            ({"a": 1, "b": 2, "c": 3}, "bindings: the query has no :c, but there is a value"),
        ],
    )
    async def test_names_and_values_must_fit(self, kind, caller, tap_id, bindings, message):
        with pytest.raises(Invalid) as caught:
            await kind.describe({"db_tap_id": tap_id, "query": "SELECT :a, :b", "bindings": bindings}, caller)
        assert caught.value.message == message

    async def test_names_that_a_macro_or_a_file_may_hold_are_known_at_the_run(self, kind, caller, tap_id):
        for source in ({"query": "SELECT 1 WHERE $condition$"}, {"script_location": "reports/$day$.sql"}):
            described = await kind.describe({"db_tap_id": tap_id, "bindings": {"a": 1}} | source, caller)
            assert described["bindings"] == {"a": 1}

    async def test_a_dry_run_is_of_one_statement_with_a_plan(self, kind, caller, tap_id):
        body = {"db_tap_id": tap_id, "dry_run": "true"}
        assert (await kind.describe(body | {"query": "DELETE FROM flights"}, caller))["dry_run"] is True
        for query in ("SELECT 1; SELECT 2", "PRAGMA user_version = 5"):
            with pytest.raises(Invalid, match=r"^dry_run: a dry run is of .*; nothing was run$"):
                await kind.describe(body | {"query": query}, caller)
        assert "dry_run" not in await kind.describe(body | {"query": "SELECT 1", "dry_run": False}, caller)

    async def test_the_record_shows_how_many_rows_are_asked_for(self, kind, caller, tap_id):
        assert (await kind.describe({"db_tap_id": tap_id, "query": "SELECT 1", "limit": "5"}, caller))["limit"] == 5
        with pytest.raises(ValidationError, match="limit is for the rows of a run, and a dry run has none"):
            await kind.describe({"db_tap_id": tap_id, "query": "SELECT 1", "limit": 5, "dry_run": True}, caller)

    async def test_a_nul_character_is_refused(self, kind, caller, tap_id):
        with pytest.raises(Invalid, match="NUL"):
            await kind.describe({"db_tap_id": tap_id, "query": "SELECT 1\0"}, caller)


class TestRunning:
    async def test_rows_are_the_result_and_their_types_are_known(self, new_job):
        job = new_job(query="SELECT * FROM flights ORDER BY id")
        final = await job.run()
        assert rows(job.root, final) == [
            {"id": 1, "carrier": "UA", "delay": 2.5},
            {"id": 2, "carrier": "AA", "delay": None},
        ]
        assert final["result"]["columns"] == (("id", "int64"), ("carrier", "string"), ("delay", "double"))
        assert (final["result_rows"], final["progress"], final["message"]) == (2, 100, None)

    async def test_values_are_bound_also_those_that_a_macro_gives(self, new_job):
        bindings = {"id": {"type": "integer", "value": "$number$"}, "carrier": "' OR 1=1 --", "least": -1}
        job = new_job(
            query="SELECT carrier, :carrier AS given FROM flights WHERE id = :id AND delay -:least > 3",
            bindings=bindings,
            macros=[{"number": 1}],
        )
        assert rows(job.root, await job.run()) == [{"carrier": "UA", "given": "' OR 1=1 --"}]

    @pytest.mark.parametrize(
        ("query", "bindings", "message"),
        [
            (
                "SELECT 1;\nSELECT $condition$",
                {"a": 1},
                ":b has no value; there are values for a\n  query, line 2: SELECT :a, :b\n  tap flights (sqlite)",
            ),
            (
                "SELECT :day",
                {"day": {"type": "date", "value": "$condition$"}},
                "bindings: day: a date must be a text such as 2026-01-31\n  tap flights (sqlite)",
            ),
            (
                "SELECT :long\n, delays FROM flights",
                {"long": "x" * 1000},
                "no such column: delays. Did you mean delay?\n  query, line 2: , delays FROM flights\n"
                "  tap flights (sqlite)",
            ),
            (
                "SELECT :a",
                None,
                "parameter count mismatch: expected 1 but found 0\n  give :a a value by bindings; in a notebook: "
                "--bind a (its variable) or --bind a=TEXT\n  tap flights (sqlite)",
            ),
            ("SELECT :a", {"a": {"type": "double", "value": "NaN"}}, "SQLite has no NaN: it would become NULL"),
            ("SELECT :a", {"a": 2**63}, "9223372036854775808: SQLite's integers have 64 bits; give it as a text"),
        ],
    )
    async def test_a_query_whose_values_do_not_fit_fails(self, new_job, query, bindings, message):
        final = await new_job(query=query, bindings=bindings, macros=[{"condition": ":a, :b"}]).run()
        assert final["status"] == "error"
        assert final["message"].startswith(message)

    async def test_the_first_rows_are_the_result_and_its_notes_say_so(self, new_job):
        job = new_job(query="SELECT id FROM flights ORDER BY id", limit=1)
        final = await job.run()
        assert rows(job.root, final) == [{"id": 1}]
        assert final["result"]["notes"] == ("the first 1 row: there may be more",)

    async def test_a_dry_run_gives_the_plan_and_says_so(self, new_job, lake):
        job = new_job(query="DELETE FROM flights WHERE $condition$", macros=[{"condition": "id = 1"}], dry_run=True)
        final = await job.run()
        assert rows(job.root, final) == [{"line": "SEARCH flights USING INTEGER PRIMARY KEY (rowid=?)"}]
        assert final["result"]["notes"] == ("dry run: this is the plan, nothing was run",)
        assert "nothing was run" in (job.root / "log").read_text()
        assert count(lake) == 2

    async def test_a_dry_run_of_what_a_macro_made_runs_nothing(self, new_job, lake):
        condition = "true; DELETE FROM flights"
        final = await new_job(query="SELECT $condition$", macros=[{"condition": condition}], dry_run=True).run()
        assert (final["status"], count(lake)) == ("error", 2)
        assert final["message"].startswith("a dry run is of one statement, and the query has 2; nothing was run")

    async def test_a_query_without_a_table_says_what_it_did(self, new_job, lake):
        final = await new_job(query="DELETE FROM flights").run()
        assert (final["status"], final["result"]) == ("done", None)
        assert final["message"] == "1 statement done, 2 rows changed, no table returned"
        assert count(lake) == 0

    async def test_macros_are_put_into_the_query(self, new_job):
        job = new_job(query="SELECT '$day$' AS day", macros=[{"day": "2013-01-02"}])
        assert rows(job.root, await job.run()) == [{"day": "2013-01-02"}]

    async def test_a_query_comes_from_a_script(self, new_job, lake):
        (lake / "report.sql").write_text("SELECT count(*) AS n\nFROM flights;\n")
        job = new_job(script_location="report.sql")
        assert rows(job.root, await job.run()) == [{"n": 2}]

    async def test_each_statement_of_several_is_logged(self, new_job):
        job = new_job(query="CREATE TEMP TABLE t (a);\nSELECT 1 AS a")
        assert rows(job.root, await job.run()) == [{"a": 1}]
        lines = (job.root / "log").read_text().splitlines()
        assert [line.split(":")[0] for line in lines] == [
            "statement 1 of 2 (line 1, CREATE)",
            "statement 2 of 2 (line 2, SELECT)",
        ]

    async def test_rows_are_reported_while_they_arrive(self, new_job):
        job = new_job(query=ENDLESS.replace("count(*)", "n, 'x' || n"))
        running = asyncio.create_task(job.run())
        async with asyncio.timeout(30):
            while not job.live.rows:  # noqa: ASYNC110  a job tells nobody of its progress here
                await asyncio.sleep(0.01)
        job.stop(StopReason.CANCEL)
        assert (await running)["status"] == "cancelled"


class TestFailing:
    async def test_the_databases_words_and_the_place_are_the_message(self, new_job):
        final = await new_job(query="SELECT carrier\nFROM flights\nWHERE dep_delays > 30").run()
        assert (final["status"], final["result"]) == ("error", None)
        assert final["message"] == (
            "no such column: dep_delays\n  query, line 3: WHERE dep_delays > 30\n  tap flights (sqlite)"
        )

    async def test_the_place_in_a_script_names_the_script(self, new_job, lake):
        (lake / "report.sql").write_text("SELEC 1")
        final = await new_job(script_location="report.sql").run()
        assert "\n  report.sql, line 1: SELEC 1\n" in final["message"]

    async def test_a_missing_script_is_reported(self, new_job):
        final = await new_job(script_location="missing.sql").run()
        assert final["status"] == "error"
        assert "missing.sql does not exist" in final["message"]

    async def test_a_tap_that_was_deleted_meanwhile_is_reported(self, new_job, db_taps, caller, tap_id):
        job = new_job(query="SELECT 1")
        db_taps.delete(tap_id, by=caller)
        final = await job.run()
        assert (final["status"], final["message"]) == ("error", f"there is no DB tap {tap_id} in this account")

    async def test_a_tap_that_is_down_is_reported_without_its_password(self, new_job, db_taps, caller):
        body = DbTapCreate(
            name="w", db_type="postgresql", db_host="127.0.0.1", port=1, db_user="u", db_passwd="geheim-1"
        )
        tap = db_taps.create(body, by=caller)
        job = new_job(query="SELECT 1", db_tap_id=tap.id)
        final = await job.run()
        assert final["message"] == "cannot connect to 127.0.0.1:1: Connection refused\n  tap w (postgresql)"
        files = [file.read_bytes() for file in job.root.rglob("*") if file.is_file()]
        assert not [data for data in files if b"geheim-1" in data]

    async def test_a_killed_worker_is_reported_as_such(self, new_job, lake):
        job = new_job(query=f"DELETE FROM flights; {ENDLESS}")
        running = asyncio.create_task(job.run())
        os.kill(await worker_of(job), signal.SIGKILL)
        final = await running
        assert final["status"] == "error"
        assert final["message"].startswith("the process that ran the query ended before it: it was killed")
        assert count(lake) == 2


class TestStopping:
    @pytest.mark.parametrize("reason", StopReason)
    async def test_a_stop_ends_the_worker_and_changes_nothing(self, new_job, lake, reason):
        job = new_job(query=f"DELETE FROM flights; {ENDLESS}")
        running = asyncio.create_task(job.run())
        pid = await worker_of(job)
        job.stop(reason)
        final = await running
        assert final["status"] == ("error" if reason in (StopReason.TIMEOUT, StopReason.CLUSTER) else "cancelled")
        async with asyncio.timeout(30):
            while psutil.pid_exists(pid):  # noqa: ASYNC110  a worker announces its end before its process's
                await asyncio.sleep(0.01)
        assert count(lake) == 2

    async def test_a_service_that_comes_back_finds_its_query_and_runs_it_once(self, new_job, lake):
        query = "INSERT INTO flights (id) VALUES (10); SELECT max(id) AS id FROM flights"
        first, again = new_job(query=query), new_job(query=query)
        with locked(lake / "flights.db"):
            running = asyncio.create_task(first.run())
            pid = await worker_of(first)
            running.cancel()  # as a service does that stops
            with pytest.raises(asyncio.CancelledError):
                await running
            assert psutil.pid_exists(pid)
            running = asyncio.create_task(again.run())
            assert await worker_of(again) == pid
        final = await running
        assert rows(again.root, final) == [{"id": 10}]
        assert final["pid"] == pid
        assert count(lake) == 3
