"""The code that runs inside the kernel: cells and direct calls, timed there to exclude messages to the kernel."""

from __future__ import annotations

import gc
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

if TYPE_CHECKING:
    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell

Shape = tuple[int, int]


def call(function: str, arguments: str) -> str:
    """Call a function of this module with a JSON array of arguments; return its answer as JSON."""
    return json.dumps(globals()[function](*json.loads(arguments)))


def shell() -> InteractiveShell:
    """Return the kernel's shell."""
    found = get_ipython()
    assert found is not None
    return found


def process_number() -> int:
    """Return the kernel's process number."""
    return os.getpid()


def run_lines(lines: list[str]) -> None:
    """Run lines that prepare a contest; raises what they raise."""
    for line in lines:
        shell().run_cell(line, store_history=False).raise_error()


def magic_seconds(name: str, line: str, cell: str, wanted: list[str] | None) -> float:
    """Return the seconds of a cell magic from its call to its value; `wanted` are the lines the value must have."""
    started = time.perf_counter()
    value = shell().run_cell_magic(name, line, cell)
    took = time.perf_counter() - started
    if wanted is not None and list(value["line"]) != wanted:
        raise AssertionError(f"%%{name} returned {value!r}")
    return took


def cell_seconds(source: str) -> float:
    """Return the seconds of a whole cell, including parsing and the display of its value."""
    started = time.perf_counter()
    result = shell().run_cell(source, store_history=False)
    took = time.perf_counter() - started
    result.raise_error()
    return took


def client_seconds(script: str) -> float:
    """Return the seconds of the Python client alone, from a script to its DataFrame."""
    client = _state.get("client")
    if client is None:
        from svc_jupyter.client import Client

        client = _state["client"] = Client()
    started = time.perf_counter()
    client.commands.submit("ShellCommand", inline=script).wait().result().to_pandas()
    return time.perf_counter() - started


def connect_engines(cluster_folder: str) -> None:
    """Connect to the engines of ipyparallel and point `%%px` to them."""
    import ipyparallel

    client = ipyparallel.Client(f"{cluster_folder}/security/ipcontroller-client.json")
    client.wait_for_engines(1, timeout=60, interactive=False)
    view = client[:]
    view.block = True
    view.activate()
    _state["engines"] = client


# Queries: each returns the seconds and the shape of its DataFrame, which is freed before the next one.


def query_by_magic(name: str, line: str, query: str) -> tuple[float, Shape]:
    """Run a cell magic whose value is a DataFrame."""
    return _timed(lambda: shell().run_cell_magic(name, line, query))


def query_by_adbc(driver: str, uri: str, query: str) -> tuple[float, Shape]:
    """Run a query with ADBC directly: the lower bound for a service."""
    import importlib

    connect = importlib.import_module(f"{driver}.dbapi").connect

    def read() -> pd.DataFrame:
        with connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            frame: pd.DataFrame = cursor.fetch_arrow_table().to_pandas()
            return frame

    return _timed(read)


def query_by_pandas(uri: str, query: str) -> tuple[float, Shape]:
    """Run a query with `pandas.read_sql`: over sqlite3 for a file, over SQLAlchemy for a URL."""
    import pandas as pd

    if "://" not in uri:
        connection = _state.setdefault(uri, sqlite3.connect(uri))
        return _timed(lambda: pd.read_sql(query, connection))
    import sqlalchemy

    engine = _state.setdefault(uri, sqlalchemy.create_engine(uri))
    return _timed(lambda: pd.read_sql(query, engine))


def column_types(name: str, line: str, query: str) -> dict[str, str]:
    """Return the column types of a cell magic's DataFrame."""
    frame = shell().run_cell_magic(name, line, query)
    return {str(column): str(kind) for column, kind in frame.dtypes.items()}


def _timed(read: Callable[[], pd.DataFrame]) -> tuple[float, Shape]:
    gc.collect()
    started = time.perf_counter()
    frame = read()
    took = time.perf_counter() - started
    return took, (len(frame), len(frame.columns))


_state: dict[str, Any] = {}
"""Connections that stay open between calls."""
assert "ipykernel" in sys.modules, "this module is for a kernel"
