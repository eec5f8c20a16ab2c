"""Running one job inside a worker process, and writing down how it ended."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa

from svc_jupyter.service.db_taps.engines.engine import Engine
from svc_jupyter.service.db_taps.failures import QueryFailure, describe
from svc_jupyter.service.db_taps.job import (
    ERROR_FILE,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    EngineName,
    Job,
    JobKind,
)
from svc_jupyter.service.db_taps.result_file import ResultFile
from svc_jupyter.service.db_taps.statements import Statement, split

if TYPE_CHECKING:
    from svc_jupyter.service.db_taps.transfers.transfer import Transfer

_PROGRESS_SECONDS = 0.25


def open_engine(job: Job) -> Engine:
    """Return the engine for a job's connection; what only one of them needs is imported here."""
    connection = job.connection
    if connection.engine is EngineName.HIVE:
        from svc_jupyter.service.db_taps.engines.hive.engine import HiveEngine

        return HiveEngine(connection, job.folder)
    if connection.engine is EngineName.PRESTO:
        from svc_jupyter.service.db_taps.engines.presto.engine import PrestoSqlEngine

        return PrestoSqlEngine(connection, job.folder)
    if connection.engine is EngineName.SQLITE:
        from svc_jupyter.service.db_taps.engines.sqlite import SqliteEngine

        return SqliteEngine(connection)
    if connection.engine is EngineName.POSTGRESQL:
        from svc_jupyter.service.db_taps.engines.postgresql import PostgresqlEngine

        return PostgresqlEngine(connection)
    from svc_jupyter.service.db_taps.engines.sqlalchemy_url import SqlalchemyEngine

    return SqlalchemyEngine(connection)


class Execution:
    """A job under way."""

    def __init__(self, job: Job, engine: Engine, log: TextIO | None = None) -> None:
        self._job = job
        self._engine = engine
        self._log = log or sys.stderr
        self._moving: Transfer | None = None

    def run(self) -> int:
        """Do the job, write `result.json` or `error.json` into its folder, and return the exit code."""
        try:
            if self._job.kind is JobKind.TABLES:
                summary: Mapping[str, Any] = {"tables": [asdict(table) for table in self._engine.tables()]}
            elif self._job.hive is not None:
                summary = self._transfer()
            else:
                summary = self._query()
        except QueryFailure as failure:
            tap = self._job.connection
            text = describe(
                failure,
                script=self._job.query,
                source=self._job.source,
                statement=None,
                only_one=True,
                tap=f"{tap.tap} ({tap.db_type})",
                noun=tap.noun,
            )
            return self._failed(text, may_retry=failure.may_retry)
        except DescribedFailure as failure:
            return self._failed(failure.text, may_retry=failure.may_retry)
        _write(self._job.folder / SUMMARY_FILE, summary)
        return 0

    def cancel(self) -> None:
        """Ask the database to end the query."""
        self._engine.cancel()
        if self._moving is not None:
            self._moving.cancel()

    def _query(self) -> Mapping[str, Any]:
        tap = self._job.connection
        statements = split(self._job.query, tap.dialect)
        if "\0" in self._job.query:
            raise QueryFailure("the query holds a NUL character", may_retry=False)
        if not statements:
            raise QueryFailure("the query holds no statement", may_retry=False)
        with _Script(self._job, statements, self._log) as script:
            try:
                self._engine.run(statements, script)
            except QueryFailure as failure:
                text = describe(
                    failure,
                    script=self._job.query,
                    source=self._job.source,
                    statement=script.statement,
                    only_one=len(statements) == 1,
                    tap=f"{tap.tap} ({tap.db_type})",
                    noun=tap.noun,
                )
                raise DescribedFailure(text, may_retry=failure.may_retry) from None
            return script.summary()

    def _transfer(self) -> Mapping[str, Any]:
        from svc_jupyter.service.db_taps.transfers.transfer import Transfer

        progress = self._job.folder / PROGRESS_FILE
        moving = self._moving = Transfer(
            self._job,
            lambda: self._engine,
            lambda line: print(line, file=self._log, flush=True),
            lambda share, rows: _replace(progress, f"{int(99 * share)} {rows}\n"),
        )
        try:
            moved = moving.run()
        except QueryFailure as failure:
            side = moving.side
            text = describe(
                failure,
                script=side.script,
                source=self._job.source,
                statement=None,
                only_one=True,
                tap=f"{side.connection.tap} ({side.connection.db_type})",
                noun=side.connection.noun,
            )
            raise DescribedFailure(text, may_retry=failure.may_retry) from None
        return {"moved": moved, "target": moving.target, "message": f"{_rows(moved)} written to {moving.target}"}

    def _failed(self, text: str, *, may_retry: bool) -> int:
        _write(self._job.folder / ERROR_FILE, {"message": text, "may_retry": may_retry})
        return 1


class DescribedFailure(Exception):
    """A failure whose text for the user is complete."""

    def __init__(self, text: str, *, may_retry: bool) -> None:
        super().__init__(text)
        self.text = text
        self.may_retry = may_retry


class _Script:
    """The sink of a script's statements: keeps the last table, tells progress, logs each statement of several."""

    def __init__(self, job: Job, statements: list[Statement], log: TextIO) -> None:
        self.statement: Statement | None = None
        self._script = job.query
        self._count = len(statements)
        self._log = log
        self._done = 0
        self._changed = 0
        self._counts_changes = False
        self._progress_file = job.folder / PROGRESS_FILE
        self._told_at = time.monotonic()
        self._started_at = 0.0
        self._rows = 0
        self._share = 0.0
        self._result = ResultFile(job.folder / RESULT_FILE, min_free_bytes=job.min_free_bytes, on_rows=self._on_rows)

    def __enter__(self) -> _Script:
        return self

    def __exit__(self, *_: object) -> None:
        self._result.discard()

    def start(self, statement: Statement) -> None:
        self.statement = statement
        self._started_at = time.monotonic()
        self._rows, self._share = 0, 0.0

    def table(self) -> None:
        self._result.discard()

    def write(self, batch: pa.RecordBatch) -> None:
        self._result.write(batch)

    def done(self, changed: int | None) -> None:
        self._done += 1
        self._share = 0.0
        self._counts_changes |= changed is not None
        self._changed += changed or 0
        if self._count > 1 and self.statement is not None:
            line = self._script.count("\n", 0, self.statement.start) + 1
            what = _rows(self._rows) if self._rows else _changed(changed)
            seconds = time.monotonic() - self._started_at
            self._say(
                f"statement {self._done} of {self._count} (line {line}, {self.statement.keyword}): "
                f"{what}, {seconds:.2f} s"
            )
            self._tell()

    def working(self, share: float) -> None:
        self._share = share
        if not self._rows and time.monotonic() - self._told_at >= _PROGRESS_SECONDS:
            self._tell()

    def restart(self) -> None:
        self._result.discard()
        self._done = self._changed = 0
        self._say("a column holds values of several types: rolled back and run again value by value")

    def summary(self) -> Mapping[str, Any]:
        """Put the result in its place and return what is to be known of it."""
        schema, rows = self._result.schema, self._result.rows
        size = self._result.finish()
        if schema is not None:
            return {"rows": rows, "size": size, "columns": [[field.name, str(field.type)] for field in schema]}
        statements = "1 statement" if self._count == 1 else f"{self._count} statements"
        changed = f", {_rows(self._changed)} changed" if self._counts_changes else ""
        return {"rows": None, "message": f"{statements} done{changed}, no table returned"}

    def _say(self, line: str) -> None:
        print(line, file=self._log, flush=True)

    def _on_rows(self, rows: int) -> None:
        self._rows = rows
        if time.monotonic() - self._told_at >= _PROGRESS_SECONDS:
            self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        percent = int(99 * (self._done + self._share) / self._count)
        _replace(self._progress_file, f"{percent} {self._rows}\n")


def _changed(rows: int | None) -> str:
    return "done" if rows is None else f"{_rows(rows)} changed"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _write(path: Path, value: Mapping[str, Any]) -> None:
    _replace(path, json.dumps(value))


def _replace(path: Path, text: str) -> None:
    """Write a small file so that a reader sees it whole."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, "utf-8")
    part.rename(path)
