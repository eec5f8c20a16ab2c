"""Dates and times that Python does not have, as text in ISO 8601's form: `+10000-01-01`, `-0043-03-15`, `24:00:00`.

One of them makes the whole column text, or within arrays, maps and structs the whole place. Texts that are not UTF-8,
which Python cannot read either, get U+FFFD for their odd bytes, and fields of one name get numbers. This module is also
copied to Spark's own Python: it imports nothing of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = Any
Kind: TypeAlias = Any

_DAY: Final = 86_400
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800  # seconds
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOST_DAYS: Final = 2**63 // (_DAY * 10**6) - 1
"""More of them do not fit into microseconds, and numpy would not say so."""
_NAMED: Final = 5
OUTSIDE: Final = "not all times are within the years 1 to 9999 and a day's 24 hours"
NOT_UTF_8: Final = "bytes that are not UTF-8 stand as U+FFFD"
"""What a result says of such a column, for `notes`."""
_YEAR: Final = re.compile(r"[+-]?\d+")


def readable(column: Column) -> tuple[Column, str | None]:
    """Return the column with what Python can read, and what a result says of it, if it is another one then.

    That is UTF-8, and text for times of which one is outside Python's range.
    """
    decoded = in_unicode(column)
    made = as_text(decoded, readable_kind(column, column.type))
    if not made.type.equals(column.type):
        return made, OUTSIDE
    return made, None if decoded is column else NOT_UTF_8


def in_unicode(column: Column) -> Column:
    """Return the column with U+FFFD for the bytes of its texts that are not UTF-8."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return rebuilt(column, column.type, _decoded)
    return column


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names of a struct's fields, equal ones with numbers, `a_0` and `a_1`: a dictionary has each once."""
    counts, numbers, taken = Counter(names), Counter[str](), set(names)
    made = []
    for name in names:
        own = name
        while counts[name] > 1 and own in taken:
            own = f"{name}_{numbers[name]}"
            numbers[name] += 1
        taken.add(own)
        made.append(own)
    return made


def became_text(before: Kind, after: Kind) -> bool:
    """Return whether a place for times within the type `before` is one for text within `after`."""
    if pa.types.is_nested(before):
        if before.num_fields != after.num_fields:
            return False
        parts = [(before.field(place).type, after.field(place).type) for place in range(before.num_fields)]
        return any(became_text(*part) for part in parts)
    while pa.types.is_list(after):  # an array's dimensions are found in its values
        after = after.value_type
    return _is_time(before) and bool(pa.types.is_string(after))


def notes(reasons: Mapping[str, str]) -> list[str]:
    """Return a line for each reason why columns are text; `reasons` has it by the column's name."""
    columns: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        columns.setdefault(reason, []).append(name)
    return [f"{_are(names)} text: {reason}" for reason, names in columns.items()]


def _are(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"


def readable_kind(column: Column, kind: Kind) -> Kind:
    """Return the type `kind`, a column's own or one with some text in it, with text for the times that need it."""
    if not pa.types.is_nested(column.type):
        return pa.string() if _is_outside(column) else kind
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(len(kind))]
        return pa.struct([one.with_type(readable_kind(column.field(n), one.type)) for n, one in enumerate(fields)])
    if pa.types.is_map(kind):
        key, item = readable_kind(column.keys, kind.key_type), readable_kind(column.items, kind.item_type)
        return pa.map_(kind.key_field.with_type(key), kind.item_field.with_type(item), kind.keys_sorted)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(readable_kind(column.flatten(), kind.value_type)))
    return kind


def as_text(column: Column, kind: Kind) -> Column:
    """Return the column, with its times as text in each place where the type `kind` has text."""
    if column.type.equals(kind):
        return column
    return rebuilt(
        column,
        kind,
        lambda values, wanted: _texts(values) if pa.types.is_string(wanted) and _is_time(values.type) else values,
    )


def with_infinity(column: Column, names: Mapping[int, str]) -> Column:
    """Return dates or timestamps unchanged, or as text when their least or greatest number has one of `names`."""
    numbers = _numbers(column)
    ends = pc.min_max(numbers)
    if ends["min"].as_py() not in names and ends["max"].as_py() not in names:
        return column
    texts = as_text(column, pa.string()).to_pylist()
    return pa.array([names.get(n, text) for n, text in zip(numbers.to_pylist(), texts, strict=True)], pa.string())


def rebuilt(column: Column, kind: Kind, change: Callable[[Column, Kind], Column]) -> Column:
    """Return the column with the result of `change` for the values in each place, and their type within `kind`."""
    if pa.types.is_struct(kind) and pa.types.is_struct(column.type):
        inner = [rebuilt(column.field(place), kind.field(place).type, change) for place in range(len(kind))]
        fields = [kind.field(place).with_type(one.type) for place, one in enumerate(inner)]
        return pa.StructArray.from_arrays(inner, fields=fields, mask=column.is_null())
    if pa.types.is_map(kind) and pa.types.is_map(column.type):
        entries = rebuilt(column.values, pa.struct([kind.key_field, kind.item_field]), change)
        return _with_values(column, entries, pa.map_(entries.type.field(0), entries.type.field(1)))
    if pa.types.is_list(kind) and pa.types.is_list(column.type):
        values = rebuilt(column.values, kind.value_type, change)
        return _with_values(column, values, pa.list_(kind.value_field.with_type(values.type)))
    return change(column, kind)


def parsed(texts: Column, kind: Kind) -> Column:
    """Return texts as values of a type that Arrow parses, times of any year. Raises `ValueError`."""
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        if not pa.types.is_date(kind) and not pa.types.is_timestamp(kind):
            raise
    return pa.array([None if text is None else number(text, kind) for text in texts.to_pylist()], kind)


def number(text: str, kind: Kind) -> int:
    """Return a date or a time of any year as Arrow has it: days, or the unit of the type. Raises `ValueError`."""
    days = int(np.datetime64(text, "D").astype(np.int64))
    if pa.types.is_date(kind):
        return days
    if abs(days) > _MOST_DAYS:
        raise ValueError(f"{text} is too far away")
    return int(np.datetime64(text, kind.unit).astype(np.int64))


def _decoded(values: Column, kind: Kind) -> Column:
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        return values
    texts = [
        None if one is None else one.decode("utf-8", "replace") for one in values.cast(pa.large_binary()).to_pylist()
    ]
    return pa.array(texts, kind)


def _is_time(kind: Kind) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind))


def _is_outside(column: Column) -> bool:
    if not _is_time(column.type):
        return False
    ends = pc.min_max(_numbers(column))
    if not ends["min"].is_valid:
        return False
    first, last = _range(column.type)
    return bool(ends["min"].as_py() < first or ends["max"].as_py() >= last)


def _range(kind: Kind) -> tuple[int, int]:
    if pa.types.is_date32(kind):
        return _YEAR_1 // _DAY, _YEAR_10000 // _DAY
    if pa.types.is_time(kind):
        return 0, _DAY * _per_second(kind)
    per_second = _per_second(kind)
    zoned = _DAY if pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC") else 0  # its clock may be a day ahead
    return (_YEAR_1 + zoned) * per_second, (_YEAR_10000 - zoned) * per_second


def _numbers(column: Column) -> Column:
    return column.cast(pa.int32() if column.type.bit_width == pa.int32().bit_width else pa.int64())


def _with_values(column: Column, values: Column, kind: Kind) -> Column:
    """Return lists or maps with other values, which have the same places."""
    return pa.Array.from_buffers(kind, len(column), column.buffers()[:2], offset=column.offset, children=[values])


def _texts(column: Column) -> Column:
    numbers = _numbers(column).to_pylist()
    return pa.array([None if one is None else _text(one, column.type) for one in numbers], pa.string())


def _text(number: int, kind: Kind) -> str:
    if pa.types.is_date32(kind):
        return _date(number)
    per_second = _per_second(kind)
    if pa.types.is_time(kind):
        return _clock(number, per_second)
    days, rest = divmod(number, _DAY * per_second)
    if pa.types.is_date64(kind):
        return _date(days)
    return f"{_date(days)}T{_clock(rest, per_second)}{'Z' if kind.tz is not None else ''}"


def _date(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    found = _YEAR.match(text)
    assert found is not None
    year, rest = int(found[0]), text[found.end() :]
    return f"{year:05}{rest}" if year < 0 else f"+{year}{rest}" if year > 9999 else f"{year:04}{rest}"


def _clock(since_midnight: int, per_second: int) -> str:
    seconds, fraction = divmod(since_midnight, per_second)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:0{len(str(per_second)) - 1}}" if fraction else text


def _per_second(kind: Kind) -> int:
    return 10**3 if pa.types.is_date64(kind) else _PER_SECOND[kind.unit]
