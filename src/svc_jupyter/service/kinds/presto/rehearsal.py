"""A query that needs no coordinator: it warms up the code that the next query uses.

In a forked process, memory must be copied when it is first used; loading it there, such as the codec for host names,
costs even more.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from svc_jupyter.service.db_taps.job import Connection, Dialect, EngineName
from svc_jupyter.service.kinds.presto.engine import PrestoSqlEngine
from svc_jupyter.service.runtimes.presto.client import Target

_HOST, _PORT = "127.0.0.1", 1
_TARGET: Final = Target(f"http://{_HOST}:{_PORT}", "nobody", "nobody")
_STATS: Final = {"state": "FINISHED", "scheduled": True, "totalSplits": 1, "completedSplits": 1}
_BODY: Final = json.dumps(
    {"id": "none", "stats": _STATS, "columns": [{"name": "one", "type": "integer"}], "data": [[1]]}
).encode()
_ANSWER: Final = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
CONNECTION: Final = Connection("none", "Presto", EngineName.PRESTO, Dialect.PRESTO, "none", _TARGET.to_json())


@contextmanager
def rehearsing_engine(folder: Path) -> Iterator[PrestoSqlEngine]:
    """Yield an engine for one statement, whose answer is ready in this process. Raises `OSError`."""
    here, there = socket.socketpair()

    def connect(host: str, port: int) -> HTTPConnection:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        connection = HTTPConnection(host, port)
        connection.sock = here
        return connection

    with here, there:
        there.sendall(_ANSWER)
        yield PrestoSqlEngine(CONNECTION, folder, connect)
