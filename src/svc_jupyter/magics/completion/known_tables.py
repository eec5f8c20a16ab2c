"""What a notebook knows of a catalogue: tables, functions, and the columns that were asked for. No call is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

TableName = tuple[str, str]
"""The schema and the name of a table or function, as the catalogue spells them."""


@dataclass(slots=True)
class KnownTables:
    """The tables and functions of one version of a catalogue. Names are found in any case."""

    default_schema: str = ""
    functions: list[TableName] = field(default_factory=list)
    table_functions: list[TableName] = field(default_factory=list)
    """Functions that users have made; the latter stand behind FROM."""
    _schemas: dict[str, dict[str, TableName]] = field(default_factory=dict)
    _columns: dict[TableName, list[str]] = field(default_factory=dict)
    _missing: dict[TableName, None] = field(default_factory=dict)

    @classmethod
    def of(cls, default_schema: str | None, names: Iterable[TableName]) -> KnownTables:
        """Return the tables with these names."""
        tables = cls(default_schema or "")
        for schema, name in names:
            tables._schemas.setdefault(schema.lower(), {})[name.lower()] = (schema, name)
        return tables

    def schemas(self) -> list[str]:
        """Return the schemas that have tables; none in a database without schemas."""
        return [next(iter(tables.values()))[0] for schema, tables in self._schemas.items() if schema]

    def tables(self, schema: str) -> list[str]:
        """Return the names of a schema's tables."""
        return [name for _, name in self._schemas.get(schema.lower(), {}).values()]

    def elsewhere(self) -> Iterable[TableName]:
        """Yield the tables that need their schema before their name."""
        for schema, tables in self._schemas.items():
            if schema != self.default_schema.lower():
                yield from tables.values()

    def find(self, name: Sequence[str]) -> TableName | None:
        """Return the table of `TABLE`, `SCHEMA.TABLE` or `CATALOG.SCHEMA.TABLE`."""
        *before, table = (part.lower() for part in name)
        schema = before[-1] if before else self.default_schema.lower()
        return self._schemas.get(schema, {}).get(table)

    def columns(self, table: TableName) -> list[str]:
        """Return a table's columns; those that are not known yet are then among the missing ones."""
        if table not in self._columns:
            self._missing[table] = None
        return self._columns.get(table, [])

    def missing(self) -> dict[str, list[str]]:
        """Return the tables whose columns were asked for in vain, by schema."""
        found: dict[str, list[str]] = {}
        for schema, table in list(self._missing):  # another thread may learn meanwhile
            found.setdefault(schema, []).append(table)
        return found

    def learn(self, schema: str, tables: Sequence[str], columns: Mapping[str, list[str]]) -> None:
        """Take the columns of tables; a table without is one that has gone."""
        for table in tables:
            self._columns[schema, table] = columns.get(table, [])
            self._missing.pop((schema, table), None)
