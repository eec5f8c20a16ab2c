"""Local values as programs that make them in the cluster's session."""

from __future__ import annotations

import base64
from typing import Any

from svc_jupyter.magics.display.errors import SvcUsageError

MOST_BYTES = 4 * 2**20
"""Limit of a sent table in compressed bytes: it is part of a command, which the history keeps."""


def program_for(name: str, value: Any) -> str:
    """Return the Python program that gives `name` this value: a text, a number, or a table as a Spark DataFrame.

    A table is also a temporary view of that name, for SQL and Scala. Raises SvcUsageError for another value.
    """
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return _FRAME.format(name=name, rows=_packed(name, value))
    if value is None or isinstance(value, str | int | float | bool):
        return f"{name} = {value!r}\n"
    raise SvcUsageError(f"%%send takes a DataFrame, a text or a number; {name} is a {type(value).__name__}")


_FRAME = """\
import base64, pyarrow
{name} = pyarrow.ipc.open_stream(base64.b64decode(
    "{rows}"
)).read_all()
{name} = spark.createDataFrame({name})
{name}.createOrReplaceTempView("{name}")
"""


def _packed(name: str, frame: Any) -> str:
    """Return the rows as a compressed Arrow stream in base64."""
    import pyarrow as pa

    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SvcUsageError(f"%%send: {name} has a column that Spark has no type for: {error}") from None
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    packed = sink.getvalue()
    if packed.size > MOST_BYTES:
        raise SvcUsageError(
            f"%%send: {name} has {packed.size / 2**20:.0f} MB, and {MOST_BYTES // 2**20} MB can be sent. "
            "Write it to the account's storage and read it from there"
        )
    return base64.b64encode(packed).decode("ascii")
