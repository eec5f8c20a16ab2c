"""Classifies the database's errors: it is away, a statement was blocked by others, or a statement is wrong."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from svc_jupyter.service.ground.errors import DatabaseAway

_SQLITE_AWAY = ("locked", "busy", "full", "I/O", "unable to open", "readonly")
"""Words in SQLite's errors about the file and its disk, not about the statement."""
_POSTGRESQL_AWAY = ("08", "53", "57P", "58")
"""Prefixes of PostgreSQL's error codes about the connection, the server or its disk."""


def is_away(error: Exception) -> bool:
    """Return whether an exception means that the database cannot be used now by any caller."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.OperationalError):  # also SQLite's class for a wrong statement
        return any(word in str(error.orig) for word in _SQLITE_AWAY)
    return error.connection_invalidated or (isinstance(error, OperationalError) and not _is_of_one_statement(error))


def is_held_up(error: Exception) -> bool:
    """Return whether an exception means that others blocked one statement: a lock, a deadlock, a timeout."""
    return isinstance(error, OperationalError) and not error.connection_invalidated and _is_of_one_statement(error)


def _is_of_one_statement(error: OperationalError) -> bool:
    """Return whether PostgreSQL, which is available, cancelled only this statement.

    An error without a code comes from the driver: the connection could not be opened, or broke.
    """
    code = getattr(error.orig, "sqlstate", None)
    return code is not None and not code.startswith(_POSTGRESQL_AWAY)


def is_broken(error: Exception) -> bool:
    """Return whether the connection broke, so that the commit may have succeeded and must not be repeated."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def translated(error: Exception) -> Exception:
    """Return the error for callers: `DatabaseAway` where another attempt may succeed."""
    if is_away(error):
        return DatabaseAway("the service's database is away or busy; try again in a moment")
    if is_held_up(error):
        return DatabaseAway("others held this up in the service's database for too long; try again in a moment")
    return error
