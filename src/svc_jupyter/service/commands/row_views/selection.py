"""Which rows of a result meet a search and conditions, and in which order they come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal

from svc_jupyter.service.commands.row_views.columns import Column, ColumnType, as_text, joined, plain
from svc_jupyter.service.commands.row_views.job import Condition, Operator, Refused, Wanted
from svc_jupyter.service.commands.row_views.ordering import Key, leading, order_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Positions = NDArray[np.integer[Any]]

_Order = Literal["ascending", "descending"]
_UNSEARCHED = (ColumnType.BINARY, ColumnType.NESTED)
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_THREADS = 2
_MOST_DIGITS = 38
_NUMERIC = frozenset("0123456789+-.einfa")
"""The characters of a number's text, NaN and the infinities included."""


class Selection:
    """Finds rows in the batches of a result."""

    def __init__(self, batches: Sequence[pa.RecordBatch], columns: Sequence[Column]) -> None:
        self._batches = batches
        self._columns = columns
        self._by_name = {column.name: column for column in columns}

    def column(self, name: str, field: str) -> Column:
        """Return a column by its name. Raises `Refused`, which names the field of the request."""
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(list(self._by_name)[:20]) or "none"
            raise Refused(f"{field}: there is no column {name[:100]!r}; there is {known}") from None

    def found(self, wanted: Wanted) -> Positions | None:
        """Return the positions of the rows that are wanted, in the order of the file; None for all rows."""
        import numpy as np

        tests = [self._condition(condition) for condition in wanted.where]
        if wanted.search:
            tests.append(self._search(wanted.search))
        if not tests:
            return None
        starts = np.cumsum([0, *(batch.num_rows for batch in self._batches)])

        def of_batch(number: int) -> Positions:
            positions: Positions = starts[number] + _met(self._batches[number], tests)
            return positions

        with ThreadPoolExecutor(_THREADS) as pool:
            parts = list(pool.map(of_batch, range(len(self._batches))))
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def ordered(self, found: Positions | None, sort: Sequence[str]) -> Positions | None:
        """Return the positions in the order of some columns; rows that are equal there stay in the file's order."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not sort:
            return found
        keys: dict[int, bool] = {}
        for column, is_descending in (self._sort_key(name) for name in sort):
            keys.setdefault(column.position, is_descending)  # a column that comes twice sorts by its first order
        values = {position: self._values(position, found) for position in keys}
        count = sum(batch.num_rows for batch in self._batches) if found is None else len(found)
        positions = order_of([Key(values[position].chunks, way) for position, way in keys.items()], count)
        if positions is None:
            table = pa.table({str(position): column for position, column in values.items()})
            ways: dict[bool, _Order] = {True: "descending", False: "ascending"}
            sort_keys = [(str(position), ways[is_descending]) for position, is_descending in keys.items()]
            positions = pc.sort_indices(table, sort_keys=sort_keys).to_numpy().astype("int64")
        return positions if found is None else found[positions]

    def first(self, found: Positions | None, sort: Sequence[str], count: int) -> Positions | None:
        """Return the positions of the first rows in the order of some columns, at least `count` of them.

        None when that would be much of the work of ordering all.
        """
        column, is_descending = self._sort_key(sort[0])
        positions = leading(self._values(column.position, found), count, is_descending=is_descending)
        if positions is None:
            return None
        return self.ordered(positions if found is None else found[positions], sort)

    def _sort_key(self, name: str) -> tuple[Column, bool]:
        """Return a column to sort by, and whether its largest value comes first."""
        is_descending = name.startswith("-") and (name not in self._by_name or name[1:] in self._by_name)
        if is_descending:
            name = name[1:]
        column = self.column(name, "sort")
        if column.type is ColumnType.NESTED or not _is_sortable(column.arrow_type):
            raise Refused(f"sort: column {name} holds values that have no order")
        return column, is_descending

    def _values(self, position: int, found: Positions | None) -> Any:
        """Return the plain values of a column, of all rows or of those at ascending positions."""
        import pyarrow as pa

        chunks = [plain(batch.column(position)) for batch in self._batches]
        if found is not None:
            parts = by_batch(self._batches, found)
            chunks = [plain(batch.column(position)).take(pa.array(inside)) for batch, inside, _ in parts]
        return joined(chunks, self._columns[position].arrow_type)

    def _search(self, text: str) -> _Test:
        import pyarrow.compute as pc

        is_number = set(text.lower()) <= _NUMERIC
        searched = [
            column
            for column in self._columns
            if column.type not in _UNSEARCHED
            and (is_number or column.type not in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DECIMAL))
        ]

        def test(batch: pa.RecordBatch) -> Any:
            found = None
            for column in searched:
                contains = _contains(plain(batch.column(column.position)), column, text)
                found = contains if found is None else pc.or_(found, contains)
            return found

        return test

    def _condition(self, condition: Condition) -> _Test:
        import pyarrow.compute as pc

        column = self.column(condition.column, "where")
        at, value, operator = column.position, condition.value, condition.operator
        if operator is Operator.IS_NULL or value is None:
            if operator not in (Operator.IS_NULL, Operator.EQUAL, Operator.DIFFERENT):
                raise Refused(f"where: {operator} of column {column.name} needs a value")
            if (operator is Operator.DIFFERENT) or value is False:
                return lambda batch: batch.column(at).is_valid()
            return lambda batch: batch.column(at).is_null()
        if column.type is ColumnType.NESTED or (column.type is ColumnType.BINARY and operator is Operator.CONTAINS):
            raise Refused(f"where: column {column.name} holds {column.type} values, which {operator} does not take")
        if operator is Operator.CONTAINS:
            return lambda batch: _contains(plain(batch.column(at)), column, _shown(value))
        if column.type is ColumnType.NUMBER and str(value).lower() == "nan":
            if operator not in (Operator.EQUAL, Operator.DIFFERENT):
                raise Refused(f"where: NaN of column {column.name} can only be compared by = and !=")
            if operator is Operator.EQUAL:
                return lambda batch: pc.is_nan(plain(batch.column(at)))
            return lambda batch: pc.invert(pc.is_nan(plain(batch.column(at))))
        compare, operand = _COMPARISONS[operator], _operand(column, value)
        if not _is_comparable(column.arrow_type):
            return lambda batch: compare(as_text(plain(batch.column(at)), column), operand)
        return lambda batch: compare(plain(batch.column(at)), operand)


_Test = Callable[["pa.RecordBatch"], Any]
_Parser = Callable[[Column, str], "pa.Scalar[Any]"]


def _met(batch: pa.RecordBatch, tests: Sequence[_Test]) -> Positions:
    """Return the positions in a batch that meet all tests."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not batch.num_rows:
        return np.zeros(0, np.int64)
    mask: Any = None
    for test in tests:
        try:
            met = test(batch)
        except pa.ArrowInvalid as error:  # a value that the column's type cannot hold
            raise Refused(f"where: {error}") from None
        if met is None:  # no column is searched
            return np.zeros(0, np.int64)
        mask = met if mask is None else pc.and_(mask, met)
    found: pa.Array[Any] = pc.indices_nonzero(pc.fill_null(mask, False))
    return found.to_numpy().astype(np.int64)


def _contains(values: pa.Array[Any], column: Column, text: str) -> Any:
    import pyarrow.compute as pc

    if column.type is ColumnType.TIMESTAMP:
        text = text.replace(" ", "T")
    found: Any = pc.match_substring(as_text(values, column), text, ignore_case=True)
    return pc.fill_null(found, False)


def _operand(column: Column, value: Any) -> pa.Scalar[Any]:
    """Return the value to compare a column with. Raises `Refused` when it has no such value."""
    import pyarrow as pa

    refusal = Refused(f"where: {_shown(value)[:100]!r} is no {column.type} value, as column {column.name} needs it")
    if isinstance(value, list | dict):
        raise refusal
    text = _shown(value).strip() if column.type is not ColumnType.TEXT else _shown(value)
    parse: _Parser = _PARSERS.get(column.type, _as_text)
    try:
        return parse(column, text)
    except (ValueError, KeyError, InvalidOperation, OverflowError, pa.ArrowException):
        raise refusal from None


def _as_text(_column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    return pa.scalar(text, pa.large_string())


def _as_integer(column: Column, text: str) -> pa.Scalar[Any]:
    """Return a number that is compared exactly: as a float, a large one would lose digits."""
    import pyarrow as pa

    with contextlib.suppress(ValueError, OverflowError, pa.ArrowInvalid):
        return pa.scalar(int(text), column.arrow_type)
    return _as_decimal(column, text)


def _as_number(_column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    return pa.scalar(float(text), pa.float64())


def _as_decimal(_column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        raise InvalidOperation
    return pa.scalar(number)


def _as_truth(_column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    truth: pa.Scalar[Any] = pa.scalar(_TRUTHS[text.lower()], pa.bool_())
    return truth


def _as_moment(column: Column, text: str) -> pa.Scalar[Any]:
    """Return a time or date; without a time zone it is in UTC, as the rows show it."""
    import pyarrow as pa

    kind = column.arrow_type
    if isinstance(kind, pa.TimestampType):
        unit: Any = "ns" if kind.unit == "ns" else "us"
        naive = text.removesuffix("Z")
        moment: Any = None
        with contextlib.suppress(pa.ArrowInvalid):
            moment = pa.scalar(naive).cast(pa.timestamp(unit))
        if moment is not None:
            moment = moment if kind.tz is None else moment.cast(pa.timestamp(unit, "UTC"))
        else:  # an offset from UTC
            moment = pa.scalar(text).cast(pa.timestamp(unit, kind.tz or "UTC"))
            moment = moment if kind.tz else moment.cast(pa.timestamp(unit))
        with contextlib.suppress(pa.ArrowInvalid):
            return moment.cast(kind)  # type: ignore[no-any-return]
        return moment  # type: ignore[no-any-return]
    return pa.scalar(text).cast(pa.date32()).cast(kind)


def _as_time(column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    return pa.scalar(time.fromisoformat(text), column.arrow_type)


def _as_bytes(_column: Column, text: str) -> pa.Scalar[Any]:
    import pyarrow as pa

    return pa.scalar(bytes.fromhex(text), pa.large_binary())


_PARSERS: Mapping[ColumnType, _Parser] = {
    ColumnType.INTEGER: _as_integer,
    ColumnType.NUMBER: _as_number,
    ColumnType.DECIMAL: _as_decimal,
    ColumnType.BOOLEAN: _as_truth,
    ColumnType.TIMESTAMP: _as_moment,
    ColumnType.DATE: _as_moment,
    ColumnType.TIME: _as_time,
    ColumnType.BINARY: _as_bytes,
}


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_sortable(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return not (kinds.is_interval(kind) or kinds.is_null(kind))


def _is_comparable(kind: pa.DataType) -> bool:
    """Return whether values are compared as themselves; intervals, durations and nothing are compared as texts."""
    import pyarrow.types as kinds

    return not (kinds.is_interval(kind) or kinds.is_duration(kind) or kinds.is_null(kind))


def _compared(name: str) -> Callable[[Any, Any], Any]:
    def compare(values: Any, operand: Any) -> Any:
        import pyarrow.compute as pc

        return getattr(pc, name)(values, operand)

    return compare


_COMPARISONS: Mapping[Operator, Callable[[Any, Any], Any]] = {
    Operator.EQUAL: _compared("equal"),
    Operator.DIFFERENT: _compared("not_equal"),
    Operator.LESS: _compared("less"),
    Operator.AT_MOST: _compared("less_equal"),
    Operator.MORE: _compared("greater"),
    Operator.AT_LEAST: _compared("greater_equal"),
}


def by_batch(batches: Sequence[pa.RecordBatch], positions: Positions) -> Iterator[tuple[pa.RecordBatch, Any, Any]]:
    """Yield each batch that has rows at some positions, the places of these rows in the batch, and in `positions`."""
    import numpy as np

    starts = np.cumsum([0, *(batch.num_rows for batch in batches)])
    numbers = np.searchsorted(starts, positions, side="right") - 1
    for number in np.unique(numbers):
        places = np.flatnonzero(numbers == number)
        yield batches[number], positions[places] - starts[number], places
