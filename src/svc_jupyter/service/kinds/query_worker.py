"""The parent of the worker processes of queries and rows: loads Arrow and drivers once (0.3 s), forks in 1 ms.

python -m svc_jupyter.service.kinds.query_worker

`processes/worker_parent.py` describes how a job arrives and what a worker leaves. This module imports nothing of the
service but this folder and that file.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TextIO

from svc_jupyter.service.commands.row_views.job import RowsJob, is_rows_job
from svc_jupyter.service.commands.row_views.process import show
from svc_jupyter.service.db_taps.job import EngineName, Job, from_line
from svc_jupyter.service.ground.imports import Without
from svc_jupyter.service.processes.worker_parent import freeze, serve, write_code
from svc_jupyter.service.processes.worker_parent import from_line as rows_job_from
from svc_jupyter.sql_tokens import Dialect

if TYPE_CHECKING:
    from svc_jupyter.service.db_taps.engines.engine import Engine
    from svc_jupyter.service.db_taps.execution import Execution

_USUAL_DIALECTS = (Dialect.SQLITE, Dialect.POSTGRESQL, Dialect.MYSQL, Dialect.HIVE, Dialect.PRESTO)
_SIGNALLED = 128
_CANCEL_SECONDS = 3


def load() -> None:
    """Import everything that a query needs, so that the forked workers have it in memory."""
    # Arrow imports pandas (0.6 s, 60 MB) at the first Python list, to recognise its arrays: not needed here.
    sys.meta_path.insert(0, Without("pandas"))
    os.environ["SQLITE_TMPDIR"] = "."  # read when the libraries are loaded; a confined query can write to its folder
    import adbc_driver_manager
    import adbc_driver_sqlite
    import pyarrow as pa
    import pyarrow.compute

    from svc_jupyter.service.db_taps.statements import split

    pa.array([1]).cast(pa.string())
    with adbc_driver_sqlite.connect(":memory:") as database, adbc_driver_manager.AdbcConnection(database):
        pass  # loads the driver's library
    for dialect in _USUAL_DIALECTS:
        split("", dialect)  # imports its rules from sqlglot, which takes longer than a short query
    socket.getaddrinfo("127.0.0.1", 1)  # loads the codec of host names, for the same reason
    freeze()


def execution_of(job: Job, log: TextIO | None = None) -> Execution:
    """Return what runs a job in this process; what only some jobs need is imported here."""
    from svc_jupyter.service.db_taps.execution import Execution

    engine = _engine_of(job)
    if job.hive is None:
        return Execution(job, engine, log)
    from svc_jupyter.service.kinds.db_transfer.transfer import TransferExecution

    return TransferExecution(job, engine, log)


def _engine_of(job: Job) -> Engine:
    connection = job.connection
    if connection.engine is EngineName.HIVE:
        from svc_jupyter.service.kinds.hive.engine import HiveEngine

        return HiveEngine(connection, job.folder)
    if connection.engine is EngineName.PRESTO:
        from svc_jupyter.service.kinds.presto.engine import PrestoSqlEngine

        return PrestoSqlEngine(connection, job.folder)
    if connection.engine is EngineName.SQLITE:
        from svc_jupyter.service.db_taps.engines.sqlite import SqliteEngine

        return SqliteEngine(connection)
    if connection.engine is EngineName.POSTGRESQL:
        from svc_jupyter.service.db_taps.engines.postgresql import PostgresqlEngine

        return PostgresqlEngine(connection)
    from svc_jupyter.service.db_taps.engines.sqlalchemy_url import SqlalchemyEngine

    return SqlalchemyEngine(connection)


def _read(line: bytes) -> Job | RowsJob:
    return rows_job_from(RowsJob, line) if is_rows_job(line) else from_line(line)


def _work(job: Job | RowsJob) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the tap's password
    if isinstance(job, RowsJob):
        return show(job)
    execution = execution_of(job)
    if job.connection.engine is EngineName.SQLITE:
        from svc_jupyter.service.db_taps.engines.sqlite_file import confine_to_tap

        execution.prepare = partial(confine_to_tap, job)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    requested = threading.Event()
    threading.Thread(target=_end_on_request, args=(job, execution.cancel, requested), daemon=True).start()
    code = execution.run()
    while requested.is_set():  # the exit code is the signal's, not that of the query it ended
        signal.pause()
    return code


def _end_on_request(job: Job, cancel: Callable[[], None], requested: threading.Event) -> None:
    """On SIGTERM ask the database to end the query, and exit; do not wait for a database that does not answer."""
    number = signal.sigwait({signal.SIGTERM, signal.SIGINT})
    requested.set()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(_CANCEL_SECONDS)
    code = _SIGNALLED + number
    with contextlib.suppress(OSError):
        write_code(job, code)
    cancel()
    os._exit(code)


if __name__ == "__main__":
    load()
    serve(_read, _work)
