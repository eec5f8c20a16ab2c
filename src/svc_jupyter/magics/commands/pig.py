"""`%%svc_pig`: a script in Pig Latin that runs on the service."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import (
    check_output_name,
    continued,
    pair,
    parse,
    several_outputs,
    submission_options_with,
    variable_text,
)
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily, text_or_location
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import dump_reader, unchanged
from svc_jupyter.magics.cells.running import Reading, Value
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError, translated_errors
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import plural
from svc_jupyter.magics.display.rendering import is_frame, is_kept, kept_text, shape_of, size_text
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    from svc_jupyter.client import Command, Result

STORE_COLUMNS = ("alias", "location", "rows", "bytes")
_OPTIONS = (
    argument(
        "--param",
        dest="parameter",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="Parameter of the script: $NAME becomes VALUE. Repeatable.",
    ),
    argument(
        "--var",
        dest="variable",
        metavar="NAME",
        action="append",
        default=[],
        help="Parameter of the script: $NAME becomes the value of the notebook's variable NAME. Repeatable.",
    ),
    several_outputs("Assign the DataFrame of the last DUMP to NAME; ALIAS=NAME assigns that of the DUMP of an alias."),
)


class PigMagics(SvcFamily):
    """The Pig magic."""

    @line_cell_magic
    @argument("--script-location", metavar="URI", help="Run this script of the storage instead of the cell.")
    @submission_options_with(*_OPTIONS)
    def svc_pig(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as a Pig script on the service; every DUMP becomes a typed DataFrame.

        All are shown; the last one is the value of the cell. Of a script without DUMP it is a table of what it
        stored, or the lines that it printed. A script that fails raises; an interrupt cancels it, and takes back what
        it had begun to store.
        """
        line, cell = continued(line, cell)
        values = parse(self.svc_pig, line)
        values.out, by_alias = outputs_of(values.outs)
        if by_alias and values.no_wait:
            raise SvcUsageError("svc_pig: -o ALIAS=NAME is for a cell that waits; --no-wait gives a handle to -o NAME")
        definition = pig_definition(values, cell, Context(self.session, self.shell.user_ns))
        return self.run_definition(values, definition, lambda command: self._show_others(command, by_alias, values))

    def _show_others(self, command: Command, by_alias: Mapping[str, str], values: argparse.Namespace) -> None:
        """Assign the DUMPs of `-o`, and show all but the last, which is the value of the cell."""
        missing = [alias for alias in by_alias if alias not in {dump.alias for dump in command.dumps}]
        if missing:
            there = ", ".join(dump.alias for dump in command.dumps) or "none"
            raise SvcMagicError(f"command {command.id} is done, but has no DUMP {missing[0]} for -o; there is {there}")
        limit = self.load_limit(values)
        names = {name: alias for alias, name in by_alias.items()}
        for name, alias in names.items():
            value = self.assign(name, ask(partial(dump_reader(alias), command, limit), "dump"))
            if is_kept(value):
                print(f"DUMP {alias} · {size_text(value)} · {name} · {kept_text(name)}")  # noqa: T201
        if values.quiet:
            return
        for number, dump in enumerate(command.dumps[:-1], start=1):
            with translated_errors():
                self._show(dump.alias, command.dump(number), values)
        if len(command.dumps) > 1:
            print(f"DUMP {command.dumps[-1].alias}")  # noqa: T201  the title of the cell's value

    def _show(self, alias: str, result: Result, values: argparse.Namespace) -> None:
        count, columns = shape_of(result)
        rows = count or 0
        size = f"{rows:,} {plural('row', rows)} × {columns:,} {plural('column', columns)}"
        print(f"DUMP {alias} · {size}")  # noqa: T201  the title of the table below
        self.show(Reading(result, result), values)


def outputs_of(texts: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """Return the name for the last DUMP, and the names by alias for the others, as given by `-o`."""
    last: str | None = None
    by_alias: dict[str, str] = {}
    for text in texts:
        alias, equals, name = text.rpartition("=")
        check_output_name(name, "svc_pig")
        if equals:
            by_alias[alias] = name
        elif last is not None:
            raise SvcUsageError(f"svc_pig: -o {last} and -o {name}: there is one last DUMP; -o ALIAS=NAME names others")
        else:
            last = name
    return last, by_alias


def pig_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%%svc_pig` cell."""
    script = text_or_location(cell, values.script_location, "%svc_pig", "script")
    fields: dict[str, Any] = {"latin_statements": script} if script else {"script_location": values.script_location}
    if parameters := parameters_of(values, context.variables):
        fields["parameters"] = parameters
    return Definition("PigCommand", lambda: fields, pig_reader, Origin("script", script or ""))


def parameters_of(values: argparse.Namespace, variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the script's parameters. Raises SvcUsageError for a duplicate."""
    given = [pair(text, "--param") for text in values.parameter]
    given += [(name, variable_text(name, variables)) for name in values.variable]
    parameters: dict[str, str] = {}
    for name, value in given:
        if name in parameters:
            raise SvcUsageError(f"${name} is given twice among --param and --var")
        parameters[name] = value
    return parameters


def pig_reader(command: Command, limit: int) -> Reading:
    """Read the last DUMP; without one, the script's output; without output, what it stored."""
    reading = unchanged(command.result(), limit)
    value = reading.value
    stores = command.record.outputs.stores if command.record.outputs is not None else []
    if command.dumps or not stores or not is_frame(value) or len(value):
        return reading
    rows = [(store.alias, store.location, store.rows, store.bytes) for store in stores]
    return Reading(frame_of(STORE_COLUMNS, rows, integers=("rows", "bytes")))
