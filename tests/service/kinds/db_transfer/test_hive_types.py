"""Every type that a tap may give can be stored in Hive."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from svc_jupyter.service.kinds.db_transfer.transfer import hive_name, storable, stored

TYPES = [
    (pa.array([1], pa.int8()), "tinyint", [1]),
    (pa.array([2**64 - 1], pa.uint64()), "decimal(20,0)", [Decimal(2**64 - 1)]),
    (pa.array([None], pa.null()), "string", [None]),
    (pa.array([Decimal("1.5")], pa.decimal128(10, 2)), "decimal(10,2)", [Decimal("1.50")]),
    (pa.array([Decimal("1.5")], pa.decimal256(50, 2)), "string", ["1.50"]),
    (pa.array([time(1, 2, 3)]), "string", ["01:02:03"]),
    (pa.array([[1, None]], pa.list_(pa.int64())), "string", ["[1, null]"]),
    (pa.array([b"\x00"], pa.binary()), "binary", [b"\x00"]),
]


def test_a_column_finds_its_type() -> None:
    def found(column: Any) -> tuple[str, list[Any]]:
        kind = storable(column.type)
        return hive_name(kind), stored(column, kind).to_pylist()

    assert [(column, *found(column)) for column, *_ in TYPES] == TYPES


def test_a_time_with_a_zone_becomes_utc() -> None:
    column = pa.array([0], pa.timestamp("ns", "Europe/Berlin"))
    assert str(stored(column, storable(column.type))[0]) == "1970-01-01 00:00:00"
