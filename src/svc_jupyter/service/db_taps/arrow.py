"""Aliases of Arrow names for which the type stubs know only one class of array."""

from __future__ import annotations

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
