"""`%%svc_hive`: statements of Hive that run on a cluster of the service."""

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
class HiveMagics(SvcFamily):
    """The Hive magic."""

    @no_var_expand
    @with_options()
    @argument("--script-location", metavar="URI", help="Run this query of the storage instead of the cell.")
    @submission_options
    @line_cell_magic
    def svc_hive(self, line: str, cell: str | None = None) -> pd.DataFrame | CommandHandle | None:
        """Run the cell as Hive statements on a cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. A cluster that is DOWN
        is started. A statement that fails raises; an interrupt cancels it.
        """
        line, cell = continued(line, cell)
        values = parse(self.svc_hive, line)
        return self.run_definition(values, hive_definition(values, cell))


def hive_definition(values: argparse.Namespace, cell: str | None) -> Definition:
    """Return the command of a `%%svc_hive` cell."""
    query = text_or_location(cell, values.script_location, "%svc_hive", "query")
    fields: dict[str, Any] = {"query": query} if query else {"script_location": values.script_location}
    return Definition("HiveCommand", lambda: fields, plain_reader, Origin("query", query or ""))
