"""Runs one statement in a session, in any language, and records its end."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from .arrow_result import write_rows, write_table
from .completion import Completion
from .failure import CodeFailure, spark_text
from .files import write_json
from .messages import SESSION, Messages
from .notebook_context import NotebookContext
from .python_code import PythonNames
from .scala_code import ScalaInterpreter
from .scala_notebook import ScalaNotebook
from .sql_code import run_sql
from .statement import ERROR_FILE, OUT_FILE, SUMMARY_FILE, Language, Statement
from .tables import table_of

_REPORT_SECONDS = 0.25
_DRIVER_GONE = "Spark's driver ended while the program ran: did the program end it, or did its memory run out?"


class Execution:
    """What runs statements in one session: its Python names, its Scala interpreter."""

    def __init__(self, spark: SparkSession, classes: Path, number: int, report_rows: Callable[[int], None]) -> None:
        """`classes` is the folder from which executors load Scala's classes; `number` is the session's."""
        self._spark = spark
        self._classes = classes
        self._number = number
        self._report_rows = report_rows
        self._reported_at = 0.0
        self._python = PythonNames({"spark": spark, "sc": spark.sparkContext, "sqlContext": None})
        self.completion = Completion(spark, self._python.module.__dict__)
        """What answers questions about the session's names and tables."""
        self._key = secrets.token_hex(4)
        self._scala: ScalaInterpreter | None = None
        self._scala_notebook: ScalaNotebook | None = None

    def run(self, statement: Statement) -> bool:
        """Run a statement; write `result.json` or `error.json` into its folder. Return whether it succeeded."""
        folder = Path(statement.folder)
        messages = Messages(folder, folder / OUT_FILE) if statement.note is not None else None
        context = None
        live: AbstractContextManager[None] = nullcontext()
        if messages is not None:
            context = NotebookContext(self._spark, statement.note or {}, messages, folder)
            self._python.module.__dict__["z"] = context
            if statement.is_cell:
                messages.emit(SESSION, self._key)
                live = messages.live()
        summary: dict[str, Any] = {}
        failed = True
        try:
            with live:
                summary = self._ran(statement, folder, context)
            failed = False
        except CodeFailure as failure:
            summary = failure.report()
        except (Py4JNetworkError, ConnectionError):
            summary = {"message": _DRIVER_GONE, "line": None, "may_retry": True}
        except (PySparkException, Py4JError) as error:
            summary = {"message": spark_text(error), "line": None, "may_retry": True}
        except KeyboardInterrupt:
            summary = {"message": "it was interrupted", "line": None, "may_retry": True}
        finally:
            if context is not None and messages is not None:
                summary["note"] = context.record()
                messages.close()
            write_json(folder / (ERROR_FILE if failed else SUMMARY_FILE), summary)
        return not failed

    def _ran(self, statement: Statement, folder: Path, context: NotebookContext | None) -> dict[str, Any]:
        self._spark.sparkContext.setJobGroup(statement.id, statement.id, interruptOnCancel=True)
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", statement.pool or "default")

        def take(frame: DataFrame) -> dict[str, Any]:
            if statement.is_cell and (limit := (statement.note or {}).get("limit")):
                frame = frame.limit(limit)
            elif context is not None and not statement.is_cell:
                context.show(frame)
                return {"rows": None, "message": None}
            return write_rows(frame, folder, min_free_bytes=statement.min_free_bytes, on_rows=self._rows)

        def take_if_table(frame: DataFrame) -> dict[str, Any] | None:
            return take(frame) if frame.columns else None

        if statement.language is Language.SQL:
            return run_sql(statement, self._spark, take_if_table, Py4JError)
        value = self._value(statement, folder, context)
        if isinstance(value, DataFrame):
            return take(value)
        if context is not None:
            context.show(value)
        elif (table := table_of(value)) is not None:
            return write_table(table, folder)
        return {"rows": None, "message": None}

    def _value(self, statement: Statement, folder: Path, context: NotebookContext | None) -> Any:
        os.chdir(statement.work)
        if statement.language is Language.PYTHON:
            return self._python.run(statement.code, statement.arguments)
        if self._scala is None:
            self._scala = ScalaInterpreter(self._spark, self._classes, self._number)
        if context is None:
            return self._scala.run(statement.code, statement.arguments, folder / OUT_FILE)
        if self._scala_notebook is None:
            self._scala_notebook = ScalaNotebook(self._scala, self._spark.sparkContext._jvm)
        self._scala_notebook.begin(context)
        try:
            return self._scala.run(statement.code, statement.arguments, folder / OUT_FILE, echoes=True)
        finally:
            self._scala_notebook.end(context)

    def _rows(self, rows: int) -> None:
        now = time.monotonic()
        if now - self._reported_at >= _REPORT_SECONDS:
            self._reported_at = now
            self._report_rows(rows)
