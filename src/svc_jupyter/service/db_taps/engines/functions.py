"""The functions that the users of a database have made, as far as its SQL has a way to list them.

A row is schema, name, and `function`, or `table function` for one that stands behind FROM. An overloaded one may come
several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc_jupyter.sql_tokens import Dialect

_STANDARD: Final = """SELECT ROUTINE_SCHEMA, ROUTINE_NAME,
  CASE DATA_TYPE WHEN 'TABLE' THEN 'table function' ELSE 'function' END
FROM INFORMATION_SCHEMA.ROUTINES
WHERE ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_SCHEMA NOT IN ('mysql', 'sys')"""
FUNCTIONS: Final[Mapping[Dialect, str]] = {
    # Triggers, and what an extension has for the server's own use, cannot be called in a statement.
    Dialect.POSTGRESQL: """SELECT n.nspname::text, p.proname::text,
  CASE WHEN p.proretset THEN 'table function' ELSE 'function' END
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND p.prokind <> 'p' AND p.prorettype::regtype::text NOT IN ('internal', 'trigger', 'event_trigger')
  AND 'internal'::regtype <> ALL (p.proargtypes)
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')""",
    Dialect.MYSQL: _STANDARD,
    Dialect.SQLSERVER: _STANDARD,
    Dialect.DUCKDB: """SELECT schema_name, function_name,
  CASE function_type WHEN 'table_macro' THEN 'table function' ELSE 'function' END
FROM duckdb_functions() WHERE database_name = current_database()""",
}
"""Queries by dialect. A system that only speaks the dialect may refuse its query."""
