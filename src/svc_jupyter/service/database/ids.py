"""The next ids of tables."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

_LAST_VALUE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")


def go_above(connection: sa.Connection, highest: Mapping[sa.Table, int]) -> None:
    """Raise each table's next id above a number, in a write transaction; a higher one stays unchanged."""
    for table, number in highest.items():
        if connection.dialect.name == "sqlite":
            _go_above_on_sqlite(connection, table.name, number)
        else:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            last = f"(SELECT coalesce(pg_sequence_last_value({sequence}::regclass), 0))"
            connection.execute(
                sa.text(f"SELECT setval({sequence}, :number) WHERE {last} < :number"), {"number": number}
            )


def next_id(connection: sa.Connection, table: sa.Table) -> dict[str, int]:
    """Return the `id` for a new row of a table that has no AUTOINCREMENT on SQLite.

    Empty on PostgreSQL, which has sequences. Call it in a write transaction.
    """
    if connection.dialect.name != "sqlite":
        return {}
    highest = connection.execute(sa.select(sa.func.max(table.c.id))).scalar() or 0
    return {"id": 1 + max(highest, connection.execute(_LAST_VALUE, {"name": table.name}).scalar() or 0)}


def _go_above_on_sqlite(connection: sa.Connection, name: str, number: int) -> None:
    """Set a table's last id in `sqlite_sequence`; tables without AUTOINCREMENT read it in `next_id`."""
    last = connection.execute(_LAST_VALUE, {"name": name}).scalar()
    values = {"name": name, "number": number}
    if last is None:
        connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), values)
    elif last < number:
        connection.execute(sa.text("UPDATE sqlite_sequence SET seq = :number WHERE name = :name"), values)
