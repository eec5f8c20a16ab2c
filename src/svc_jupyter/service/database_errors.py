"""What the database's errors say: that it is away, that others were in the way, or that a statement is wrong."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from svc_jupyter.service.errors import Unavailable

_SQLITE_AWAY = ("locked", "busy", "full", "I/O", "unable to open", "readonly")
"""Words in SQLite's errors that speak of the file and its disk, not of the statement."""
_POSTGRESQL_AWAY = ("08", "53", "57P", "58")
"""How the codes of PostgreSQL's errors begin that speak of the connection, the server or its disk."""


def is_away(error: Exception) -> bool:
    """Return whether an exception says that the database cannot be reached or used now, by anybody."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.OperationalError):  # SQLite's class for a wrong statement, too
        return any(word in str(error.orig) for word in _SQLITE_AWAY)
    return error.connection_invalidated or (isinstance(error, OperationalError) and not _is_of_one_statement(error))


def is_held_up(error: Exception) -> bool:
    """Return whether an exception says that others held up this one statement: a lock, a deadlock, too little time."""
    return isinstance(error, OperationalError) and not error.connection_invalidated and _is_of_one_statement(error)


def _is_of_one_statement(error: OperationalError) -> bool:
    """Return whether PostgreSQL, which is there and answers, gave up a statement and nothing else.

    Without a code it is the driver that speaks: of a connection that cannot be had, or broke.
    """
    code = getattr(error.orig, "sqlstate", None)
    return code is not None and not code.startswith(_POSTGRESQL_AWAY)


def is_broken(error: Exception) -> bool:
    """Return whether the connection broke, so that nobody knows whether the commit took place: never do it again."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def translated(error: Exception) -> Exception:
    """Return what callers are to see of an error: `Unavailable` where another attempt may succeed."""
    if is_away(error):
        return Unavailable("the service's database is away or busy; try again in a moment")
    if is_held_up(error):
        return Unavailable("others held this up in the service's database for too long; try again in a moment")
    return error
