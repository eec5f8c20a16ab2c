"""The sessions' parent: it has loaded what they need, and forks one in some milliseconds.

A request is a line of JSON, sent with the session's end of a connection; the answer is the process number. The answer
to `{"wait": pid}` is how that process ended. A process that forks must have only one thread.

`python -m benchmarks spark`: a cell with a session of its own, right after another one, takes 0.9 times as long as in
Spark Connect, and 5.6 times where its session loads Spark, pandas and Arrow itself. A run of a note takes 0.2 s, and
then 0.6 s.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from typing import Any, NoReturn

from .processes import LINE_LIMIT, Ended, SessionProcess

_MESSAGE_BYTES = 65_536
_SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that forks must have no threads; these libraries start some when they are loaded."""


class Zygote:
    """Forks the processes of one Python, which executors also use for the sessions' code."""

    def __init__(self, python: str) -> None:
        self.python = python
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [python, "-m", "svc_spark.zygote", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=os.environ | _SINGLE_THREADED | {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python},
        )
        theirs.close()
        self._turn = asyncio.Lock()
        self._children: set[int] = set()

    @property
    def is_running(self) -> bool:
        """Return whether it is alive."""
        return self._process.poll() is None

    async def fork(self, settings: dict[str, Any]) -> SessionProcess:
        """Return a new process, which attaches to the driver by itself."""
        ours, theirs = socket.socketpair()
        try:
            answer = await self._asked(settings, [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._children.add(answer["pid"])
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT)
        return SessionProcess(answer["pid"], reader, writer, self)

    async def status_of(self, pid: int) -> int | None:
        """Return the exit status of a process that is ending."""
        answer = await self._asked({"wait": pid}, [])
        self._children.discard(pid)
        status: int | None = answer["status"]
        return status

    @property
    def has_children(self) -> bool:
        """Return whether a process of it may still be alive."""
        return bool(self._children)

    async def end(self) -> None:
        """End it, whatever it does; its processes have ended before."""
        async with self._turn:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            self._ours.close()

    async def _asked(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        async with self._turn:
            socket.send_fds(self._ours, [json.dumps(request).encode()], descriptors)
            answer = await asyncio.to_thread(self._ours.recv, _MESSAGE_BYTES)
        if not answer:
            raise Ended("the process that makes sessions is gone")
        return dict(json.loads(answer))


def serve(control: socket.socket) -> None:
    """Answer requests until the server is gone."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 1)
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


def main() -> None:
    """Load everything, then serve on the connection whose number is the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from .attach import load  # not in the server, which needs no Spark

    load()
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
