"""Keeps a catalogue per database: schemas, tables, columns and functions, in files that are written behind.

Nobody waits for a first reading unless the request says so; later ones replace the file when they are complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

import structlog

from svc_jupyter.api.catalogues import (
    FOUND_COLUMNS_LIMIT,
    FUNCTIONS_LIMIT,
    Catalogue,
    CatalogueColumn,
    CatalogueColumns,
    CatalogueFunction,
    CatalogueFunctions,
    CatalogueSchema,
    CatalogueState,
    CatalogueTable,
    CatalogueTables,
    ColumnsOfTable,
    SqlProblems,
)
from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile, Facts
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import ServiceError
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.sql_tokens import Dialect

FRESH_SECONDS: Final = 600.0
RETRY_SECONDS: Final = 30.0
"""How long after a failure the database is not asked again."""
_CHECK_WAITS_SECONDS: Final = 2.0
_READING: Final = ".reading-"
_LEFT_SECONDS: Final = 3600.0
_UNUSED_SECONDS: Final = 30 * 24 * 3600.0
HIVE_KEY: Final = "hive"
_CHANGES_TABLES: Final = re.compile(r"\b(create|alter|drop|rename|truncate|into)\b", re.IGNORECASE)
_ON_HIVE: Final = frozenset({CommandType.HIVE, CommandType.PRESTO, CommandType.SQL, CommandType.SPARK})
_TRANSFERS: Final = frozenset({CommandType.DB_EXPORT, CommandType.DB_IMPORT})
log = structlog.get_logger(__name__)


class Source(Protocol):
    """A database whose catalogue is kept."""

    @property
    def key(self) -> str:
        """Its name among the catalogues, such as `tap-3`."""

    @property
    def identity(self) -> str:
        """A text of letters and digits that changes when another database has the key."""

    @property
    def is_asleep(self) -> bool:
        """Whether a reading would have to start it first; so it has not changed since the last one."""

    async def dialect(self) -> Dialect:
        """Return the dialect of its SQL. Raises `ServiceError` for a tap that cannot be used."""

    async def write(self, folder: Path) -> Path:
        """Write the catalogue into a file in the folder and return its path. Raises `ServiceError`."""


@dataclass(slots=True)
class _Reading:
    """The state of a catalogue in this process."""

    source: Source
    task: asyncio.Task[None] | None = None
    is_outdated: bool = False
    """A statement has changed the tables since the last reading began."""
    error: str | None = None
    failed_at: float = float("-inf")
    failing_since: float = 0.0

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()


class Catalogues:
    """The catalogues of all databases that somebody looked at."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._folder = settings.data_dir / "catalogues"
        self._clock = clock
        self._readings: dict[str, _Reading] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopped = False

    async def start(self) -> None:
        """Take note of the loop: ends of commands come from other threads."""
        self._loop = asyncio.get_running_loop()

    async def stop(self) -> None:
        """End the readings under way."""
        self._is_stopped = True
        tasks = [reading.task for reading in self._readings.values() if reading.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def overview(self, source: Source, *, wait_seconds: float = 0.0, refresh: bool = False) -> Catalogue:
        """Return the state and the schemas; a missing or old catalogue is read behind.

        `wait_seconds` limits the wait for a first reading, and with `refresh` for the new one.
        """
        file = self._file(source)
        facts = await asyncio.to_thread(_facts, file)
        reading = self._look_after(source, facts, at_once=refresh)
        if reading.task is not None and reading.is_running and wait_seconds and (facts is None or refresh):
            await asyncio.wait({reading.task}, timeout=wait_seconds)
            facts = await asyncio.to_thread(_facts, file)
        schemas = await asyncio.to_thread(file.schemas) if facts is not None else []
        state = CatalogueState.FILLING if facts is None else CatalogueState.READY
        if reading.error is not None:
            state = CatalogueState.FAILED
        return Catalogue(
            state=state,
            version=facts.version if facts else None,
            as_of=iso_time(facts.as_of) if facts else None,
            reading=reading.is_running,
            default_schema=facts.default_schema if facts else None,
            dialect=await _dialect(source),
            schemas=[CatalogueSchema(name=name, tables=count) for name, count in schemas],
            error=reading.error,
            failing_since=iso_time(reading.failing_since) if reading.error is not None else None,
        )

    async def tables(
        self, source: Source, *, schema: str | None, search: str | None, offset: int, limit: int
    ) -> CatalogueTables:
        """Return a part of the tables; none as long as the catalogue was never read."""
        file = self._file(source)
        facts = await asyncio.to_thread(_facts, file)
        self._look_after(source, facts)
        if facts is None:
            return CatalogueTables(tables=[], offset=offset, total=0)
        rows, total = await asyncio.to_thread(file.tables, schema, search, offset, limit)
        tables = [
            CatalogueTable(schema_name=schema_name, name=name, type=kind, rows=count, columns=columns)
            for schema_name, name, kind, count, columns in rows
        ]
        return CatalogueTables(version=facts.version, tables=tables, offset=offset, total=total)

    async def columns(self, source: Source, schema: str, names: Sequence[str]) -> CatalogueColumns:
        """Return the columns of some tables of a schema; unknown tables are left out."""
        file = self._file(source)
        facts = await asyncio.to_thread(_facts, file)
        self._look_after(source, facts)
        if facts is None:
            return CatalogueColumns(tables=[])
        found = await asyncio.to_thread(file.columns, schema, names)
        tables = [
            ColumnsOfTable(
                schema_name=schema,
                name=name,
                columns=[CatalogueColumn(name=column, type=kind) for column, kind in columns],
            )
            for name, columns in found.items()
        ]
        return CatalogueColumns(version=facts.version, tables=tables)

    async def columns_with(self, source: Source, search: str) -> CatalogueColumns:
        """Return the columns with a text in their name, by their tables; none as long as nothing was ever read.

        Unlike the other calls it does not begin to read: a search asks for what is known.
        """
        file = self._file(source)
        facts = await asyncio.to_thread(_facts, file)
        if facts is None:
            return CatalogueColumns(tables=[])
        tables: dict[tuple[str, str], ColumnsOfTable] = {}
        for schema, name, column, kind in await asyncio.to_thread(file.columns_with, search, FOUND_COLUMNS_LIMIT):
            table = tables.setdefault((schema, name), ColumnsOfTable(schema_name=schema, name=name, columns=[]))
            table.columns.append(CatalogueColumn(name=column, type=kind))
        return CatalogueColumns(version=facts.version, tables=list(tables.values()))

    async def functions(self, source: Source) -> CatalogueFunctions:
        """Return the functions that users have made; none as long as the catalogue was never read."""
        file = self._file(source)
        facts = await asyncio.to_thread(_facts, file)
        self._look_after(source, facts)
        if facts is None:
            return CatalogueFunctions(functions=[])
        found = await asyncio.to_thread(file.functions, FUNCTIONS_LIMIT)
        functions = [CatalogueFunction(schema_name=schema, name=name, type=kind) for schema, name, kind in found]
        return CatalogueFunctions(version=facts.version, functions=functions)

    async def problems(self, source: Source, query: str, dialect: Dialect) -> SqlProblems:
        """Return what is wrong with a script, after a short wait for a reading under way: it may know new tables.

        A script that nobody has run yet starts no database, and none is read whose scripts cannot be checked.
        """
        from svc_jupyter.service.catalogues.checks import CHECKED, problems  # takes 0.3 s and 40 MB

        file = self._file(source)
        if dialect in CHECKED and not source.is_asleep:
            reading = self._look_after(source, await asyncio.to_thread(_facts, file))
            if reading.task is not None:
                await asyncio.wait({reading.task}, timeout=_CHECK_WAITS_SECONDS)
        return SqlProblems(problems=await asyncio.to_thread(problems, query, dialect, file))

    def on_command_end(self, _connection: object, row: CommandRow) -> None:
        """Read again, behind, what the statements of an ended command may have changed. Called in any thread."""
        keys = changed_by(row)
        if keys and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._outdate, keys)

    async def sweep(self) -> None:
        """Remove the files of databases that nobody has looked at for a month."""
        now = self._clock()
        await asyncio.to_thread(self._remove, lambda file: file.stat().st_mtime < now - _UNUSED_SECONDS)
        await asyncio.to_thread(self._remove_leftovers, now)

    def _outdate(self, keys: Sequence[str]) -> None:
        for key in keys:
            reading = self._readings.get(key)
            if reading is not None:
                reading.is_outdated = True
                if not reading.is_running:
                    self._begin(reading)

    def _look_after(self, source: Source, facts: Facts | None, *, at_once: bool = False) -> _Reading:
        """Begin to read a catalogue that is missing, old or outdated; return its state."""
        reading = self._readings.get(source.key)
        if reading is None or reading.source.identity != source.identity:
            if reading is not None and reading.task is not None:
                reading.task.cancel()
            reading = self._readings[source.key] = _Reading(source)
        now = self._clock()
        is_wanted = facts is None or reading.is_outdated or now - facts.as_of > FRESH_SECONDS
        if not reading.is_running and (at_once or (is_wanted and now - reading.failed_at > RETRY_SECONDS)):
            self._begin(reading)
        return reading

    def _begin(self, reading: _Reading) -> None:
        if not self._is_stopped:
            reading.task = asyncio.create_task(self._read(reading), name=f"catalogue {reading.source.key}")

    async def _read(self, reading: _Reading) -> None:
        reading.is_outdated = False
        try:
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=_READING, dir=self._folder) as name:
                written = await reading.source.write(Path(name))
                await asyncio.to_thread(self._replace, reading.source, written)
        except (ServiceError, OSError) as error:
            message = error.message if isinstance(error, ServiceError) else str(error)
            reading.failed_at = self._clock()
            reading.failing_since = reading.failing_since if reading.error is not None else reading.failed_at
            reading.error = message
            log.warning("catalogue_not_read", catalogue=reading.source.key)
        else:
            reading.error, reading.failed_at = None, float("-inf")
        if reading.is_outdated:
            asyncio.get_running_loop().call_soon(self._outdate, [reading.source.key])

    def _replace(self, source: Source, written: Path) -> None:
        file = self._file(source).path
        written.replace(file)
        self._remove(lambda other: other.name.startswith(f"{source.key}.") and other != file)

    def _remove(self, is_old: Callable[[Path], bool]) -> None:
        for file in self._folder.glob("*.*.db"):
            with contextlib.suppress(FileNotFoundError):
                if is_old(file):
                    file.unlink()

    def _remove_leftovers(self, now: float) -> None:
        """Remove the folders of readings that a killed service has left."""
        for folder in self._folder.glob(f"{_READING}*"):
            with contextlib.suppress(FileNotFoundError):
                if folder.stat().st_mtime < now - _LEFT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def _file(self, source: Source) -> CatalogueFile:
        return CatalogueFile(self._folder / f"{source.key}.{source.identity}.db")


def changed_by(row: CommandRow) -> list[str]:
    """Return the keys of the catalogues that an ended command may have changed."""
    command: Any = row.command
    tap = f"tap-{command.get('db_tap_id') or command.get('dbtap_id')}"
    if row.command_type in _TRANSFERS:
        return [HIVE_KEY, tap]
    text = command.get("query")
    if text is not None and not _CHANGES_TABLES.search(text):
        return []
    if row.command_type == CommandType.DB_TAP_QUERY:
        return [tap]
    return [HIVE_KEY] if row.command_type in _ON_HIVE else []


async def _dialect(source: Source) -> Dialect | None:
    try:
        return await source.dialect()
    except ServiceError:
        return None  # a reading reports it


def _facts(file: CatalogueFile) -> Facts | None:
    try:
        return file.facts()
    except FileNotFoundError:
        return None
