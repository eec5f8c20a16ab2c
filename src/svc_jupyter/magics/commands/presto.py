"""`%%svc_presto`: SQL that runs on a Presto cluster of the service."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic, magics_class, no_var_expand, with_options
from svc_jupyter.magics.arguments.options import continued, parse, submission_options
from svc_jupyter.magics.cells.cells import SvcFamily, text_or_location
from svc_jupyter.magics.cells.definitions import Definition
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.display.failures import Origin

if TYPE_CHECKING:
    import pandas as pd


@magics_class
class PrestoMagics(SvcFamily):
    """The Presto magic."""

    @no_var_expand
    @with_options()
    @argument("--script-location", metavar="URI", help="Run this query of the storage instead of the cell.")
    @submission_options
    @line_cell_magic
    def svc_presto(self, line: str, cell: str | None = None) -> pd.DataFrame | CommandHandle | None:
        """Run the cell as SQL on a Presto cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. Without `--label` it
        runs on the only Presto cluster that there is; one that is DOWN is started. A statement that fails raises; an
        interrupt cancels it.
        """
        line, cell = continued(line, cell)
        values = parse(self.svc_presto, line)
        return self.run_definition(values, presto_definition(values, cell))


def presto_definition(values: argparse.Namespace, cell: str | None) -> Definition:
    """Return the command of a `%%svc_presto` cell."""
    query = text_or_location(cell, values.script_location, "%svc_presto", "query")
    fields: dict[str, Any] = {"query": query} if query else {"script_location": values.script_location}
    return Definition("PrestoCommand", lambda: fields, plain_reader, Origin("query", query or ""))
