"""The rows of a result over HTTP: a page in any order, filtered; one whole value; and what a column holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response

from svc_jupyter.api.fields import Id
from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary, ResultRows, RowValue
from svc_jupyter.api.retention import Files
from svc_jupyter.service.commands import results
from svc_jupyter.service.commands.kind import ResultForm
from svc_jupyter.service.commands.result_routes import result_of
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, ReaderDep
from svc_jupyter.service.commands.row_views.job import MOST_ROWS, Ask, Chart, Condition, Operator, Question, Wanted
from svc_jupyter.service.commands.row_views.views import ClientGone, RowsFile, RowViews
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

router = resource_router(prefix="/commands", tags=["commands"])
ViewsDep = Annotated[RowViews, part(RowViews)]
_CLIENT_GONE = 499
_MOST_CONDITIONS = 100
_LONGEST = 30_000
_Names = Annotated[
    str | None,
    Query(max_length=_LONGEST, description="names with commas between them, or a JSON array for names with commas"),
]


async def _wanted(
    search: Annotated[
        str, Query(max_length=1000, description="only rows with this text in a column, in upper or lower case")
    ] = "",
    where: Annotated[
        str | None,
        Query(
            max_length=_LONGEST,
            description="a JSON array of conditions that a row must all meet: "
            '`[["origin","=","JFK"],["delay",">",30]]`. '
            "The operators are =, !=, <, <=, >, >=, contains and is_null; a row without a value meets only is_null",
        ),
    ] = None,
) -> Wanted:
    """Return the rows that a reader wants. Raises `Invalid`."""
    return Wanted(search, _conditions(where))


async def _rows_file(
    command_id: Id,
    commands: CommandsDep,
    caller: ReaderDep,
    sequence_number: Annotated[int | None, Query(description="which sub-command's, from 1, of a composite")] = None,
    dump: Annotated[
        str | None, Query(max_length=255, description="which DUMP's of a Pig command: alias, or number")
    ] = None,
    table: Annotated[
        str | None, Query(max_length=255, description="which TABLE of a note's run: number, or paragraph")
    ] = None,
) -> RowsFile:
    """Return the file of a result. Raises what reading the results raises."""
    row = await commands.row(command_id, caller)
    if sequence_number is not None:
        row = await commands.child_row(row, sequence_number)
    commands.check_ended(row)
    result = result_of(row, dump, table)
    if result is None:
        raise Invalid(f"command {row.id} has no rows")
    root = commands.root(row)
    async with commands.naming_deletion(row, Files.RESULTS):
        results.check_there(root, result)
        try:
            return RowsFile.at(root / result.file, is_text=result.form is ResultForm.LINES)
        except OSError:
            raise NotFound(f"the result of command {row.id} is no longer on the service's disk") from None


_WantedDep = Annotated[Wanted, Depends(_wanted)]
_RowsDep = Annotated[RowsFile, Depends(_rows_file)]


@router.get("/{command_id}/rows", dependencies=[NEEDS_TO_READ], responses={200: {"model": ResultRows}})
async def get_rows(
    request: Request,
    views: ViewsDep,
    wanted: _WantedDep,
    rows: _RowsDep,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_ROWS)] = 100,
    sort: _Names = None,
    columns: _Names = None,
) -> Response:
    """Return a page of the rows of a command that is done.

    `sort` has columns, `-` before a name for the largest first; rows that are equal keep the order of the result. The
    second column of a name is called `name#2`, and one without a name `#1`. A page has fewer rows than `limit` where
    they have many columns.
    """
    question = Question(
        Ask.PAGE,
        wanted,
        sort=_names(sort, "sort") or (),
        columns=_names(columns, "columns"),
        offset=offset,
        limit=limit,
    )
    return await _answer(request, views, rows, question)


@router.get("/{command_id}/rows/value", dependencies=[NEEDS_TO_READ], responses={200: {"model": RowValue}})
async def get_value(
    request: Request,
    views: ViewsDep,
    wanted: _WantedDep,
    rows: _RowsDep,
    row: Annotated[int, Query(ge=0, le=2**53, description="counted from 0, in the order of `sort`")],
    column: Annotated[str, Query(max_length=_LONGEST)],
    sort: _Names = None,
) -> Response:
    """Return the value of a column in one of the rows with the text that meet the conditions, whole."""
    question = Question(Ask.VALUE, wanted, sort=_names(sort, "sort") or (), offset=row, column=column)
    return await _answer(request, views, rows, question)


@router.get(
    "/{command_id}/columns/{name:path}/summary",
    dependencies=[NEEDS_TO_READ],
    responses={200: {"model": ColumnSummary}},
)
async def get_summary(request: Request, views: ViewsDep, wanted: _WantedDep, rows: _RowsDep, name: str) -> Response:
    """Return what a column holds in the rows with the text that meet the conditions.

    The name is as `GET commands/ID/rows` gives it, percent-encoded.
    """
    question = Question(Ask.SUMMARY, wanted, column=name)
    return await _answer(request, views, rows, question)


@router.get("/{command_id}/rows/points", dependencies=[NEEDS_TO_READ], responses={200: {"model": ChartPoints}})
async def get_points(
    request: Request,
    views: ViewsDep,
    wanted: _WantedDep,
    rows: _RowsDep,
    x: Annotated[str, Query(max_length=_LONGEST)],
    y: Annotated[str, Query(max_length=_LONGEST)],
    chart: Chart | None = None,
    sort: _Names = None,
) -> Response:
    """Return the points of a chart of all rows with the text that meet the conditions.

    `y` is a column of numbers. A line or a scatter chart needs numbers or times in `x`, too; a bar chart of other
    values has the first 50 in the order of `sort`. Without `chart` it is a line or, of other values, bars.
    """
    question = Question(Ask.POINTS, wanted, sort=_names(sort, "sort") or (), column=x, y=y, chart=chart)
    return await _answer(request, views, rows, question)


async def _answer(request: Request, views: RowViews, rows: RowsFile, question: Question) -> Response:
    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    try:
        return Response(await views.answer(rows, question, gone), media_type="application/json")
    except ClientGone:
        return Response(status_code=_CLIENT_GONE)


def _names(text: str | None, field: str) -> Sequence[str] | None:
    """Return the names in a parameter; an empty one counts as none. Raises `Invalid`."""
    if not text:
        return None
    if not text.startswith("["):
        return text.split(",")
    names = _json(text, field)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Invalid(f"{field}: must be names of columns")
    return names


def _conditions(text: str | None) -> tuple[Condition, ...]:
    """Return the conditions of a filter. Raises `Invalid`."""
    if not text:
        return ()
    found = _json(text, "where")
    if not isinstance(found, list) or len(found) > _MOST_CONDITIONS:
        raise Invalid(f"where: must be an array of {_MOST_CONDITIONS} conditions or fewer")
    return tuple(_condition(item) for item in found)


def _condition(item: Any) -> Condition:
    if not isinstance(item, list) or not 2 <= len(item) <= 3 or not isinstance(item[0], str):
        raise Invalid('where: a condition must be [column, operator, value], as ["origin", "=", "JFK"]')
    try:
        operator = Operator(item[1])
    except ValueError:
        raise Invalid(f"where: the operator must be one of {', '.join(Operator)}, not {str(item[1])[:40]!r}") from None
    if len(item) == 2 and operator is not Operator.IS_NULL:
        raise Invalid(f"where: {operator} needs a value")
    return Condition(item[0], operator, item[2] if len(item) > 2 else None)


def _json(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(f"{field}: is not JSON") from None
