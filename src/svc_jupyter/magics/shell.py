"""`%%svc_shell`: a shell script that runs on the service (SPEC: Submit a shell command)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.cells import SvcFamily, text_or_location
from svc_jupyter.magics.decorators import argument, line_cell_magic, magics_class, no_var_expand, with_options
from svc_jupyter.magics.failures import Origin
from svc_jupyter.magics.formats import LINES, OUTPUT_FORMATS
from svc_jupyter.magics.handle import CommandHandle
from svc_jupyter.magics.options import parse, submission_fields, submission_options
from svc_jupyter.magics.readers import text_reader

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command


@magics_class
class ShellMagics(SvcFamily):
    """The shell magic."""

    @no_var_expand
    @with_options()
    @argument("--script-location", metavar="URI", help="Run this script of the storage instead of the cell.")
    @argument("--files", metavar="URI,URI", help="Comma-separated files to copy into the working folder.")
    @argument("--archives", metavar="URI,URI", help="Comma-separated archives to unpack in the working folder.")
    @argument("--parameters", metavar="ARGS", help="Arguments of the script, quoted as one text.")
    @argument("--format", choices=OUTPUT_FORMATS, default=LINES, help="How the output becomes a DataFrame.")
    @submission_options
    @line_cell_magic
    def svc_shell(self, line: str, cell: str | None = None) -> pd.DataFrame | CommandHandle | None:
        """Run the cell as a shell script on the service; its output becomes a DataFrame.

        By default the DataFrame has one column `line`. What the script writes to stderr is the command's log.
        A script that fails raises; an interrupt cancels it.
        """
        values = parse(self.svc_shell, line)
        inline = text_or_location(cell, values.script_location, "%svc_shell", "script")
        fields = submission_fields(values, self.shell.user_ns, self.session.settings.default_label)
        given = {name: getattr(values, name) for name in ("script_location", "files", "archives", "parameters")}
        fields |= {name: value for name, value in {"inline": inline, **given}.items() if value is not None}

        def start() -> Command:
            return self.session.client().commands.submit("ShellCommand", **fields)

        return self.submit(values, start, text_reader(values.format), Origin("script", inline or ""))
