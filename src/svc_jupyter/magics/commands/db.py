"""`%%svc_db`: a query that the service runs on one of its DB taps."""

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
from svc_jupyter.magics.session.session import Session

if TYPE_CHECKING:
    import pandas as pd


@magics_class
class DbMagics(SvcFamily):
    """The DB query magic."""

    @no_var_expand
    @with_options()
    @argument("--tap", metavar="NAME", help="DB tap to query, by name or id; see %%svc_config default_tap.")
    @argument("--script-location", metavar="URI", help="Run this query of the storage instead of the cell.")
    @submission_options
    @line_cell_magic
    def svc_db(self, line: str, cell: str | None = None) -> pd.DataFrame | CommandHandle | None:
        """Run the cell as a query on a DB tap of the service; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. A query that fails
        raises; an interrupt cancels it.
        """
        line, cell = continued(line, cell)
        values = parse(self.svc_db, line)
        return self.run_definition(values, db_definition(values, cell, self.session))


def db_definition(values: argparse.Namespace, cell: str | None, session: Session) -> Definition:
    """Return the command of a `%%svc_db` cell; its tap is looked up when the fields are asked for."""
    query = text_or_location(cell, values.script_location, "%svc_db", "query")
    text = {"query": query} if query else {"script_location": values.script_location}
    wanted = values.tap or session.settings.default_tap or None
    origin = Origin("query", query or "")

    def fields() -> dict[str, Any]:
        tap = session.tap(wanted)
        origin.target = f"tap {tap.name} ({tap.db_type})"
        return {"db_tap_id": tap.id, **text}

    return Definition("DbTapQueryCommand", fields, plain_reader, origin, lambda: session.forget_tap(wanted))
