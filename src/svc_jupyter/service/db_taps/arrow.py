"""Aliases of Arrow names for which the type stubs know only one class of array, and what every engine makes alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute

from svc_jupyter.service.db_taps.times import distinct

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
    """Return a struct type, whose names are `distinct`."""
    return pa.struct(list(zip(distinct(names), kinds, strict=True)))
