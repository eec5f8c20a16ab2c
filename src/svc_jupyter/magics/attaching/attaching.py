"""`%svc_attach`: the results of a notebook's commands, in a new kernel."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import load_option, output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.readers import dump_reader, reader_of, sub_reader
from svc_jupyter.magics.cells.running import Reader, Reading, Run, Value
from svc_jupyter.magics.commands.history import origin_of
from svc_jupyter.magics.commands.pig import outputs_of as names_by_alias
from svc_jupyter.magics.commands.pig import pig_reader
from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.executed import executed_notebook
from svc_jupyter.magics.display.formats import LINES
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.rendering import publish
from svc_jupyter.magics.display.status import Use
from svc_jupyter.magics.session.notebook import notebook_path
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.spark_notes import last_table, tables_of
from svc_jupyter.magics.spark_notes import outputs_of as names_by_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from svc_jupyter.client import Command
    from svc_jupyter.magics.attaching.saved_notebook import SavedCommand


class AttachMagics(SvcFamily):
    """The magic that gives a new kernel the results of its notebook."""

    @line_magic
    @argument("id", metavar="ID", type=int, nargs="?", help="Only this command; its DataFrame is returned.")
    @argument("--notebook", metavar="FILE", help="The saved notebook (default: the one of this kernel).")
    @load_option
    @output_options
    def svc_attach(self, line: str) -> Value | None:
        """Assign the variables of this notebook's cells in a new kernel, from their commands: none is run again.

        The saved outputs of the notebook name the commands. One that has not ended is waited for; the rows of a cell
        without `-o` whose end the kernel did not see are shown.
        """
        from svc_jupyter.magics.attaching.saved_notebook import commands_in, to_attach

        values = parse(self.svc_attach, line)
        path = Path(values.notebook).expanduser() if values.notebook else notebook_path(self.shell.user_ns)
        if values.id is not None:
            saved = commands_in(path) if path is not None and (values.notebook or path.is_file()) else []
            return self._attach(values.id, next((one for one in saved if one.command == values.id), None), values)
        if values.out:
            raise SvcUsageError(f"svc_attach: -o {values.out} is for one command: %svc_attach ID -o {values.out}")
        if path is None:
            raise SvcUsageError(
                "svc_attach: which notebook? Its front end does not tell. Add --notebook FILE, or an ID"
            )
        wanted = to_attach(commands_in(path))
        if not wanted:
            print(f"{path.name} has no output of a cell whose result is missed")  # noqa: T201
        problems = []
        for one in wanted:
            try:
                value = self._attach(one.command, one, values)
                if not one.names:
                    publish(value, self.shell)
            except SvcMagicError as error:
                problems.append(str(error))
        if problems:
            raise SvcMagicError("\n".join(problems))
        return None

    def _attach(self, command_id: int, saved: SavedCommand | None, given: argparse.Namespace) -> Value:
        """Assign and return the result of a command as its cell does, once it has ended."""
        command = ask(lambda: self.session.client().commands.get(command_id), "look-up")
        ended = command.ended
        values = given if saved is None else argparse.Namespace(**{**vars(given), **_of_cell(saved, given.out)})
        if saved is not None and saved.created_at != command.record.created_at:
            raise SvcMagicError(
                f"command {command_id} of this service is not the one of the notebook: it was made at "
                f"{command.record.created_at}, that one at {saved.created_at}"
            )
        line, limit = line_for(self.shell), self.load_limit(values)
        read, origin = _reader_of(command, values), origin_of(command.record)
        outcome = Run(lambda: command, read, origin, line, limit, Use.of(values), cancels=False).to_value()
        self.keep(values, outcome.value)
        self.finish(line, outcome, values, ended_before=ended)
        for name, further in self._further(command, values, limit).items():
            self.assign(name, ask(further, "result"))
        if values.out and command.record.command_type == "JupyterNotebookCommand":
            self.shell.user_ns[values.out] = ask(partial(executed_notebook, command), "notebook")
        return outcome.value

    def _further(self, command: Command, values: argparse.Namespace, limit: int) -> dict[str, Callable[[], Reading]]:
        """Return the other tables that a cell assigns, by variable."""
        outs = getattr(values, "outs", [])
        match command.record.command_type:
            case "PigCommand":
                aliases = names_by_alias(outs)[1].items()
                return {name: partial(dump_reader(alias), command, limit) for alias, name in aliases}
            case "SparkCommand" if outs:
                numbers = names_by_number(outs)[1].items()
                return {name: partial(_table, command, number, limit) for number, name in numbers}
            case _:
                return {}


def _table(command: Command, number: int, limit: int) -> Reading:
    found = tables_of(command, limit)
    if number > len(found):
        raise SvcMagicError(f"command {command.id} is done, but has no table {number}; it has {len(found)}")
    return found[number - 1][1]


def _of_cell(saved: SavedCommand, out: str | None) -> dict[str, Any]:
    """Return the options of a cell, as its output has them."""
    return {**saved.options.model_dump(), "out": out or saved.name}


def _reader_of(command: Command, values: argparse.Namespace) -> Reader:
    """Return how the cell of a command reads its result."""
    dump, number, form, types = (getattr(values, name, None) for name in ("dump", "result", "format", "types"))
    match command.record.command_type:
        case _ if dump is not None:
            return dump_reader(dump)
        case "PigCommand":
            return pig_reader
        case "CompositeCommand":
            return sub_reader(number, form or LINES, types)
        case "SparkCommand" if "note_id" in command.record.command:
            return last_table
        case _:
            return reader_of(command, form, types)
