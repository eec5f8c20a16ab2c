"""`%%svc_spark`: a program that runs on a Spark cluster of the service."""

from __future__ import annotations

import argparse
from typing import Any

from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import submission_options
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily, text_or_location
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin

LANGUAGES = ("python", "scala", "sql", "R")


class SparkMagics(SvcFamily):
    """The magic for programs on Spark."""

    @line_cell_magic
    @argument("--language", "-l", choices=LANGUAGES, help="Language of the cell (default: python).")
    @argument("--script-location", metavar="URI", help="Run this program of the storage instead of the cell.")
    @argument("--app-id", metavar="NAME", help="Run it in the persistent session of this name.")
    @argument(
        "--arguments", metavar="OPTIONS", help="Options of spark-submit; the program runs as a separate application."
    )
    @argument("--args", metavar="ARGUMENTS", help="Arguments of the program, quoted as for a shell.")
    @submission_options
    def svc_spark(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as a program on a Spark cluster; a table at its end, or else what it prints, is the DataFrame.

        The program finds `spark` and `sc`. If its last line is an expression that is a table of Spark, its typed rows
        are the result. A named session keeps names and temporary views for the next cell. A cluster
        that is DOWN is started; an interrupt cancels the program.
        """
        return self.run_cell(self.svc_spark, spark_definition, line, cell)


def spark_definition(values: argparse.Namespace, cell: str | None, _context: Context) -> Definition:
    """Return the command of a `%%svc_spark` cell."""
    program = text_or_location(cell, values.script_location, "%svc_spark", "program")
    if values.app_id and values.arguments:
        raise SvcUsageError("%svc_spark: --app-id names a session that is kept; options of spark-submit need their own")
    given = {
        "program": program,
        "script_location": values.script_location,
        "language": values.language or ("python" if program else None),
        "app_id": values.app_id,
        "arguments": values.arguments,
        "user_program_arguments": values.args,
    }
    fields: dict[str, Any] = {name: value for name, value in given.items() if value}
    return Definition("SparkCommand", lambda: fields, plain_reader, Origin("program", program or ""))
