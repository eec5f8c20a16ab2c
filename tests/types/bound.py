"""Values that are bound to the names of a query: each source gives back what went in, and runs none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
from tests.types.tables import plain

from svc_jupyter.client.commands.tables import frame

Query = Callable[[str, dict[str, Any]], pa.Table]
"""Runs a query with bindings."""
TEXTS = (
    "JFK",
    "O'Hare",
    "'; DROP TABLE flights; --",
    "\\'; DROP TABLE flights; --",
    "\\",
    "\\\\'",
    '" OR ""="',
    "${env:HOME} %s %(p1)s :origin $1 ?",
    "a\nb\tc\r\n",
    "🛫 größe",
    "",
    " ",
    "NULL",
    "2026-01-31",
)
LEFT_OUT = object()
"""Of a type that a source refuses."""
_TYPED: dict[str, tuple[Any, Any]] = {
    "whole": (5, 5),
    "negative": (-5, -5),
    "large": (9007199254740993, 9007199254740993),
    "least": (-(2**63), -(2**63)),
    "yes": (True, True),
    "tenth": (0.1, 0.1),
    "price": ({"type": "decimal", "value": "12.50"}, Decimal("12.50")),
    "day": ({"type": "date", "value": "2026-01-31"}, date(2026, 1, 31)),
    "at": (
        {"type": "timestamp", "value": "2026-01-31T08:30:00.250"},
        datetime.fromisoformat("2026-01-31T08:30:00.250"),
    ),
    "point": ({"type": "timestamp", "value": "2026-01-31T08:30:00+02:00"}, datetime(2026, 1, 31, 6, 30, tzinfo=UTC)),
    "hour": ({"type": "time", "value": "08:30:00"}, time(8, 30)),
    "bytes": ({"type": "binary", "value": "ACf/"}, b"\0'\xff"),
    "nothing": (None, None),
}


def check(query: Query, others: Mapping[str, Any]) -> None:
    """Bind every text and every type, as a value and in a list. `others` are values that a source gives otherwise."""
    texts = {f"t{place}": text for place, text in enumerate(TEXTS)}
    given = texts | {name: value for name, (value, _) in _TYPED.items() if others.get(name) is not LEFT_OUT}
    expected = texts | {name: value for name, (_, value) in _TYPED.items()} | others
    read = frame(query(f"SELECT {', '.join(f':{name} AS {name}_' for name in given)}", given))
    found = {name: (_plain(read[f"{name}_"].iloc[0]), _plain(expected[name])) for name in given}
    wrong = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    assert not wrong, f"found and expected: {wrong}"
    rows = " UNION ALL ".join(f"SELECT {number} AS n, :t{number} AS o" for number in range(len(TEXTS)))
    among = query(
        f"SELECT n FROM ({rows}) f WHERE o IN (:texts) AND n IN :numbers AND n NOT IN (:out, :more) ORDER BY n",
        texts | {"texts": list(TEXTS[:6]), "numbers": [1, 2, 3, 4, 12], "out": 2, "more": [3]},
    )
    assert among.column(0).to_pylist() == [1, 4]


def _plain(value: Any) -> Any:
    if value is None or value != value:
        return None
    return plain(value.to_pydatetime() if hasattr(value, "to_pydatetime") else value)
