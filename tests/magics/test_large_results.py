"""A result above `load_limit` stays with the service: its grid, its line and the value of its cell."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from svc_jupyter.client import Result
from svc_jupyter.magics.display.grid import RESULT, Grid
from svc_jupyter.magics.display.status import STATUS

ROWS = 3000
TABLE = pa.table({"n": pa.array(range(ROWS), pa.int64()), "half": pa.array([n / 2 for n in range(ROWS)])})
"""As pandas holds it: 3000 rows of 2 × 8 bytes, 48,000 bytes."""
CELL = "%%svc_db --tap flights{options}\nq\n"


@pytest.fixture
def flights(service, notebook):
    """A notebook whose limit is below the result of `q`."""
    service.add_tap("flights")
    service.behave("q", table=TABLE)
    notebook.run("%svc_config load_limit 40000")
    return notebook


def test_the_value_of_the_cell_is_the_result_itself(flights):
    value = flights.value(CELL.format(options=" -o delays"))
    assert type(value) is Result
    assert flights.shell.user_ns["delays"] is value
    assert value.rows == ROWS
    assert value.head(2).to_dict("list") == {"n": [0, 1], "half": [0.0, 0.5]}
    assert value.to_arrow().equals(TABLE)
    assert sum(batch.num_rows for batch in value.batches()) == ROWS


def test_only_its_first_rows_are_fetched_and_once(service, flights):
    value = flights.value(CELL.format(options=""))
    flights.displayed("_")
    value.head(1000)
    assert [call for call in service.calls if "/results" in call] == ["GET /api/v1.2/commands/128/results"]


def test_one_line_says_so_with_the_option_that_loads_it(flights):
    flights.value(CELL.format(options=" -o delays"))
    assert flights.lines[-1].endswith(
        " · 3,000 rows × 2 columns, 48.8 kB · delays · kept by the service, all of it is in JupyterLab's grid"
        " · delays.head() .batches() .to_pandas(), or --load-all"
    )
    status = flights.shell.display_pub.sent[-1]["data"][STATUS]
    assert (status["rows"], status["columns"], status["name"]) == (ROWS, 2, "delays")
    flights.value(CELL.format(options=""))
    assert flights.lines[-1].endswith(" · .head() .batches() .to_pandas(), or -o df --load-all")


def test_its_grid_has_the_first_rows_and_says_how_many_there_are(flights):
    data = flights.displayed(CELL.format(options=""))
    assert "rows 1 to 20 of 3,000" in data["text/html"]
    assert "… 2,980 more rows" in data["text/html"]
    assert data["text/plain"].endswith("[3,000 rows x 2 columns]")
    grid = data[RESULT]
    assert (grid["command"], grid["total"], grid["truncated"]) == (128, ROWS, True)
    assert grid["rows"][:2] == [[0, 0.0], [1, 0.5]]
    assert flights.displayed("_") == data


@pytest.mark.parametrize(("options", "config"), [(" --load-all", "40000"), ("", "0"), ("", "50000")])
def test_it_is_loaded_where_that_was_asked_for(flights, options, config):
    flights.run(f"%svc_config load_limit {config}")
    frame = flights.value(CELL.format(options=options))
    pd.testing.assert_frame_equal(frame, TABLE.to_pandas())
    assert "kept by the service" not in flights.lines[-1]


def test_the_bytes_are_those_of_pandas(service, flights):
    """A decimal is 16 bytes in Arrow; in pandas it is a Python object of about a hundred."""
    flights.run("%svc_config load_limit 200000")
    service.behave("q", table=pa.table({"price": pa.array([Decimal("1.25")] * ROWS)}))
    assert type(flights.value(CELL.format(options=""))) is Result
    service.behave("q", table=pa.table({"price": pa.array([1.25] * 2 * ROWS)}))
    assert type(flights.value(CELL.format(options=""))) is pd.DataFrame


def test_a_quiet_cell_says_it_too(flights):
    assert flights.value(CELL.format(options=" --quiet -o delays")) is None
    assert type(flights.shell.user_ns["delays"]) is Result
    assert "kept by the service" in flights.lines[-1]


def test_the_handle_and_later_looks_have_the_same_limit(flights):
    handle = flights.value(CELL.format(options=" --no-wait"))
    assert type(handle.result()) is Result
    assert type(flights.value("%svc_command 128 result")) is Result
    assert type(flights.value("%svc_command 128 result --load-all")) is pd.DataFrame
    loading = flights.value(CELL.format(options=" --no-wait --load-all"))
    assert type(loading.result()) is pd.DataFrame


def test_a_terminal_shows_the_first_rows(service, terminal, capsys):
    service.add_tap("flights")
    service.behave("q", table=TABLE)
    terminal.value("%svc_config load_limit 40000")
    capsys.readouterr()
    terminal.value(CELL.format(options=" -n 3"))
    shown = capsys.readouterr().out
    assert "3,000 rows × 2 columns, 48.8 kB · kept by the service · .head()" in shown
    assert shown.rstrip().endswith("2  2   1.0\n\n[3,000 rows x 2 columns]")


def test_a_table_whose_number_of_rows_is_not_known_says_what_is_shown():
    frame = pd.DataFrame({"line": ["a", "b", "c"]})
    grid = Grid(frame, 2, more=None)
    assert grid.text() == "   line\n0  a\n1  b\n   … more lines"
    assert "rows 1 to 2</div>" in grid.html()
    assert "… more rows" in grid.html()


def test_a_dump_of_pig_that_is_too_large_is_the_result_too(service, flights, capsys):
    columns = [("n", "int64"), ("half", "double")]
    small = pa.table({"n": [1]})
    dumps = [
        {"alias": "large", "rows": ROWS, "size": TABLE.nbytes, "columns": columns},
        {"alias": "small", "rows": 1, "size": small.nbytes, "columns": [("n", "int64")]},
    ]
    service.behave("run", table=small, outputs={"dumps": dumps}, dumps={1: TABLE, 2: small})
    frame = flights.value("%%svc_pig -o large=big -o last\nrun\n")
    assert type(frame) is pd.DataFrame
    assert type(flights.shell.user_ns["big"]) is Result
    assert flights.shell.user_ns["big"].to_arrow().equals(TABLE)
    [line] = [line for line in capsys.readouterr().out.splitlines() if "kept by the service" in line]
    assert line == (
        "DUMP large · 3,000 rows × 2 columns, 48.0 kB · big"
        " · kept by the service · big.head() .batches() .to_pandas(), or --load-all"
    )
    assert type(flights.value("%%svc_pig --load-all -o large=big\nrun\n")) is pd.DataFrame
    assert type(flights.shell.user_ns["big"]) is pd.DataFrame


def test_lines_that_would_be_columns_are_kept_as_lines(service, flights):
    lines = pa.table({"line": ["n,half", *(f"{n},{n / 2}" for n in range(ROWS))]})
    service.behave("seq", table=lines, locations=["file:///data/128/out"])
    value = flights.value("%%svc_shell --format csv\nseq\n")
    assert type(value) is Result
    assert value.head(2)["line"].tolist() == ["n,half", "0,0.0"]
    assert "kept by the service" in flights.lines[-1]
