"""Make docs/types.md of the tables that the tests check: `python -m tests.types.page`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.types.tables import SOURCES, Source, Typed, plain

PAGE = Path(__file__).parents[2] / "docs" / "types.md"
_INTRODUCTION = """# Types: what a DataFrame has of a source's values

<!-- made by `python -m tests.types.page` -->

The tests ask each source for each value in these tables. "Within" is the value in an array, a map and a struct, whose
columns are of the dtype `object`: an array is a NumPy array, a map a list of pairs, a struct a dictionary.

- Beside a NULL, integers and booleans get pandas' nullable types, `Int64`, `UInt64`, `boolean` and so on, and other
  dtypes stay as they are. `%config SvcMagics.dtypes = "numpy"` has it as pandas by itself
  ([magics](magics.md#svc_config-name-value)).
- A date or time outside the years 1 to 9999, or infinite, makes its column text in the form of ISO 8601, and the line
  above the result says so.
- A number that would lose digits beside a fraction or a NaN makes its column text, and so does a time of day with a
  zone, or an instant beside times without zones; the line says so, too.
- Bytes of a text that are not UTF-8 stand as U+FFFD, which the line says; cast the text to bytes in the query to have
  them.
- Times are pandas' `Timestamp` and `Timedelta` in a column, NumPy's in an array, Python's within a map or a struct.
  Those with a time zone have it everywhere, in UTC.
- Of a number of 32 bits, a map or a struct has Python's float: `0.1` is `0.10000000149011612` there.
"""


def page() -> str:
    """Return the page."""
    parts = [_INTRODUCTION, *(f"{section}\n" for section in map(_section, SOURCES))]
    return "\n".join(parts).rstrip("\n") + "\n"


def _section(source: Source) -> str:
    return "\n".join(_lines(source))


def _lines(source: Source) -> Iterator[str]:
    yield f"## {source.name}\n"
    if source.note:
        yield f"{source.note}\n"
    within = ", ".join(source.nestings)
    heads = ["Type", "In SQL", "dtype", "Value", *([f"Within ({within})"] if within else [])]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for typed in source.types:
        cells = [_code(typed.type), _code(typed.sql), _code(typed.dtype), _value(typed.value)]
        yield f"| {' | '.join([*cells, *([_within(typed)] if within else [])])} |"


def _within(typed: Typed) -> str:
    return "the same" if repr(plain(typed.inner)) == repr(plain(typed.value)) else _value(typed.inner)


def _value(value: Any) -> str:
    return _code(repr(value).replace("datetime.timezone.utc", "UTC").replace("datetime.", ""))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
