"""Words of SQL: those that are offered, those that end a name, and how a name is written."""

from __future__ import annotations

import re

from svc_jupyter.sql_tokens import BACKSLASHES, Dialect


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


STARTERS = (
    "SELECT", "WITH", "INSERT INTO", "UPDATE", "DELETE FROM", "MERGE INTO", "CREATE TABLE", "CREATE VIEW",
    "ALTER TABLE", "DROP TABLE", "DROP VIEW", "TRUNCATE TABLE", "DESCRIBE", "EXPLAIN", "SHOW TABLES", "USE", "SET",
)  # fmt: skip
"""Words at the beginning of a statement."""
OFFERED = (
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "JOIN", "LEFT JOIN",
    "RIGHT JOIN", "FULL JOIN", "INNER JOIN", "CROSS JOIN", "ON", "USING", "AS", "AND", "OR", "NOT", "IN", "IS NULL",
    "IS NOT NULL", "LIKE", "BETWEEN", "EXISTS", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "OVER", "PARTITION BY",
    "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "ASC", "DESC", "NULL", "TRUE", "FALSE", "VALUES", "SET",
)  # fmt: skip
"""Words elsewhere in a statement, offered once the first letter is there."""
_SYNTAX = words(
    """SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET FETCH JOIN LEFT RIGHT FULL INNER OUTER CROSS NATURAL LATERAL
    ON USING AS AND OR NOT IN IS NULL LIKE ILIKE RLIKE REGEXP BETWEEN EXISTS CASE WHEN THEN ELSE END UNION EXCEPT MINUS
    INTERSECT ALL ANY SOME DISTINCT INTO VALUES SET UPDATE INSERT DELETE MERGE CREATE ALTER DROP TABLE VIEW WITH
    QUALIFY WINDOW CLUSTER DISTRIBUTE SORT RETURNING TABLESAMPLE UNPIVOT PIVOT FOR DESCRIBE EXPLAIN TRUNCATE"""
)
_RESERVED = _SYNTAX | words(
    """ADD ANALYSE ANALYZE ARRAY ASC ASYMMETRIC AUTHORIZATION BEGIN BINARY BOTH CAST CHECK COLLATE COLUMN COMMIT
    CONSTRAINT CUBE CURRENT CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER
    CURSOR DATABASE DATE DEALLOCATE DECLARE DEFAULT DEFERRABLE DESC DO ESCAPE EXECUTE EXTERNAL EXTRACT FALSE FOREIGN
    FREEZE FUNCTION GRANT GROUPING IF INDEX INITIALLY INTERVAL KEY KEYS LEADING LOCALTIME LOCALTIMESTAMP MATCH NORMALIZE
    NOTNULL OF OFF ONLY OVER OVERLAPS OVERWRITE PARTITION PLACING PRECISION PREPARE PRIMARY PROCEDURE RANGE RANK
    RECURSIVE REFERENCES REVOKE ROLLUP ROW ROWS SCHEMA SESSION_USER SIMILAR SKIP START SYMMETRIC SYSTEM TABLES TIME
    TIMESTAMP TO TRAILING TRANSACTION TRIGGER TRUE UESCAPE UNIQUE UNNEST USER VARIADIC VERBOSE"""
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLOSING = {"[": "]"}


def is_syntax(word: str) -> bool:
    """Return whether a word in capitals ends a name or an alias before it."""
    return word in _SYNTAX


def quote_of(dialect: Dialect) -> str:
    """Return the quote for names."""
    return "`" if dialect in BACKSLASHES else '"'


def is_name(quoted: str, dialect: Dialect) -> bool:
    """Return whether a quoted text is a name; others are strings."""
    return quoted[0] in "`[" or (quoted[0] == '"' and dialect not in BACKSLASHES)


def unquoted(text: str) -> str:
    """Return a name without its quotes; the closing one may be missing."""
    quote = text[:1]
    if not quote or quote not in '"`[':
        return text
    closing = _CLOSING.get(quote, quote)
    return text[1:].removesuffix(closing).replace(closing * 2, closing)


def written(name: str, dialect: Dialect, quote: str = "", *, closed: bool = True) -> str:
    """Return a name as a statement has it: in quotes where it needs them, or where `quote` has been typed.

    PostgreSQL and some others take names without quotes in lower case, so others need them there.
    """
    is_folded = dialect in (Dialect.POSTGRESQL, Dialect.REDSHIFT, Dialect.OTHER) and name != name.lower()
    if not quote and not is_folded and _PLAIN.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    quote = quote or quote_of(dialect)
    closing = _CLOSING.get(quote, quote)
    return f"{quote}{name.replace(closing, closing * 2)}{closing if closed else ''}"
