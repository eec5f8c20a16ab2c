"""The metastore's schema in the service's PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from psycopg import sql

from svc_jupyter.service.hive.failures import MetastoreFailure
from svc_jupyter.service.hive.metastore_database import SCHEMA

_KEY: Final = 5_836_214_907
"""Of the lock under which one metastore at a time starts: two that make the same tables at once would both fail."""


@asynccontextmanager
async def starting_alone(url: str) -> AsyncIterator[None]:
    """Make the schema where it is missing, and hold off other machines' metastores. Raises `MetastoreFailure`."""
    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute("SELECT pg_advisory_lock(%s)", [_KEY])
            await connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
            yield
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise MetastoreFailure(f"the Hive metastore has no schema {SCHEMA} in PostgreSQL: {reason}") from error
