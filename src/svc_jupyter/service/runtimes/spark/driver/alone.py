"""One statement as an application of its own: `spark-submit … alone.py STATEMENT`, with the path of its JSON."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

from .attach import keep_alive
from .execution import Execution
from .files import write_json, write_text
from .progress import Progress, percent
from .statement import JOBS_FILE, PROGRESS_FILE, Statement, from_json

_LOOK_SECONDS = 0.5


def main() -> None:
    """Run the statement; exit with 0 when it succeeded. Its files hold the details."""
    statement = from_json(Path(sys.argv[1]).read_text())
    spark = SparkSession.builder.getOrCreate()
    stop = spark.stop
    keep_alive()  # the program's own `spark.stop()` must not end the Spark that writes its result
    classes = Path(str(spark.conf.get("spark.repl.class.outputDir")))
    classes.mkdir(parents=True, exist_ok=True)
    watch = _Watch(spark, statement)
    watch.start()
    rows = _Rows(watch)
    succeeded = Execution(spark, classes, 0, rows).run(statement)
    watch.end()
    stop()
    sys.stdout.flush()
    sys.exit(0 if succeeded else 1)


class _Rows:
    def __init__(self, watch: _Watch) -> None:
        self._watch = watch

    def __call__(self, rows: int) -> None:
        self._watch.rows = rows


class _Watch(threading.Thread):
    """Records the progress of the statement."""

    def __init__(self, spark: SparkSession, statement: Statement) -> None:
        super().__init__(name="progress", daemon=True)
        self._progress = Progress(spark.sparkContext)
        self._folder = Path(statement.folder)
        self._group = statement.id
        self._is_over = threading.Event()
        self.rows: int | None = None

    def run(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            self._look()

    def end(self) -> None:
        self._is_over.set()
        self.join()
        self._look()

    def _look(self) -> None:
        jobs = self._progress.of(self._group)
        with suppress(OSError):
            if jobs:
                write_json(self._folder / JOBS_FILE, jobs)
            rows = "" if self.rows is None else f" {self.rows}"
            write_text(self._folder / PROGRESS_FILE, f"{percent(jobs)}{rows}\n")
