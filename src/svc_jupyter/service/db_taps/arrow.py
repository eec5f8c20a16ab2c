"""Names for Arrow's things where the type stubs can only tell one class of array from another."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute

compute: Any = pyarrow.compute
"""Arrow's functions on columns."""
Column: TypeAlias = Any
"""A `pyarrow.Array` of whatever type."""
Kind: TypeAlias = Any
"""A `pyarrow.DataType`, extension types with their own attributes among them."""
ColumnField: TypeAlias = Any
"""A `pyarrow.Field`."""


def missing(count: int, kind: Kind) -> Column:
    """Return a column of `count` nulls."""
    return pa.nulls(count, kind)
