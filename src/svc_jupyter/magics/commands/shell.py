"""`%%svc_shell`: a shell script that runs on the service."""

from __future__ import annotations

import argparse

from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import submission_options
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily, text_or_location
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import text_reader
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.formats import LINES, OUTPUT_FORMATS, TYPES_HELP


class ShellMagics(SvcFamily):
    """The shell magic."""

    @line_cell_magic
    @argument("--script-location", metavar="URI", help="Run this script of the storage instead of the cell.")
    @argument("--files", metavar="URI,URI", help="Comma-separated files to copy into the working folder.")
    @argument("--archives", metavar="URI,URI", help="Comma-separated archives to unpack in the working folder.")
    @argument("--parameters", metavar="ARGS", help="Arguments of the script, quoted as one text.")
    @argument("--format", choices=OUTPUT_FORMATS, default=LINES, help="How the output becomes a DataFrame.")
    @argument("--types", metavar="A=TYPE,B=TYPE", help=TYPES_HELP)
    @submission_options
    def svc_shell(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as a shell script on the service; its output becomes a DataFrame.

        By default the DataFrame has one column `line`. What the script writes to stderr is the command's log.
        A script that fails raises; an interrupt cancels it.
        """
        return self.run_cell(self.svc_shell, shell_definition, line, cell)


def shell_definition(values: argparse.Namespace, cell: str | None, _context: Context) -> Definition:
    """Return the command of a `%%svc_shell` cell."""
    inline = text_or_location(cell, values.script_location, "%svc_shell", "script")
    given = {name: getattr(values, name) for name in ("script_location", "files", "archives", "parameters")}
    fields = {name: value for name, value in {"inline": inline, **given}.items() if value is not None}
    return Definition(
        "ShellCommand",
        lambda: fields,
        text_reader(values.format, values.types),
        Origin("script", inline or "", is_shell=True),
    )
