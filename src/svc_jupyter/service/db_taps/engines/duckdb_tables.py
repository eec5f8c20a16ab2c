"""The tables of a DuckDB database. Its SQLAlchemy dialect asks as for PostgreSQL's, and DuckDB lacks some of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.service.db_taps.catalogue_file import CatalogueTable, grouped

if TYPE_CHECKING:
    import sqlalchemy as sa

_TABLES = """
SELECT c.schema_name, c.table_name, if(t.table_oid IS NULL, 'view', 'table'), t.estimated_size, c.column_name,
  lower(c.data_type)
FROM duckdb_columns() AS c
  LEFT JOIN duckdb_tables() AS t ON t.database_oid = c.database_oid AND t.table_oid = c.table_oid
WHERE c.database_name = current_database() AND NOT c.internal
ORDER BY c.schema_name, c.table_name, c.column_index
"""


def catalogue(connection: sa.Connection) -> tuple[str, list[CatalogueTable]]:
    """Return the default schema, and all tables and views; the numbers of rows are DuckDB's estimates."""
    default_schema = str(connection.exec_driver_sql("SELECT current_schema()").scalar())
    rows = connection.exec_driver_sql(_TABLES).fetchall()
    return default_schema, list(grouped(map(tuple, rows), lambda count: count))
