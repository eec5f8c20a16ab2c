"""Aliases of Arrow names for which the type stubs know only one class of array, and what every engine makes alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute

compute: Any = pyarrow.compute
"""Arrow's functions on columns."""
Column: TypeAlias = Any
"""A `pyarrow.Array` of any type."""
Kind: TypeAlias = Any
"""A `pyarrow.DataType`, including extension types with their own attributes."""
ColumnField: TypeAlias = Any
"""A `pyarrow.Field`."""


def missing(count: int, kind: Kind) -> Column:
    """Return a column of `count` nulls."""
    return pa.nulls(count, kind)


def map_type(key: Kind, value: Kind) -> Kind:
    """Return a map type. Keys without a type, as of `MAP()`, are texts: Arrow's keys are never null."""
    return pa.map_(pa.string() if pa.types.is_null(key) else key, value)


def struct_type(names: Sequence[str], kinds: Sequence[Kind]) -> Kind:
    """Return a struct type. Equal names get numbers, `a_0` and `a_1` as in PySpark: a dictionary has each name once."""
    counts, numbers, taken = Counter(names), Counter[str](), set(names)
    distinct = []
    for name in names:
        own = name
        while counts[name] > 1 and own in taken:
            own = f"{name}_{numbers[name]}"
            numbers[name] += 1
        taken.add(own)
        distinct.append(own)
    return pa.struct(list(zip(distinct, kinds, strict=True)))
