"""Tables, columns and functions from the service's catalogues, for completion: fetched behind, kept, and looked after.

A completion waits for them only briefly, and not at all while the service reads a database for the first time; what
comes late is there the next time. It never starts a service.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from svc_jupyter.magics.completion.known_tables import KnownTables, TableName
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.session.session import Background, Session
from svc_jupyter.magics.tables import DEFAULT_SCHEMA, all_tables
from svc_jupyter.sql_tokens import Dialect

if TYPE_CHECKING:
    from svc_jupyter.api.catalogues import CatalogueFunction
    from svc_jupyter.client import Client

WAIT_SECONDS = 0.25
"""How long a completion waits for names that are not known yet; users notice more than 0.3 s."""
FRESH_SECONDS = 3.0
"""How long a catalogue's version is not asked for again."""
_READING_SECONDS = 30.0
"""How long one request waits for the first reading of a database."""
_READINGS = 10
"""Such requests, until a later completion asks again."""
_TABLES = 20_000
_COLUMNS = 200
"""Tables in one answer, and tables whose columns are in one."""
_MOST_TABLES = 100_000
_MOST_TABLES_OF_HIVE = 1000
"""As far as they are listed one by one, by a service without catalogues."""
_DIALECTS = {
    "postgresql": Dialect.POSTGRESQL,
    "redshift": Dialect.REDSHIFT,
    "mysql": Dialect.MYSQL,
    "sqlserver": Dialect.SQLSERVER,
    "sqlite": Dialect.SQLITE,
}


class KnownCatalogue:
    """One catalogue: a tap's by its name or id, the default tap's with an empty one, or Hive's with None.

    Never raises, never waits long.
    """

    def __init__(self, session: Session, tap: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._tap = tap
        self._clock = clock
        self._lock = threading.Lock()
        self._known = KnownTables()
        self._version: str | None = None
        self._tap_id: int | None = None
        self._has_catalogue = True
        self._looked = float("-inf")
        self._is_answered = threading.Event()
        self._loading: Background[None] | None = None
        self._learning: Background[None] | None = None
        self.dialect = Dialect.HIVE if tap is None else Dialect.OTHER
        """The tap's, once it is known; a service without catalogues does not tell that of a URL."""

    def tables(self) -> KnownTables:
        """Return what is known within WAIT_SECONDS, and look behind whether there is something new."""
        with self._lock:
            now = self._clock()
            is_idle = self._loading is None or self._loading.wait(0)
            if is_idle and now - self._looked > FRESH_SECONDS:
                self._looked = now
                self._is_answered.clear()
                self._loading = Background(self._load, "completion").start()
        if self._version is None:
            self._is_answered.wait(WAIT_SECONDS)
        return self._known

    def learn(self, known: KnownTables) -> None:
        """Fetch the columns that are missing, and wait for them for at most WAIT_SECONDS."""
        with self._lock:
            if self._learning is None or self._learning.wait(0):
                missing = known.missing()
                self._learning = Background(lambda: self._learn(known, missing), "completion").start()
            learning = self._learning
        learning.wait(WAIT_SECONDS)

    def _load(self) -> None:
        from svc_jupyter.client.errors import NotFound, SvcError

        try:
            if not self._session.reachable():
                return
            client = self._session.client()
            if self._tap is not None:
                tap = self._session.tap(self._tap or None)
                self._tap_id, self.dialect = tap.id, _DIALECTS.get(tap.db_type, self.dialect)
            try:
                self._load_catalogue(client)
            except NotFound:
                self._has_catalogue = False
                self._take("", _without_catalogue(client, self._tap_id))
        except NotFound:
            self._session.forget_tap(self._tap or None)
        except (SvcError, SvcUsageError):
            return  # a completion cannot report it; the cell itself will
        finally:
            self._is_answered.set()

    def _load_catalogue(self, client: Client) -> None:
        state = client.catalogues.get(self._tap_id)
        if state.dialect in set(Dialect):
            self.dialect = Dialect(state.dialect)
        for _ in range(_READINGS):
            if state.version is not None or state.state != "filling":
                break
            self._is_answered.set()  # nobody waits for a first reading
            state = client.catalogues.get(self._tap_id, wait=_READING_SECONDS)
        if state.version is not None and state.version != self._version:
            known = KnownTables.of(state.default_schema, _all_names(client, self._tap_id))
            for function in _functions(client, self._tap_id):
                functions = known.table_functions if function.type == "table function" else known.functions
                functions.append((function.schema_name, function.name))
            self._take(state.version, known)

    def _take(self, version: str, known: KnownTables) -> None:
        self._known, self._version = known, version

    def _learn(self, known: KnownTables, missing: dict[str, list[str]]) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            client = self._session.client()
            for schema, tables in missing.items():
                for start in range(0, len(tables), _COLUMNS):
                    some = tables[start : start + _COLUMNS]
                    known.learn(schema, some, self._columns(client, schema, some))
        except SvcError:
            return  # a later completion asks again

    def _columns(self, client: Client, schema: str, tables: list[str]) -> dict[str, list[str]]:
        if self._has_catalogue:
            found = client.catalogues.columns(self._tap_id, schema, tables)
            return {table.name: [column.name for column in table.columns] for table in found}
        if self._tap_id is not None:
            return {}
        return {table: [column.name for column in client.hive.columns(schema, table)] for table in tables}


class KnownCatalogues:
    """The catalogues that a notebook has used."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str | None, KnownCatalogue] = {}

    def of_tap(self, name: str | None) -> KnownCatalogue:
        """Return the catalogue of a tap; without a name, of the default tap or the only one."""
        return self._of(name or self._session.settings.default_tap or "")

    def of_hive(self) -> KnownCatalogue:
        """Return the catalogue of Hive's metastore, which Spark and Presto use, too."""
        return self._of(None)

    def _of(self, tap: str | None) -> KnownCatalogue:
        return self._known.setdefault(tap, KnownCatalogue(self._session, tap))


def _all_names(client: Client, tap_id: int | None) -> Iterator[TableName]:
    for offset in range(0, _MOST_TABLES, _TABLES):
        found = client.catalogues.tables(tap_id, offset=offset, limit=_TABLES)
        yield from ((table.schema_name, table.name) for table in found.tables)
        if offset + _TABLES >= found.total:
            return


def _functions(client: Client, tap_id: int | None) -> list[CatalogueFunction]:
    """Return the functions that users have made; none of a service that does not tell them."""
    from svc_jupyter.client.errors import NotFound

    try:
        return client.catalogues.functions(tap_id)
    except NotFound:
        return []


def _without_catalogue(client: Client, tap_id: int | None) -> KnownTables:
    """Return the tables as every service lists them. Raises the client's NotFound for a tap that has gone."""
    if tap_id is None:
        return KnownTables.of(DEFAULT_SCHEMA, itertools.islice(all_tables(client), _MOST_TABLES_OF_HIVE))
    names = [(table.schema_name or "", table.name) for table in client.db_taps.tables(tap_id)]
    schemas = {schema for schema, _ in names}
    return KnownTables.of(schemas.pop() if len(schemas) == 1 else None, names)
