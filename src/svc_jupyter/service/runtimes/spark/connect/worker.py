"""The parent of the processes that speak with Spark Connect servers: loads the client once, then forks for each job.

python -m svc_jupyter.service.runtimes.spark.connect.worker

`processes/worker_parent.py` describes how a job arrives and what a worker leaves.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pyarrow as pa
import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.result_file import ResultFile
from svc_jupyter.service.processes.worker_parent import freeze, from_line, serve, write_code
from svc_jupyter.service.runtimes.spark.connect.job import CHECK_FILE, ConnectEndpoint, ConnectJob, Task
from svc_jupyter.service.runtimes.spark.connect.session import connected
from svc_jupyter.service.runtimes.spark.driver.arrow_types import arrow_type, in_arrow_types
from svc_jupyter.service.runtimes.spark.driver.failure import CodeFailure, spark_text
from svc_jupyter.service.runtimes.spark.driver.files import write_json, write_text
from svc_jupyter.service.runtimes.spark.driver.python_code import PythonNames
from svc_jupyter.service.runtimes.spark.driver.sql_code import run_sql
from svc_jupyter.service.runtimes.spark.driver.statement import (
    ERROR_FILE,
    OUT_FILE,
    PROGRESS_FILE,
    RESULT_FILE,
    SUMMARY_FILE,
    Language,
    Statement,
)
from svc_jupyter.service.runtimes.spark.driver.statement import from_json as statement_from
from svc_jupyter.service.runtimes.spark.driver.tables import table_of

_SIGNALLED = 128
_CANCEL_SECONDS = 3
_REPORT_SECONDS = 0.25


def work(job: ConnectJob) -> int:
    """Do a job in this process; return the exit code. The answer is in the job's folder."""
    os.environ.update(job.environment)
    spark = connected(ConnectEndpoint(**job.endpoint))  # type: ignore[arg-type]  # its fields
    requested = threading.Event()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    threading.Thread(target=_end_on_request, args=(job, spark, requested), daemon=True).start()
    try:
        if job.task is Task.RUN:
            code = _run(job, spark)
            if not requested.is_set():
                write_code(job, code)  # the release of its session may end with the process
                signal.alarm(_CANCEL_SECONDS)
        else:
            code = _answered(job, _check if job.task is Task.CHECK else _interrupt, spark)
    finally:
        if not requested.is_set():
            _release(spark)
    while requested.is_set():  # the exit code is the signal's
        signal.pause()
    return code


def _check(spark: SparkSession) -> dict[str, Any]:
    return {"version": spark.version, "client": pyspark.__version__}


def _interrupt(spark: SparkSession) -> dict[str, Any]:
    return {"interrupted": spark.interruptAll()}


def _answered(job: ConnectJob, ask: Callable[[SparkSession], dict[str, Any]], spark: SparkSession) -> int:
    try:
        write_json(job.folder / CHECK_FILE, ask(spark))
    except (PySparkException, grpc.RpcError, CodeFailure) as error:
        write_json(job.folder / ERROR_FILE, {"message": _text(error), "may_retry": True})
        return 1
    return 0


def _run(job: ConnectJob, spark: SparkSession) -> int:
    """Run the statement; write `result.json` or `error.json` into its folder."""
    statement = statement_from(job.statement)
    output = os.open(f"{statement.folder}/{OUT_FILE}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.close(output)
    os.chdir(statement.work)
    progress = _Progress(Path(statement.folder))
    spark.registerProgressHandler(progress)
    failed: dict[str, Any] | None = None
    try:
        summary = _ran(statement, spark, progress)
    except CodeFailure as failure:
        failed = failure.report()
    except QueryFailure as failure:
        failed = {"message": failure.message, "line": None, "may_retry": failure.may_retry}
    except (PySparkException, grpc.RpcError) as error:
        failed = {"message": _text(error), "line": None, "may_retry": True}
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    write_json(Path(statement.folder) / (SUMMARY_FILE if failed is None else ERROR_FILE), failed or summary)
    return 0 if failed is None else 1


def _ran(statement: Statement, spark: SparkSession, progress: _Progress) -> dict[str, Any]:
    take = partial(_rows, folder=Path(statement.folder), progress=progress, min_free_bytes=statement.min_free_bytes)
    if statement.language is Language.PYTHON:
        value = PythonNames({"spark": spark}).run(statement.code, statement.arguments)
        table = None
        if isinstance(value, DataFrame):
            table = take(value)
        elif (own := table_of(value)) is not None:
            table = _written_table(own, Path(statement.folder), progress, statement.min_free_bytes)
        return table or {"rows": None, "message": None}
    return run_sql(statement, spark, take)


def _rows(frame: DataFrame, folder: Path, progress: _Progress, min_free_bytes: int) -> dict[str, Any] | None:
    """Write a table's rows into a folder as they arrive; return its summary, None for a table without columns.

    What Arrow has no type for becomes text.
    """
    try:
        return _written(frame, folder, progress, min_free_bytes)
    except _NoType:
        return _written(in_arrow_types(frame), folder, progress, min_free_bytes)


def _written_table(table: pa.Table, folder: Path, progress: _Progress, min_free_bytes: int) -> dict[str, Any] | None:
    with ResultFile(folder / RESULT_FILE, min_free_bytes=min_free_bytes, on_rows=progress.rows_arrived) as result:
        for batch in table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]:
            result.write(batch)
        return result.finish()


class _NoType(Exception):
    """A column has no type in Arrow."""


def _written(frame: Any, folder: Path, progress: _Progress, min_free_bytes: int) -> dict[str, Any] | None:
    client = frame.sparkSession.client
    plan = frame._plan
    with ResultFile(folder / RESULT_FILE, min_free_bytes=min_free_bytes, on_rows=progress.rows_arrived) as result:
        schema: StructType | None = None
        for answer in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
            if isinstance(answer, StructType):  # it comes before the rows
                schema = answer
                if any(arrow_type(field.dataType) != field.dataType for field in schema):
                    raise _NoType
            elif answer.num_columns:
                for batch in answer.to_batches() or [pa.RecordBatch.from_pylist([], answer.schema)]:
                    result.write(batch.replace_schema_metadata(None))
        if result.schema is None and schema is not None and schema.fields:
            result.write(pa.RecordBatch.from_pylist([], to_arrow_schema(schema, timezone="UTC")))
        return result.finish()


class _Progress:
    """Writes the share of the tasks that are done, and the number of rows; see the client's `ProgressHandler`."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PROGRESS_FILE
        self._percent = 0
        self._rows: int | None = None
        self._written_at = 0.0

    def __call__(self, stages: Iterable[Any] | None, **_: Any) -> None:
        known = list(stages or ())
        of = sum(stage.num_tasks for stage in known)
        if of:
            self._percent = min(99, 100 * sum(stage.num_completed_tasks for stage in known) // of)
            self._write()

    def rows_arrived(self, rows: int) -> None:
        self._rows = rows
        self._write()

    def _write(self) -> None:
        if time.monotonic() - self._written_at >= _REPORT_SECONDS:
            self._written_at = time.monotonic()
            with contextlib.suppress(OSError):
                write_text(self._file, f"{self._percent}{'' if self._rows is None else f' {self._rows}'}\n")


def _text(error: BaseException) -> str:
    if isinstance(error, CodeFailure):
        return error.message
    if isinstance(error, grpc.RpcError):
        return f"{error.code().name.lower().replace('_', ' ')}: {error.details()}"
    return spark_text(error)


def _release(spark: SparkSession) -> None:
    """Let the server forget the session, which it would otherwise keep until it has been idle for long."""
    with contextlib.suppress(PySparkException, grpc.RpcError, CodeFailure):
        spark.client.set_retry_policies([])
        spark.client.release_session()


def _end_on_request(job: ConnectJob, spark: SparkSession, requested: threading.Event) -> None:
    """On SIGTERM ask the server to end what runs in the session, and exit; do not wait for one that does not answer."""
    number = signal.sigwait({signal.SIGTERM, signal.SIGINT})
    requested.set()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(_CANCEL_SECONDS)
    code = _SIGNALLED + number
    with contextlib.suppress(OSError):
        write_code(job, code)
    with contextlib.suppress(PySparkException, grpc.RpcError, CodeFailure):
        spark.interruptAll()
    _release(spark)
    os._exit(code)


def main() -> None:
    """Load, and fork a process for each job."""
    pa.array([1])
    freeze()

    def read(line: bytes) -> ConnectJob:
        job = from_line(ConnectJob, line)
        return ConnectJob(Task(job.task), job.folder, job.log, job.endpoint, job.statement, job.environment)

    serve(read, work)


if __name__ == "__main__":
    if sys.path[0] in ("", str(Path.cwd())):
        del sys.path[0]
    main()
