"""Rows of a result, a page at a time, what a column holds, and charts: extensions that another service may lack."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from svc_jupyter.api.fields import Record

RowColumnType = str
"""text, integer, number, decimal, boolean, timestamp, date, time, binary or nested."""


class RowColumn(Record):
    """A column of a page; the second one of a name is called `name#2`, and one without a name `#1`."""

    name: str
    type: RowColumnType = Field(
        description="text, integer, number, decimal, boolean, timestamp, date, time, binary or nested"
    )


class ResultRows(Record):
    """A page of the rows of a result: `GET commands/ID/rows`.

    Numbers that JavaScript does not hold exactly are strings: integers beyond 2^53, decimals, NaN and the infinities.
    Times are ISO 8601, binary values hexadecimal, lists and structures JSON. Of a text over 1,000 characters the first
    1,000 and an ellipsis are given, the whole text by `GET commands/ID/rows/value`.
    """

    columns: list[RowColumn]
    rows: list[list[Any]]
    offset: int
    total: int = Field(description="the number of rows that meet the search and the conditions")
    of: int = Field(description="the number of all rows of the result")


class RowValue(Record):
    """A value of a result, as in a page but whole: `GET commands/ID/rows/value`."""

    column: RowColumn
    value: Any
    is_cut: bool = Field(
        description="whether the value is the first 10,000,000 characters of a longer text, and an ellipsis"
    )


class HistogramBin(Record):
    """A bin of a histogram; `to` belongs to the next bin, except in the last one."""

    start: int | float | str = Field(alias="from")
    to: int | float | str
    count: int


class FrequentValue(Record):
    """A frequent value of a column."""

    value: Any
    count: int


class ColumnSummary(Record):
    """What a column holds in the rows that meet the search and the conditions: `GET commands/ID/columns/NAME/summary`.

    What a type does not have is null.
    """

    name: str
    type: RowColumnType
    count: int = Field(description="the number of rows, those without a value included")
    nulls: int
    distinct: int | None = Field(
        default=None, description="the number of different values; null also where they are too many to count"
    )
    min: Any = None
    max: Any = None
    mean: float | str | None = Field(default=None, description="of numbers")
    histogram: list[HistogramBin] | None = Field(
        default=None, description="20 bins or fewer, of numbers, dates and times with a date"
    )
    top: list[FrequentValue] | None = Field(
        default=None,
        description="the 10 most frequent values or fewer, of other types; null also where they are too many to count",
    )


class ChartPoint(Record):
    """A point or bar of a chart, which stands for one row or more."""

    x: Any = Field(description="where it stands, or the value of the rows that it stands for")
    to: Any = Field(
        default=None, description="the end of the range that a bar stands for, where it is of more than one value"
    )
    y: float | str | None = Field(description="the mean of the rows; of a scatter chart the first row's value")
    low: float | str | None = Field(default=None, description="the least value of the rows; not in a scatter chart")
    high: float | str | None = Field(default=None, description="the largest value of the rows; not in a scatter chart")
    count: int = Field(description="the number of rows with a number in y")


class ChartPoints(Record):
    """A chart of all rows that meet the search and the conditions: `GET commands/ID/rows/points`.

    A line has a point for each value of x or, where there are more than 400, for each of 400 equal ranges of x. A bar
    chart has a bar for each value, or for each of 50 equal ranges of numbers or times; of more than 50 other values it
    has the first 50. A scatter chart has one point for each of 120 times 60 places that has rows.
    """

    chart: str = Field(description="line, bar or scatter")
    x: RowColumn
    y: RowColumn
    points: list[ChartPoint]
    is_cut: bool = Field(description="whether there are more values than bars")
    total: int = Field(description="the number of rows that meet the search and the conditions")
