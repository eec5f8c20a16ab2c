"""A transfer between a Hive table and a tap, in a worker: reads everything, then writes all of it or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa
import pyarrow.parquet as parquet

from svc_jupyter.api.result_forms import field_texts
from svc_jupyter.files import write_whole
from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.engines.engine import Engine, Sink
from svc_jupyter.service.db_taps.execution import Execution, ReportedFailure, count_rows
from svc_jupyter.service.db_taps.failures import QueryFailure, report_of
from svc_jupyter.service.db_taps.job import PROGRESS_FILE, Connection, Job, JobKind
from svc_jupyter.service.db_taps.result_file import ResultFile
from svc_jupyter.service.db_taps.statements import Statement, split
from svc_jupyter.service.kinds.db_transfer.target import write_table
from svc_jupyter.service.kinds.hive.engine import HiveEngine
from svc_jupyter.sql_tokens import Dialect

_ROWS: Final = "rows.arrow"
_PARQUET: Final = "rows.parquet"
_READ_SHARE: Final = 0.5
"""Share of a transfer's progress that is reading."""


@dataclass(frozen=True, slots=True)
class Side:
    """Where a failed statement ran, for the message."""

    connection: Connection
    script: str


class Transfer:
    """One transfer. `open_tap` opens the tap's engine."""

    def __init__(
        self,
        job: Job,
        open_tap: Callable[[], Engine],
        say: Callable[[str], None],
        report: Callable[[float, int], None],
    ) -> None:
        assert job.hive is not None
        self._job = job
        self._plan: Mapping[str, Any] = json.loads(job.query)
        self._hive = HiveEngine(job.hive, job.folder)
        self._tap = open_tap()
        self._say = say
        self._report = report
        self.side = Side(job.connection, "")
        """The database in use now."""

    @property
    def target(self) -> str:
        """Return a description of the target."""
        if self._job.kind is JobKind.EXPORT:
            return f"{self._plan['db_table']} of tap {self._job.connection.tap}"
        return f"Hive table {self._plan['hive_table']}"

    def run(self) -> int:
        """Run the transfer; return the number of rows. Raises `QueryFailure`."""
        rows = self._job.folder / _ROWS
        try:
            return self._export(rows) if self._job.kind is JobKind.EXPORT else self._import(rows)
        finally:
            for name in (_ROWS, _PARQUET):
                (self._job.folder / name).unlink(missing_ok=True)

    def cancel(self) -> None:
        """Cancel the running statement; uncommitted work is rolled back with the connection."""
        self._hive.cancel()
        self._tap.cancel()

    def _export(self, path: Path) -> int:
        schema, count = self._read(self._hive, self._job.hive, self._plan["select"], path)
        self._say(f"{count:,} rows read from {self._plan['hive_table']}")
        self.side = Side(self._job.connection, "")
        fixed = set(self._plan["partition"])
        write_table(self._job.connection, self._plan["db_table"], self._plan["keys"], fixed, schema, batches(path))
        return count

    def _import(self, path: Path) -> int:
        schema, count = self._read(self._tap, self._job.connection, self._plan["select"], path)
        self._say(f"{count:,} rows read from tap {self._job.connection.tap}")
        kinds = [storable(kind) for kind in schema.types]
        self._check_names(schema)
        target = self._job.folder / _PARQUET
        columns = pa.schema(list(zip(schema.names, kinds, strict=True)))
        with parquet.ParquetWriter(target, columns) as writer:
            for batch in batches(path):
                arrays = [stored(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=columns))
        path.unlink()
        self._fill(columns, target)
        return count

    def _fill(self, columns: pa.Schema, target: Path) -> None:
        """Create the table if it is missing, and insert the file's rows by one statement, which is all or nothing."""
        partition: Mapping[str, str] = self._plan["partition"]
        table = _hive_quoted(self._plan["hive_table"])
        names = ", ".join(f"`{name}`" for name in columns.names)
        described = ", ".join(
            f"`{name}` {hive_name(kind)}" for name, kind in zip(columns.names, columns.types, strict=True)
        )
        by = ", ".join(f"`{name}` string" for name in partition)
        into = ", ".join(f"`{name}`={_literal(value)}" for name, value in partition.items())
        script = (  # quoted names of a table and columns that were checked
            f"CREATE TABLE IF NOT EXISTS {table} ({described})"  # noqa: S608
            f"{f' PARTITIONED BY ({by})' if by else ''} STORED AS {self._plan['format']};\n"
            f"INSERT INTO {table}"
            f"{f' PARTITION ({into})' if into else ''} ({names}) "
            f"SELECT {names} FROM parquet.`{target.as_uri()}`"
        )
        assert self._job.hive is not None
        self.side = Side(self._job.hive, script)
        ignored = self._rows_to(target.with_name("none.arrow"), start=_READ_SHARE)
        self._hive.run(split(script, Dialect.HIVE), ignored)

    def _read(self, engine: Engine, connection: Connection | None, script: str, path: Path) -> tuple[pa.Schema, int]:
        assert connection is not None
        self.side = Side(connection, script)
        rows = self._rows_to(path, start=0.0)
        engine.run(split(script, connection.dialect), rows)
        found = rows.finish()
        if found is None:
            raise QueryFailure("the query returns no table", may_retry=False)
        if not path.exists():
            raise QueryFailure("the rows could not be kept")
        return found

    def _rows_to(self, path: Path, *, start: float) -> Rows:
        return Rows(
            path,
            min_free_bytes=self._job.min_free_bytes,
            report=lambda share, rows: self._report(start + _READ_SHARE * share, rows),
        )

    @staticmethod
    def _check_names(schema: pa.Schema) -> None:
        lowered = [name.lower() for name in schema.names]
        doubled = sorted({name for name in lowered if lowered.count(name) > 1})
        if doubled:
            raise QueryFailure(
                f"column {doubled[0]!r} is there twice: give the columns names of their own", may_retry=False
            )
        odd = [name for name in schema.names if not name or "`" in name]
        if odd:
            raise QueryFailure(
                f"{odd[0]!r} cannot be the name of a Hive column: give it another one by AS", may_retry=False
            )


def _hive_quoted(name: str) -> str:
    return ".".join(f"`{part}`" for part in name.split("."))


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


class Rows(Sink):
    """Takes the last table that a script returns."""

    def __init__(self, path: Path, *, min_free_bytes: int, report: Callable[[float, int], None]) -> None:
        """`report` is called with the share of the statement that is done, 0 to 1, and the rows so far."""
        self.path = path
        self._share = 0.0
        self._report = report
        self._file = ResultFile(path, min_free_bytes=min_free_bytes, on_rows=lambda rows: report(self._share, rows))

    def start(self, statement: Statement) -> None:
        """See `Sink.start`."""

    def table(self) -> None:
        """See `Sink.table`."""
        self._file.discard()

    def write(self, batch: pa.RecordBatch) -> None:
        """See `Sink.write`."""
        self._file.write(batch)

    def became_text(self, column: str, reason: str) -> None:
        """See `Sink.became_text`."""

    def done(self, changed: int | None) -> None:
        """See `Sink.done`."""

    def working(self, share: float) -> None:
        """See `Sink.working`."""
        self._share = share
        self._report(share, 0)

    def restart(self) -> None:
        """See `Sink.restart`."""
        self._file.discard()

    def finish(self) -> tuple[pa.Schema, int] | None:
        """Close the file; return its columns and the number of rows, None if no statement returned a table."""
        schema, rows = self._file.schema, self._file.rows
        self._file.finish()
        return None if schema is None else (schema, rows)


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a finished file."""
    with pa.OSFile(str(path), "rb") as source, pa.ipc.open_stream(source) as stream:
        yield from stream


_MOST_DIGITS: Final = 38
_NAMES: Final[dict[Kind, str]] = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}
_WIDER: Final[dict[Kind, Kind]] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.date64(): pa.date32(),
}


def storable(kind: Kind) -> Kind:
    """Return the lossless type that Hive can store for this one; text where there is none.

    A timestamp with a zone becomes a UTC time.
    """
    if kind in _NAMES:
        return kind
    if pa.types.is_decimal(kind):
        fits = kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision
        return pa.decimal128(kind.precision, kind.scale) if fits else pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us")
    return _WIDER.get(kind, pa.string())


def hive_name(kind: Kind) -> str:
    """Return Hive's name for a `storable` type."""
    return f"decimal({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else _NAMES[kind]


def stored(column: Column, kind: Kind) -> Column:
    """Return a column in its `storable` type; lists and structs become JSON."""
    if column.type.equals(kind):
        return column
    if pa.types.is_nested(column.type):
        return pa.array(field_texts(column), pa.string())
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.timestamp("us", "UTC"), safe=False).cast(kind)
    if pa.types.is_string(kind) and (pa.types.is_time(column.type) or pa.types.is_duration(column.type)):
        return pa.array((None if value is None else str(value) for value in column.to_pylist()), pa.string())
    return column.cast(kind, safe=not pa.types.is_timestamp(kind))


class TransferExecution(Execution):
    """A running transfer; the engine is the tap's."""

    def __init__(self, job: Job, engine: Engine, log: TextIO | None = None) -> None:
        super().__init__(job, engine, log)
        self._moving: Transfer | None = None

    def cancel(self) -> None:
        """Ask both databases to stop their statements."""
        super().cancel()
        if self._moving is not None:
            self._moving.cancel()

    def summary(self) -> Mapping[str, Any]:
        """Move the rows and return their number."""
        progress = self.job.folder / PROGRESS_FILE
        moving = self._moving = Transfer(
            self.job,
            lambda: self.engine,
            lambda line: print(line, file=self.log, flush=True),
            lambda share, rows: write_whole(progress, f"{int(99 * share)} {rows}\n"),
        )
        try:
            moved = moving.run()
        except QueryFailure as failure:
            side = moving.side
            report = report_of(
                failure,
                script=side.script,
                source=self.job.source,
                statement=None,
                only_one=True,
                target=f"{side.connection.noun} {side.connection.tap} ({side.connection.db_type})",
            )
            raise ReportedFailure(report, may_retry=failure.may_retry) from None
        return {"moved": moved, "target": moving.target, "message": f"{count_rows(moved)} written to {moving.target}"}
