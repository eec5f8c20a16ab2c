"""`%svc_plot`: a chart of a result, drawn from all its rows without loading them."""

from __future__ import annotations

import argparse
import json
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import nearest, out_option, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.session.session import Stored, ask

if TYPE_CHECKING:
    from svc_jupyter.api.result_rows import ChartPoints, ColumnSummary
    from svc_jupyter.magics.display.chart import Chart

CHARTS = ("line", "bar", "histogram", "scatter")
_CONDITION = re.compile(r"(.+?)\s+(=|!=|<=|<|>=|>|contains|is_null)(?:\s(.*))?", re.DOTALL)


class PlotMagics(SvcFamily):
    """The magic that draws a result."""

    @line_magic
    @argument(
        "result",
        metavar="RESULT",
        nargs="?",
        help="The variable of a result, or the id of its command (default: the last result of this kernel).",
    )
    @argument("--dump", metavar="ALIAS", help="Of a Pig command named by its id: the DUMP of an alias, or by number.")
    @argument("--table", metavar="NUMBER", type=int, help="Of a note's run named by its id: a table, from 1.")
    @argument("-x", metavar="COLUMN", required=True, help="The column across.")
    @argument("-y", metavar="COLUMN", help="The column of numbers up; without one, a histogram of -x.")
    @argument(
        "--chart",
        metavar="KIND",
        choices=CHARTS,
        help=f"{', '.join(CHARTS)} (default: a line over numbers and times, bars of other values).",
    )
    @argument(
        "--where",
        metavar="CONDITION",
        action="append",
        default=[],
        help="Only rows that meet it: 'origin = JFK', 'delay > 30', 'note contains rain', 'gate is_null'. Repeatable.",
    )
    @argument("--search", metavar="TEXT", default="", help="Only rows with this text in a column.")
    @argument(
        "--sort", metavar="COLUMN", action="append", default=[], help="Order of bars; --sort=-COLUMN for descending."
    )
    @out_option("the chart, whose `figure` is matplotlib's,")
    def svc_plot(self, line: str) -> Chart:
        """Return a chart of the rows that the service stores: all of them count, and none is loaded.

        A point or bar is the mean of its rows. A line has a band from their least to their largest value.
        """
        values = parse(self.svc_plot, line)
        if values.y is None and values.chart not in (None, "histogram"):
            raise SvcUsageError(f"svc_plot: a {values.chart} chart needs -y, a column of numbers")
        if values.y is not None and values.chart == "histogram":
            raise SvcUsageError("svc_plot: a histogram is of -x alone; leave -y out")
        if find_spec("matplotlib") is None:
            raise SvcUsageError(
                "svc_plot draws with matplotlib, which is not installed: %pip install 'svc-jupyter[plot]'"
            )
        wanted = {"where": [condition(text) for text in values.where], "search": values.search}
        stored = self._stored(values)
        found = ask(lambda: self._found(stored, values, wanted), "chart")
        return self.keep(values, _drawn(found))

    def _found(self, stored: Stored, values: argparse.Namespace, wanted: dict[str, Any]) -> ChartPoints | ColumnSummary:
        client = self.session.client()
        calls = client.commands
        command_id, part = stored
        calls.get(command_id)  # tells what the service knows, and whether there is such a command
        if not client.extended:
            raise SvcUsageError("svc_plot: this service makes no charts. A DataFrame draws itself: df.plot()")
        if values.y is None:
            return calls.column_summary(command_id, values.x, **wanted, part=part)
        chosen = {"chart": values.chart, "sort": values.sort, "part": part}
        return calls.points(command_id, values.x, values.y, **chosen, **wanted)

    def _stored(self, values: argparse.Namespace) -> Stored:
        """Return the result that is meant. Raises SvcUsageError."""
        result = values.result
        part = {name: getattr(values, name) for name in ("dump", "table") if getattr(values, name) is not None}
        is_id = result is not None and result.isascii() and result.isdecimal()
        if len(part) > 1:
            raise SvcUsageError("svc_plot: --dump is for a Pig command, --table for a note's run; leave one out")
        if part and not is_id:
            [(option, which)] = part.items()
            raise SvcUsageError(
                f"svc_plot: --{option} goes with the id of a command, as in %svc_plot 128 --{option} {which}"
            )
        if is_id:
            return Stored(int(result), part)
        if result is None:
            if self.session.last_result is None:
                raise SvcUsageError("svc_plot: this kernel has no result yet; name a command by its id: %svc_plot 128")
            return self.session.last_result
        variables = self.shell.user_ns
        if result not in variables:
            known = [name for name in variables if not name.startswith("_")]
            raise SvcUsageError(f"svc_plot: there is no variable {result}.{nearest(result, known)}")
        value = variables[result]
        stored = Stored(value.id, {}) if isinstance(value, CommandHandle) else self.session.stored(value)
        if stored is None:
            raise SvcUsageError(
                f"svc_plot: {result} is not the stored result of a command, as -o assigns it. Any DataFrame has "
                f"{result}.plot()"
            )
        return stored


def condition(text: str) -> list[Any]:
    """Return a condition as the service takes it, from its words or from JSON. Raises SvcUsageError."""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list):
            return found
    parts = _CONDITION.fullmatch(text.lstrip())
    if parts is None or (parts[2] != "is_null" and parts[3] is None):
        raise SvcUsageError(
            "svc_plot: --where takes 'COLUMN OPERATOR VALUE' with one of =, !=, <, <=, >, >=, contains and is_null, "
            f"not {text!r}"
        )
    column, operator, value = parts.groups()
    return [column, operator, value if operator != "is_null" else value != "false"]


def _drawn(found: ChartPoints | ColumnSummary) -> Chart:
    from svc_jupyter.api.result_rows import ChartPoints
    from svc_jupyter.magics.display.chart import chart_of_points, chart_of_summary

    return chart_of_points(found) if isinstance(found, ChartPoints) else chart_of_summary(found)
