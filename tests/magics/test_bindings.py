"""`--bind` in a notebook."""

from __future__ import annotations

import math
import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from svc_jupyter.api.bindings import values_of
from svc_jupyter.magics.arguments.bindings import bindings
from svc_jupyter.magics.display.errors import SvcUsageError

TABLE = pa.table({"n": [1]})


def typed(kind: str, value: str) -> dict[str, str]:
    return {"type": kind, "value": value}


SENT: list[tuple[Any, Any]] = [
    ("O'Hare", "O'Hare"),
    (7, 7),
    (2**70, 2**70),
    (True, True),
    (0.1, 0.1),
    (math.nan, typed("double", "nan")),
    (-math.inf, typed("double", "-inf")),
    (None, None),
    (Decimal("12.50"), typed("decimal", "12.50")),
    (Decimal("1E+3"), typed("decimal", "1000")),
    (date(2026, 1, 31), typed("date", "2026-01-31")),
    (datetime(2026, 1, 31, 8, 30, tzinfo=UTC), typed("timestamp", "2026-01-31T08:30:00+00:00")),
    (time(8, 30), typed("time", "08:30:00")),
    (b"\x00\xff", typed("binary", "AP8=")),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (PurePosixPath("a/b"), "a/b"),
    (np.int32(5), 5),
    (np.float64(0.5), 0.5),
    (np.bool_(True), True),
    (np.str_("x"), "x"),
    (np.datetime64("2026-01-31"), typed("date", "2026-01-31")),
    (np.datetime64("2026-01-31T08:30:00.000000001"), typed("timestamp", "2026-01-31T08:30:00.000000001")),
    (pd.Timestamp("2026-01-31T08:30:00.000000001"), typed("timestamp", "2026-01-31T08:30:00.000000001")),
    (pd.NaT, None),
    (pd.NA, None),
    (["a", 1], ["a", 1]),
    (("a",), ["a"]),
    (range(2), [0, 1]),
    (np.array([1, 2]), [1, 2]),
    (pd.Series([1.5, None]), [1.5, None]),
    (pd.Series(["2026-01-31"], dtype="datetime64[us]"), [typed("timestamp", "2026-01-31T00:00:00")]),
    (pd.Series(["a", None], dtype="string"), ["a", None]),
    (pd.Index(["a"]), ["a"]),
]


def test_a_variable_keeps_its_type() -> None:
    found = [bindings(["x"], {"x": value}) for value, _ in SENT]
    assert list(map(repr, found)) == [repr({"x": sent}) for _, sent in SENT]  # 5 is not np.int32(5)
    for values in found:
        values_of(values)


def refusal(given: list[str]) -> str:
    variables = {"origin": "JFK", "frame": pd.DataFrame({"a": [1]}), "nested": [[1]], "exact": Decimal("NaN")}
    with pytest.raises(SvcUsageError) as refused:
        bindings(given, variables)
    return str(refused.value)


REFUSED = {
    ("origins",): "--bind origins: the notebook has no variable origins. Did you mean origin?",
    ("origin,origin",): "--bind origin: the name is given twice",
    ("origin", "origin=JFK"): "--bind origin: the name is given twice",
    ("1st",): "--bind takes names of variables, or NAME=TEXT, not '1st'",
    ("a b=1",): "--bind takes NAME=VALUE with a name of letters, digits and _, not 'a b=1'",
    ("frame",): "--bind frame: a DataFrame is no value of SQL; make a text or a number of it, and bind that",
    ("nested",): "--bind nested: a list is no value of SQL; make a text or a number of it, and bind that",
    ("exact",): "--bind exact: a Decimal is no value of SQL; make a text or a number of it, and bind that",
}


def test_a_name_without_a_value_of_sql_is_refused() -> None:
    assert {given: refusal(list(given)) for given in REFUSED} == REFUSED


@pytest.mark.parametrize("magic", ["db", "hive", "presto", "sql"])
def test_a_query_has_its_values_apart(service: Any, notebook: Any, magic: str) -> None:
    service.add_tap("flights")
    service.behave("SELECT :origin", table=TABLE)
    notebook.shell.user_ns.update(day=date(2026, 1, 31), hours=[1, 2])
    notebook.value(f'%%svc_{magic} --bind "origin=O\'Hare,x" --bind day,hours\nSELECT :origin, :day, :hours')
    [sent] = service.submissions
    assert sent["query"] == "SELECT :origin, :day, :hours\n"
    assert sent["bindings"] == {"origin": "O'Hare,x", "day": typed("date", "2026-01-31"), "hours": [1, 2]}


def test_without_values_nothing_is_sent(service: Any, notebook: Any) -> None:
    service.add_tap("flights")
    service.behave("SELECT 1", table=TABLE)
    notebook.value("%%svc_db\nSELECT 1")
    assert "bindings" not in service.submissions[0]


def test_code_of_a_session_has_no_names(service: Any, notebook: Any) -> None:
    error = notebook.error("%%svc_sql --app-id mine --bind a=1\nSELECT :a")
    assert str(error).startswith("svc_sql: --bind goes with a query of its own, not with --app-id")
    assert service.submissions == []
