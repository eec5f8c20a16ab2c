"""`%%svc_db`: a query that the service runs on one of its DB taps (SPEC: Submit a DB query command)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.cells import SvcFamily, text_or_location
from svc_jupyter.magics.decorators import argument, line_cell_magic, magics_class, no_var_expand, with_options
from svc_jupyter.magics.failures import Origin
from svc_jupyter.magics.handle import CommandHandle
from svc_jupyter.magics.options import parse, submission_fields, submission_options
from svc_jupyter.magics.readers import plain_reader

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command


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
        values = parse(self.svc_db, line)
        query = text_or_location(cell, values.script_location, "%svc_db", "query")
        fields = submission_fields(values, self.shell.user_ns, self.session.settings.default_label)
        fields |= {"query": query} if query else {"script_location": values.script_location}
        wanted = values.tap or self.session.settings.default_tap or None
        origin = Origin("query", query or "")

        def start() -> Command:
            from svc_jupyter.client.errors import Invalid, NotFound

            tap = self.session.tap(wanted)
            origin.target = f"tap {tap.name} ({tap.db_type})"
            try:
                return self.session.client().commands.submit("DbTapQueryCommand", db_tap_id=tap.id, **fields)
            except (Invalid, NotFound):
                self.session.forget_tap(wanted)
                raise

        return self.submit(values, start, plain_reader, origin)
