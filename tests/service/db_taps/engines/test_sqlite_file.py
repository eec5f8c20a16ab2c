"""A query of a file reads the file that was checked, whatever its path leads to meanwhile."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from svc_jupyter.service.db_taps.engines.sqlite_file import confine_to_tap
from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import Connection, EngineName, Job, JobKind
from svc_jupyter.service.processes.landlock import version_here
from svc_jupyter.sql_tokens import Dialect

RACE = """
import sqlite3, sys
from pathlib import Path
from tests.service.db_taps.engines.test_sqlite_file import job_of
from svc_jupyter.service.db_taps.engines.sqlite_file import confine_to_tap

folder = Path(sys.argv[1])
tap = folder / "shared" / "tap" / "service.db"
if sys.argv[2] == "confined":
    confine_to_tap(job_of(tap))
one = sqlite3.connect(tap, isolation_level=None)
one.execute("PRAGMA journal_mode=WAL")
one.execute("INSERT INTO t VALUES ('written')")
one.close()
print("opened", flush=True)
sys.stdin.readline()
try:
    print(sqlite3.connect(tap).execute("SELECT * FROM t").fetchall())
except sqlite3.Error as error:
    print(error)
"""


def job_of(file: Path) -> Job:
    connection = Connection("tap", "SQLite", EngineName.SQLITE, Dialect.SQLITE, file.name, str(file))
    folder = file.parents[2] / "job"
    return Job(JobKind.QUERY, folder, folder / "log", connection, "SELECT 1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two databases of the same name: a tap's, which users may move, and another."""
    (tmp_path / "job").mkdir()
    for place, content in (("shared/tap", "own"), ("private", "secret")):
        (tmp_path / place).mkdir(parents=True)
        with closing(sqlite3.connect(tmp_path / place / "service.db")) as database:
            database.execute("CREATE TABLE t (c)")
            database.execute("INSERT INTO t VALUES (?)", (content,))
            database.commit()
    return tmp_path


def raced(folder: Path, how: str) -> str:
    """Return what a query reads after the tap's folder was replaced by a link."""
    command, tap = [sys.executable, "-c", RACE, str(folder), how], folder / "shared" / "tap"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "opened\n"
        tap.rename(tap.with_name("moved"))
        tap.symlink_to(folder / "private")
        return process.communicate("go\n")[0].strip()


def test_a_folder_that_becomes_a_link_after_the_check_leads_nowhere(folder: Path):
    without_landlock = "[('secret',)]"  # docs/security.md: only the start is checked there
    assert raced(folder, "confined") == ("unable to open database file" if version_here() > 0 else without_landlock)
    with closing(sqlite3.connect(folder / "shared" / "moved" / "service.db")) as database:
        assert database.execute("SELECT * FROM t").fetchall() == [("own",), ("written",)]


def test_without_it_another_database_would_be_read(folder: Path):
    assert raced(folder, "free") == "[('secret',)]"


def test_a_file_or_folder_that_became_a_link_before_is_refused(folder: Path):
    tap = folder / "shared" / "tap" / "service.db"
    (folder / "shared" / "link").symlink_to(folder / "private")
    with pytest.raises(QueryFailure, match="the file was moved or replaced while it was opened"):
        confine_to_tap(job_of(folder / "shared" / "link" / "service.db"))
    tap.unlink()
    tap.symlink_to(folder / "private" / "service.db")
    with pytest.raises(QueryFailure, match="the file was moved or replaced while it was opened"):
        confine_to_tap(job_of(tap))
