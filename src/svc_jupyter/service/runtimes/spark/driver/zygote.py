"""The sessions' parent: it has loaded what they need, and forks one in some milliseconds.

A request is a line of JSON, sent with the session's end of a connection; the answer is the process number. The answer
to `{"wait": pid}` is how that process ended. A process that forks must have only one thread.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import traceback
from typing import NoReturn

_REQUEST_BYTES = 65_536


def serve(control: socket.socket) -> None:
    """Answer requests until the server is gone."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 1)
        if not data:
            return
        request = json.loads(data)
        if "wait" in request:
            control.send(json.dumps({"status": _status_of(request["wait"])}).encode())
            continue
        pid = os.fork()
        if pid == 0:
            control.close()
            _become_session(descriptors[0], request)
        os.close(descriptors[0])
        control.send(json.dumps({"pid": pid}).encode())


def _status_of(pid: int) -> int | None:
    """Return a process's exit code, negative for a signal's number; None when it was already requested."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None


def _become_session(descriptor: int, settings: dict[str, str | int | None]) -> NoReturn:
    from .session import run_session

    code = 1
    try:
        run_session(socket.socket(fileno=descriptor), settings)
        code = 0
    except BaseException:  # noqa: BLE001  a forked child must not run on in its parent's code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _load() -> None:
    """Import what a session needs, and what pyspark imports only at first use: seconds on a busy machine."""
    import encodings.idna  # noqa: F401  loaded with the first connection
    import logging

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyspark.sql.classic.dataframe
    import pyspark.sql.functions
    import pyspark.sql.pandas.conversion
    import pyspark.sql.pandas.types
    import pyspark.sql.pandas.utils
    import pyspark.sql.types
    import pyspark.testing.utils  # noqa: F401  asked with every argument that goes to the driver

    pd.DataFrame({"a": np.array([1])})
    pa.array([1]).cast(pa.string())
    from . import session  # noqa: F401

    # It writes each failed query a second time, as JSON, among the program's own errors.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)


def main() -> None:
    """Load everything, then serve on the connection whose number is the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load()
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
