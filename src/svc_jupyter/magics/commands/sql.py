"""`%%svc_sql`: statements of Spark SQL that run on a cluster of the service."""

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
class SqlMagics(SvcFamily):
    """The magic for Spark SQL."""

    @no_var_expand
    @with_options()
    @argument("--script-location", metavar="URI", help="Run this query of the storage instead of the cell.")
    @argument("--app-id", metavar="NAME", help="Run it in the session of this name, which is kept.")
    @submission_options
    @line_cell_magic
    def svc_sql(self, line: str, cell: str | None = None) -> pd.DataFrame | CommandHandle | None:
        """Run the cell as statements of Spark SQL on a Spark cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. With `--app-id` it sees
        the temporary views of that session, which `%%svc_spark --app-id` has made. A cluster that is DOWN is started.
        """
        line, cell = continued(line, cell)
        values = parse(self.svc_sql, line)
        return self.run_definition(values, sql_definition(values, cell))


def sql_definition(values: argparse.Namespace, cell: str | None) -> Definition:
    """Return the command of a `%%svc_sql` cell: a `SqlCommand`, with a session of a name a `SparkCommand`."""
    query = text_or_location(cell, values.script_location, "%svc_sql", "query")
    if values.app_id:
        text = {"sql": query} if query else {"script_location": values.script_location, "language": "sql"}
        kept: dict[str, Any] = {**text, "app_id": values.app_id}
        return Definition("SparkCommand", lambda: kept, plain_reader, Origin("query", query or ""))
    fields: dict[str, Any] = {"query": query} if query else {"script_location": values.script_location}
    return Definition("SqlCommand", lambda: fields, plain_reader, Origin("query", query or ""))
