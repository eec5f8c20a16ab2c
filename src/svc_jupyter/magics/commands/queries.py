"""`%%svc_db`, `%%svc_hive`, `%%svc_presto` and `%%svc_sql`: queries that the service runs."""

from __future__ import annotations

import argparse
import re
from typing import Any

from svc_jupyter.magics.arguments.bindings import bind_option, bindings
from svc_jupyter.magics.arguments.decorators import argument, line_cell_magic
from svc_jupyter.magics.arguments.options import pasted, submission_options
from svc_jupyter.magics.cells.cells import Context, Definition, SvcFamily, text_or_location
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import plain_reader
from svc_jupyter.magics.cells.running import Value
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin

_ENDS_A_STRING = re.compile(r"['\"\\]")
_location = argument("--script-location", metavar="URI", help="Run this query of the storage instead of the cell.")
_limit = argument("--limit", metavar="ROWS", type=int, help="Ask the engine for so many rows at most.")
_dry_run = argument("--dry-run", action="store_true", help="Show the engine's plan of the query; nothing is run.")


class QueryMagics(SvcFamily):
    """The magics for queries."""

    @line_cell_magic
    @argument("--tap", metavar="NAME", help="DB tap to query, by name or id; see %%svc_config default_tap.")
    @_location
    @bind_option
    @_limit
    @_dry_run
    @submission_options
    def svc_db(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as a query on a DB tap of the service; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. A query that fails
        raises; an interrupt cancels it.
        """
        return self.run_cell(self.svc_db, db_definition, line, cell)

    @line_cell_magic
    @_location
    @bind_option
    @_limit
    @_dry_run
    @submission_options
    def svc_hive(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as Hive statements on a cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. A cluster that is DOWN
        is started. A statement that fails raises; an interrupt cancels it.
        """
        return self.run_cell(self.svc_hive, hive_definition, line, cell)

    @line_cell_magic
    @_location
    @bind_option
    @_limit
    @_dry_run
    @submission_options
    def svc_presto(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as SQL on a Presto cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. Without `--label` it
        runs on the only Presto cluster that there is; one that is DOWN is started. A statement that fails raises; an
        interrupt cancels it.
        """
        return self.run_cell(self.svc_presto, presto_definition, line, cell)

    @line_cell_magic
    @_location
    @argument("--app-id", metavar="NAME", help="Run it in the persistent session of this name.")
    @bind_option
    @_limit
    @_dry_run
    @submission_options
    def svc_sql(self, line: str, cell: str | None = None) -> Value | CommandHandle | None:
        """Run the cell as statements of Spark SQL on a Spark cluster; its typed result becomes a DataFrame.

        Several statements are separated by `;`; the result is that of the last one with rows. With `--app-id` it uses
        the temporary views of that session, created by `%%svc_spark --app-id`. A cluster that is DOWN is started.
        """
        return self.run_cell(self.svc_sql, sql_definition, line, cell)


def db_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%%svc_db` cell; its tap is looked up when the fields are requested."""
    text, origin = _query(values, cell, context, "%svc_db")
    session = context.session
    wanted = values.tap or session.settings.default_tap or None

    def fields() -> dict[str, Any]:
        tap = session.tap(wanted)
        origin.target = f"tap {tap.name} ({tap.db_type})"
        return {"db_tap_id": tap.id, **text}

    return Definition("DbTapQueryCommand", fields, plain_reader, origin, lambda: session.forget_tap(wanted))


def hive_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%%svc_hive` cell."""
    text, origin = _query(values, cell, context, "%svc_hive")
    return Definition("HiveCommand", lambda: text, plain_reader, origin)


def presto_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%%svc_presto` cell."""
    text, origin = _query(values, cell, context, "%svc_presto")
    return Definition("PrestoCommand", lambda: text, plain_reader, origin)


def sql_definition(values: argparse.Namespace, cell: str | None, context: Context) -> Definition:
    """Return the command of a `%%svc_sql` cell: a `SqlCommand`, or with a named session a `SparkCommand`."""
    text, origin = _query(values, cell, context, "%svc_sql")
    if not values.app_id:
        return Definition("SqlCommand", lambda: text, plain_reader, origin)
    given = {"--bind": values.bind, "--limit": values.limit is not None, "--dry-run": values.dry_run}
    for option, is_given in given.items():
        if is_given:
            raise SvcUsageError(f"svc_sql: {option} goes with a query of its own, not with --app-id")
    program = {"sql": text["query"]} if "query" in text else {**text, "language": "sql"}
    return Definition("SparkCommand", lambda: {**program, "app_id": values.app_id}, plain_reader, origin)


def _query(values: argparse.Namespace, cell: str | None, context: Context, magic: str) -> tuple[dict[str, Any], Origin]:
    """Return the fields with a cell's query, or with its location, and its values; and its origin."""
    query = text_or_location(cell, values.script_location, magic, "query")
    fields: dict[str, Any] = {"query": query} if query else {"script_location": values.script_location}
    if values.bind:
        fields["bindings"] = bindings(values.bind, context.variables)
    if values.limit is not None:
        if values.limit < 1:
            raise SvcUsageError(f"{magic}: --limit takes a number of rows, 1 or more, not {values.limit}")
        if values.dry_run:
            raise SvcUsageError(f"{magic}: --limit is for the rows of a run, and --dry-run has none")
        fields["limit"] = values.limit
    if values.dry_run:
        fields["dry_run"] = True
    return fields, Origin("query", query or "", advice=_advice(values, context))


def _advice(values: argparse.Namespace, context: Context) -> str:
    """Return how to give the first value that does not stay a value where it is pasted into SQL."""
    if getattr(values, "app_id", None):
        return ""  # a named session takes no bound values
    for name, text in pasted(values, context.variables):
        if ends := _ENDS_A_STRING.search(text):
            became = f"the value of ${name}$ holds {ends[0]} and became part of the SQL"
            return f"{became}: write :{name} without quotes, and --bind instead of --param or --var"
    return ""
