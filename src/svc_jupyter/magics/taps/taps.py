"""`%svc_tap`: add, test, change, list and remove the connections to databases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from getpass import getpass
from typing import TYPE_CHECKING, Any

from IPython.core.error import StdinNotImplementedError

from svc_jupyter.magics.arguments.actions import action
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import output_options
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.display.errors import SvcServiceError, SvcUsageError
from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.rendering import Facts
from svc_jupyter.magics.session.session import ask
from svc_jupyter.magics.taps.addresses import TapAddress
from svc_jupyter.magics.taps.waits import CatalogueWait, ConnectionWait

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.catalogues import Catalogue
    from svc_jupyter.api.db_taps import DbTap
    from svc_jupyter.client import Client

TAP_COLUMNS = ("id", "name", "type", "host", "port", "database", "user", "active")
_TABLES = 1000
"""Default number of tables listed; -n overrides it."""
_the_tap = argument("tap", metavar="NAME", help="Tap, by name or id.")
_no_password = argument("--no-password", action="store_true", help="Do not ask: the database lets the user in without.")


class TapMagics(SvcFamily):
    """The magic for taps."""

    @line_magic
    @argument("action", metavar="ACTION", nargs="?", help="What to do (default: list).")
    def svc_tap(self, line: str) -> Any:
        """Work with taps, the stored connections to databases: `%svc_tap add shop postgresql://ann@db.example.org/shop`.

        add NAME URL, test NAME, edit NAME, list, tables NAME [TABLE], remove NAME. Each has its own options:
        `%svc_tap edit --help`. A password is asked for and stored by the service only.
        """
        return self.act("svc_tap", line, "list")

    @action("svc_tap add")
    @argument("tap", metavar="NAME", help="Name of the new tap.")
    @argument("url", metavar="URL", help="Address without the password: postgresql://ann@db.example.org/shop.")
    @_no_password
    def add(self, values: argparse.Namespace) -> Facts:
        """Add a tap, ask for its password, and test the connection."""
        address = TapAddress(values.url)
        fields = address.fields(self._password(address, values))
        tap = ask(lambda: self._client().db_taps.create(values.tap, **fields), "tap")
        self.session.forget_taps()
        return self._tested(tap)

    @action("svc_tap test")
    @_the_tap
    def test(self, values: argparse.Namespace) -> Facts:
        """Connect to a tap's database and count the tables that its user can see."""
        return self._answered(self._tap(values.tap))

    @action("svc_tap edit")
    @_the_tap
    @argument("--name", metavar="NAME", help="New name.")
    @argument("--url", metavar="URL", help="New address, without the password.")
    @argument("--password", action="store_true", help="Ask for a new password.")
    @argument("--active", choices=("yes", "no"), help="Whether commands may use it.")
    @_no_password
    def edit(self, values: argparse.Namespace) -> Facts:
        """Change a tap; what is not named stays."""
        tap = self._tap(values.tap)
        fields: dict[str, Any] = {}
        if values.url:
            address = TapAddress(values.url)
            fields = address.fields(self._password(address, values))
        elif values.password:
            if tap.db_type in ("url", "sqlite"):
                raise SvcUsageError(f"svc_tap edit: the password of tap {tap.name} is part of its URL: give --url")
            fields = {"db_passwd": _asked(f"{tap.db_user or 'the user'} at {tap.db_host}")}
        if values.name:
            fields["name"] = values.name
        if values.active:
            fields["active"] = values.active == "yes"
        if not fields:
            raise SvcUsageError("svc_tap edit: name what to change: --name, --url, --password or --active")
        changed = ask(lambda: self._client().db_taps.update(tap.id, **fields), "tap")
        self.session.forget_taps()
        return self._tested(changed) if changed.active else Facts(f"tap {changed.name}", facts_of(changed))

    @action("svc_tap list")
    @output_options
    def list_taps(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the taps as a DataFrame, newest first."""
        return self.shown(values, ask(lambda: taps_frame(list(self._client().db_taps.iter())), "taps"))

    @action("svc_tap tables")
    @_the_tap
    @argument("table", metavar="TABLE", nargs="?", help="Return the columns of this table: TABLE or SCHEMA.TABLE.")
    @argument("--search", metavar="TEXT", help="Only tables with this text in their name.")
    @argument("--refresh", action="store_true", help="Read the database again first.")
    @output_options
    def tables(self, values: argparse.Namespace) -> pd.DataFrame:
        """Return the tables of a tap as a DataFrame, or the columns of one of them."""
        tap = self._tap(values.tap)
        wait = CatalogueWait(self._client(), tap, line_for(self.shell), refresh=values.refresh)
        catalogue = wait.to_end()
        frame = ask(lambda: self._tables_frame(tap, catalogue, values), "tables")
        return self.shown(values, frame)

    @action("svc_tap remove")
    @_the_tap
    @argument("--yes", action="store_true", help="Remove it without confirmation.")
    def remove(self, values: argparse.Namespace) -> None:
        """Remove a tap; its database stays as it is."""
        tap = self._tap(values.tap)
        if not values.yes:
            print(  # noqa: T201  the answer to the line
                f"Remove tap {tap.name} ({tap.db_type})? Notebooks and schedules that query it will fail; the database "
                "itself stays as it is.\n  Nothing was done. Add --yes to do it."
            )
            return
        ask(lambda: self._client().db_taps.delete(tap.id), "tap")
        self.session.forget_taps()
        print(f"Tap {tap.name} is removed.")  # noqa: T201

    def _client(self) -> Client:
        return self.session.client()

    def _tap(self, wanted: str) -> DbTap:
        return ask(lambda: self._client().db_taps.find(wanted), "tap")

    def _password(self, address: TapAddress, values: argparse.Namespace) -> str | None:
        return None if values.no_password or not address.wants_password else _asked(address.prompt)

    def _tested(self, tap: DbTap) -> Facts:
        """Return a stored tap's facts; a connection that fails is a fact, too, since the tap stays."""
        try:
            return self._answered(tap)
        except SvcServiceError as error:
            facts = [*facts_of(tap), ("connection", f"✗ {error}")]
            return Facts(f"tap {tap.name} is stored, but its database did not answer", facts)

    def _answered(self, tap: DbTap) -> Facts:
        answer = ConnectionWait(self._client(), tap, line_for(self.shell)).to_end()
        return Facts(f"tap {tap.name}", [*facts_of(tap), *answer])

    def _tables_frame(self, tap: DbTap, catalogue: Catalogue | None, values: argparse.Namespace) -> pd.DataFrame:
        client = self._client()
        if catalogue is None:
            found = [table for table in client.db_taps.tables(tap.id) if (values.search or "") in table.name]
            rows = [(table.schema_name, table.name, table.type) for table in found]
            if values.table:
                raise SvcUsageError("svc_tap tables: this service does not tell the columns of tables")
            return frame_of(("schema", "table", "type"), rows)
        if values.table:
            return columns_frame(client, tap.id, values.table, catalogue.default_schema or "")
        limit = _TABLES if values.rows is None else max(values.rows, 1)
        tables = client.catalogues.tables(tap.id, search=values.search, limit=limit).tables
        rows_of = [(table.schema_name, table.name, table.type, table.rows, table.columns) for table in tables]
        return frame_of(("schema", "table", "type", "rows", "columns"), rows_of, integers=("rows",))


def _asked(whose: str) -> str:
    """Return the password that the user types. Raises SvcUsageError where nobody can be asked."""
    try:
        return getpass(f"Password of {whose}: ")
    except (StdinNotImplementedError, EOFError):
        raise SvcUsageError(
            "svc_tap: nobody can be asked for the password here. Add the tap in a notebook that somebody uses, or in "
            "JupyterLab's side panel; --no-password adds one without"
        ) from None


def taps_frame(taps: Sequence[DbTap]) -> pd.DataFrame:
    """Return a row per tap."""
    rows = [
        (tap.id, tap.name, tap.db_type, tap.db_host, tap.port, tap.db_name, tap.db_user, tap.active) for tap in taps
    ]
    return frame_of(TAP_COLUMNS, rows, integers=("port",))


def columns_frame(client: Client, tap_id: int, table: str, default_schema: str) -> pd.DataFrame:
    """Return a row per column of `TABLE` or `SCHEMA.TABLE`. Raises the client's NotFound."""
    from svc_jupyter.client.errors import NotFound

    schema, dot, name = table.partition(".")
    places = [(schema, name)] if dot else []
    for place in [*places, (default_schema, table)]:
        for found in client.catalogues.columns(tap_id, place[0], [place[1]]):
            return frame_of(("name", "type"), [(column.name, column.type) for column in found.columns])
    raise NotFound(f"there is no table {table} in this tap", status=404)


def facts_of(tap: DbTap) -> list[tuple[str, str]]:
    """Return a tap's attributes, for display."""
    address = f"{tap.db_host}:{tap.port}" if tap.port else tap.db_host
    facts = [("type", tap.db_type), ("host", address), ("database", tap.db_name), ("user", tap.db_user)]
    return [(name, value) for name, value in facts if value] + ([] if tap.active else [("active", "no")])
