"""Runs one job inside a worker process, and records its outcome."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.bindings import NotBound, bound, hint_for, values_given
from svc_jupyter.service.db_taps.catalogue_file import CATALOGUE_FILE, write_catalogue
from svc_jupyter.service.db_taps.engines.engine import Engine
from svc_jupyter.service.db_taps.failures import QueryFailure, Report, report_of
from svc_jupyter.service.db_taps.job import (
    ERROR_FILE,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Job,
    JobKind,
)
from svc_jupyter.service.db_taps.plan_lines import PlanLines
from svc_jupyter.service.db_taps.plans import NOTHING_RUN, NotExplained, explained, first_rows
from svc_jupyter.service.db_taps.result_file import ResultFile
from svc_jupyter.service.db_taps.statements import NotSeparable, Statement, split
from svc_jupyter.service.db_taps.suggestions import suggestions, without_offer
from svc_jupyter.service.ground.errors import Failure

_PROGRESS_SECONDS = 0.25


class Execution:
    """A running job."""

    def __init__(self, job: Job, engine: Engine, log: TextIO | None = None) -> None:
        self.job = job
        self.engine = engine
        self.log = log or sys.stderr
        self.prepare: Callable[[], None] = lambda: None
        """Called first, in the thread of the engine; may raise `QueryFailure`."""

    def run(self) -> int:
        """Run the job, write `result.json` or `error.json` into its folder, and return the exit code."""
        try:
            self.prepare()
            if self.job.kind is JobKind.TABLES:
                summary: Mapping[str, Any] = {"tables": [asdict(table) for table in self.engine.tables()]}
            elif self.job.kind is JobKind.CATALOGUE:
                write_catalogue(self.job.folder / CATALOGUE_FILE, self.engine.catalogue())
                summary = {"catalogue": CATALOGUE_FILE}
            else:
                summary = self.summary()
        except QueryFailure as failure:
            return self._failed(self._report(failure), may_retry=failure.may_retry)
        except NotSeparable as failure:
            return self._failed(self._report(QueryFailure(failure.message)), may_retry=failure.may_retry)
        except ReportedFailure as failure:
            return self._failed(failure.report, may_retry=failure.may_retry)
        _write(self.job.folder / SUMMARY_FILE, summary)
        return 0

    def cancel(self) -> None:
        """Ask the database to end the query."""
        self.engine.cancel()

    def summary(self) -> Mapping[str, Any]:
        """Run the query's statements and return the summary of their result."""
        tap = self.job.connection
        if "\0" in self.job.query:
            raise QueryFailure("the query holds a NUL character", may_retry=False)
        statements = split(self.job.query, tap.dialect)
        if not statements:
            raise QueryFailure("the query holds no statement", may_retry=False)
        if self.job.bindings:
            statements = self._bound(statements)
        if self.job.dry_run:
            statements = [self._explained(statements)]
        with _Script(self.job, statements, self.log) as script:
            try:
                self.engine.run(statements, script)
            except QueryFailure as failure:
                report = self._report(failure, script.statement, only_one=len(statements) == 1)
                raise ReportedFailure(report, may_retry=failure.may_retry) from None
            return script.summary()

    def _bound(self, statements: list[Statement]) -> list[Statement]:
        try:
            return bound(statements, values_given(self.job.bindings), self.job.connection.dialect)
        except NotBound as failure:
            raise ReportedFailure(self._report(failure, failure.statement), may_retry=False) from None

    def _explained(self, statements: list[Statement]) -> Statement:
        tap = self.job.connection
        try:
            return explained(statements, tap.dialect, is_spark=tap.is_spark)
        except NotExplained as failure:
            raise ReportedFailure(self._report(failure, failure.statement), may_retry=False) from None

    def _report(self, failure: QueryFailure, statement: Statement | None = None, *, only_one: bool = True) -> Report:
        tap = self.job.connection
        meant: Sequence[str] = ()
        if statement is not None:
            message, offered = without_offer(failure.message)
            meant = suggestions(message, offered, statement, tap.dialect, self.engine.known)
            if failure.hint is None and not self.job.bindings:
                failure.hint = hint_for(message, statement.text, tap.dialect)
        return report_of(
            failure,
            script=self.job.query,
            source=self.job.source,
            statement=statement,
            only_one=only_one,
            target=f"{tap.noun} {tap.tap} ({tap.db_type})",
            did_you_mean=meant,
        )

    def _failed(self, report: Report, *, may_retry: bool) -> int:
        error = {"message": report.message, "may_retry": may_retry, "failure": asdict(report)}
        _write(self.job.folder / ERROR_FILE, error)
        return 1


class ReportedFailure(Failure):
    """A failure whose report for the user is complete."""

    def __init__(self, report: Report, *, may_retry: bool) -> None:
        super().__init__(report.message, may_retry=may_retry)
        self.report = report


class _Script:
    """The sink of a script's statements: keeps the last table, reports progress, logs each of several statements."""

    def __init__(self, job: Job, statements: list[Statement], log: TextIO) -> None:
        self.statement: Statement | None = None
        self._script = job.query
        self._count = len(statements)
        self._log = log
        self._done = 0
        self._changed = 0
        self._counts_changes = False
        self._progress_file = job.folder / PROGRESS_FILE
        self._reported_at = time.monotonic()
        self._started_at = 0.0
        self._rows = 0
        self._share = 0.0
        self._plan = PlanLines() if job.dry_run else None
        self.limit = job.limit
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
        if self._plan is not None:
            batch = self._plan.of(batch)
        elif self.limit is not None:
            if self.is_full:
                return
            batch = batch.slice(0, self.limit - self._result.rows)
        self._result.write(batch)

    @property
    def is_full(self) -> bool:
        return self.limit is not None and self._result.rows >= self.limit

    def became_text(self, column: str, reason: str) -> None:
        self._result.became_text(column, reason)

    def done(self, changed: int | None) -> None:
        self._done += 1
        self._share = 0.0
        self._counts_changes |= changed is not None
        self._changed += changed or 0
        if self._count > 1 and self.statement is not None:
            line = self._script.count("\n", 0, self.statement.first) + 1
            what = count_rows(self._rows) if self._rows else _changed(changed)
            seconds = time.monotonic() - self._started_at
            self._say(
                f"statement {self._done} of {self._count} (line {line}, {self.statement.keyword}): "
                f"{what}, {seconds:.2f} s"
            )
            self._report()

    def working(self, share: float) -> None:
        self._share = share
        if not self._rows and time.monotonic() - self._reported_at >= _PROGRESS_SECONDS:
            self._report()

    def restart(self) -> None:
        self._result.discard()
        self._done = self._changed = 0
        self._say("a column holds values of several types: rolled back and run again value by value")

    def summary(self) -> Mapping[str, Any]:
        """Put the result in its place and return its summary."""
        told = [NOTHING_RUN] if self._plan is not None else []
        if self.limit is not None and self.is_full:
            told.append(first_rows(self.limit))
        summary = self._result.finish()
        if summary is not None:
            return {**summary, "notes": [*summary["notes"], *told]}
        statements = "1 statement" if self._count == 1 else f"{self._count} statements"
        changed = f", {count_rows(self._changed)} changed" if self._counts_changes else ""
        return {"rows": None, "message": f"{statements} done{changed}, no table returned"}

    def _say(self, line: str) -> None:
        print(line, file=self._log, flush=True)

    def _on_rows(self, rows: int) -> None:
        self._rows = rows
        if time.monotonic() - self._reported_at >= _PROGRESS_SECONDS:
            self._report()

    def _report(self) -> None:
        self._reported_at = time.monotonic()
        percent = int(99 * (self._done + self._share) / self._count)
        write_whole(self._progress_file, f"{percent} {self._rows}\n")


def _changed(rows: int | None) -> str:
    return "done" if rows is None else f"{count_rows(rows)} changed"


def count_rows(count: int) -> str:
    """Return a number of rows as text."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def _write(path: Path, value: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(value))
