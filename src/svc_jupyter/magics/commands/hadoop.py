"""`%svc_hadoop`: a job of Hadoop's own tools on a cluster of the service."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import submission_options
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin

SUB_COMMANDS = ("jar", "streaming", "distcp", "s3distcp")


class HadoopMagics(SvcFamily):
    """The magic for jobs of Hadoop."""

    @line_cell_magic
    @submission_options
    @argument("sub_command", metavar="SUB_COMMAND", choices=SUB_COMMANDS, help="One of " + ", ".join(SUB_COMMANDS))
    @argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="Arguments of the job.")
    def svc_hadoop(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run a jar, a streaming job or a copy on a cluster; its output becomes a DataFrame of lines.

        `%svc_hadoop --name count jar jobs/count.jar in out`: the options of this magic precede the sub-command; the
        arguments of the job follow it. Long arguments may continue on the lines below `%%svc_hadoop`. A cluster that is
        DOWN is started; an interrupt cancels the job.
        """
        return self.run_cell(self.svc_hadoop, hadoop_definition, line, cell)


def hadoop_definition(values: argparse.Namespace, cell: str | None, _context: Context) -> Definition:
    """Return the command of a `%svc_hadoop` line, with the arguments that its cell adds."""
    arguments = [*values.arguments, *_words(cell or "")]
    if not arguments:
        raise SvcUsageError(f"svc_hadoop: {values.sub_command} needs arguments behind it")
    fields: dict[str, Any] = {"sub_command": values.sub_command, "sub_command_args": shlex.join(arguments)}
    return Definition("HadoopCommand", lambda: fields, plain_reader, Origin("arguments"))


def _words(cell: str) -> list[str]:
    try:
        return shlex.split(cell)
    except ValueError as error:
        raise SvcUsageError(f"svc_hadoop: {str(error).lower()} in the arguments below the line") from None
