"""A query of 1,000,000 rows × 6 columns (integers, floats, texts, dates), from the cell to its DataFrame.

ADBC and pandas called directly in the kernel are the lower bound: they cross no process boundary. `pandas.read_sql` and
JupySQL's `%%sql` are the alternatives in a notebook. The tap is a SQLite file, then a PostgreSQL on this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.dataset import COLUMNS, QUERY, write_postgres, write_sqlite
from benchmarks.kernel import Kernel
from benchmarks.postgres import postgres
from benchmarks.service import Service
from svc_jupyter.client import Client

MAGIC, REFERENCE, PANDAS, JUPYSQL = "%%svc_db", "ADBC + pandas", "pandas.read_sql", "JupySQL %%sql"
_LINES = (
    "%load_ext svc_jupyter",
    "%load_ext sql",
    "%config SqlMagic.autopandas = True",
    "%config SqlMagic.displaycon = False",
    "%config SqlMagic.feedback = 0",
)


def run(folder: Path, *, quick: bool) -> None:
    """Print a table for each database."""
    rows, rounds = (200_000, 3) if quick else (1_000_000, 7)
    with (
        Service(folder) as service,
        Kernel(folder, SVC_DATA_DIR=str(service.data_dir)) as kernel,
        Client(*service.address) as client,
    ):
        kernel.call("run_lines", list(_LINES))
        file = service.data_dir / "storage" / "orders.db"
        file.parent.mkdir(exist_ok=True)
        write_sqlite(file, rows)
        client.db_taps.create("sqlite", "sqlite", db_name=str(file))
        _contest(
            f"SQLite, {rows:,} rows",
            {
                MAGIC: _query(kernel, rows, "query_by_magic", "svc_db", "--tap sqlite"),
                REFERENCE: _query(kernel, rows, "query_by_adbc", "adbc_driver_sqlite", str(file)),
                PANDAS: _query(kernel, rows, "query_by_pandas", str(file)),
                JUPYSQL: _query(kernel, rows, "query_by_magic", "sql", f"sqlite:///{file}"),
            },
            rounds,
        )
        _print_types(kernel, "sqlite")
        with postgres(folder) as url:
            write_postgres(url, rows)
            client.db_taps.create("postgres", "url", url=url)
            sqlalchemy_url = url.replace("postgresql://", "postgresql+psycopg://")
            _contest(
                f"PostgreSQL, {rows:,} rows",
                {
                    MAGIC: _query(kernel, rows, "query_by_magic", "svc_db", "--tap postgres"),
                    REFERENCE: _query(kernel, rows, "query_by_adbc", "adbc_driver_postgresql", url),
                    PANDAS: _query(kernel, rows, "query_by_pandas", sqlalchemy_url),
                    JUPYSQL: _query(kernel, rows, "query_by_magic", "sql", sqlalchemy_url),
                },
                rounds,
            )
            _print_types(kernel, "postgres")


def _query(kernel: Kernel, rows: int, function: str, *arguments: str) -> Measure:
    """Return a function that runs the query once and returns its seconds; a result of another size is an error."""

    def measure() -> float:
        took, shape = kernel.call(function, *arguments, QUERY)
        if shape != [rows, len(COLUMNS)]:
            raise AssertionError(f"{function} returned {shape}")
        return float(took)

    return measure


def _contest(title: str, contestants: Mapping[str, Measure], rounds: int) -> None:
    results = compete(contestants, rounds)
    report.contest(title, "seconds", results, REFERENCE, report.seconds)


def _print_types(kernel: Kernel, tap: str) -> None:
    types = kernel.call("column_types", "svc_db", f"--tap {tap}", f"{QUERY} LIMIT 1")
    print("  columns of %%svc_db:", ", ".join(f"{name} {kind}" for name, kind in types.items()))
