"""Runs the code of a pipeline in Spark's own Python, and stays until its queries have ended.

spark-submit … streaming_driver.py CODE_FILE [argument …]

The code finds `spark` and its arguments in `sys.argv`, and starts streaming queries. Each must have a name, by which
Spark finds the query's progress below the checkpoint location when the pipeline is resumed. This module imports nothing
of the service.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_LOOK_SECONDS = 1.0
_FOLDER = re.compile(r"FileStreamSource\[((?:file|hdfs):[^*?{\[]+)\]")
"""How Spark names a folder as a source. Object stores have no folders, and a pattern may match nothing for a while."""


def run(code_file: str, arguments: list[str]) -> None:
    """Run the code, wait for its queries, and raise the error that ends one of them."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    sys.argv = [code_file, *arguments]
    code = compile(Path(code_file).read_text("utf-8"), "pipeline.py", "exec")
    exec(code, {"spark": spark, "__name__": "__main__"})  # noqa: S102  it is what the pipeline is for
    queries = list(spark.streams.active)
    _check_names(queries)
    while queries:
        for query in queries:
            query.awaitTermination(_LOOK_SECONDS)  # raises the query's error
            _check_sources(spark, query)
        queries = list(spark.streams.active)
        _check_names(queries)


def _check_names(queries: list[Any]) -> None:
    """End a run that could not be resumed: without a name a query's progress would be lost."""
    unnamed = [query for query in queries if not query.name]
    for query in unnamed:
        query.stop()
    if unnamed:
        raise SystemExit(
            "a streaming query has no name, so a resumed pipeline could not find its progress again: "
            "start it by .queryName('orders')"
        )


def _check_sources(spark: Any, query: Any) -> None:
    """End a run whose source vanished: Spark itself would wait forever for files in a missing folder."""
    for source in (query.lastProgress or {}).get("sources", ()):
        folder = _FOLDER.fullmatch(source["description"])
        if folder is None:
            continue
        path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(folder[1])
        if not path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).exists(path):
            raise FileNotFoundError(f"the source of query {query.name} is gone: {folder[1]}")


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2:])
