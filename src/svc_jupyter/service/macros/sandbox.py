"""The worker processes that evaluate macros: started at the first macro, shared, ended with the service."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.macros import worker as macro_worker

HERE = Path(__file__).parent
JAVASCRIPT = HERE / "javascript"
SCRIPTS = (
    JAVASCRIPT / "moment.min.js",
    JAVASCRIPT / "moment-timezone-with-data.min.js",
    HERE / "prelude.js",
)
"""The scripts that a worker evaluates before it answers, in this order."""
WORKERS = 2
WAITING_LIMIT = 32
"""Most callers that wait for a worker; each blocks a thread of the service."""
START_SECONDS = 30.0
REPLY_SECONDS = 2 * macro_worker.KILL_SECONDS
"""Longest time without an answer: a working worker ends an evaluation after KILL_SECONDS."""
WAITING_SECONDS = 30.0

log = logging.getLogger(__name__)


class MacroEngineError(Unavailable):
    """No macros can be evaluated now: the engine is missing, or too many commands wait for it."""


class _WorkerGone(Exception):
    """The worker ended before it answered."""


class _Worker:
    """One worker process and the service's end of its socket. Used by one thread at a time."""

    def __init__(self) -> None:
        engine = importlib.util.find_spec("_quickjs")
        if engine is None or engine.origin is None:
            raise MacroEngineError("macros need the package quickjs-ng: pip install 'svc-jupyter[service]'")
        missing = [script.name for script in SCRIPTS if not script.is_file()]
        if missing:
            raise MacroEngineError(
                f"macros need {', '.join(missing)}: the service was installed from a source tree without building; "
                "run pip install"
            )
        self._channel, theirs = socket.socketpair()
        try:
            self._process = self._start(engine.origin, theirs)
        except OSError as error:
            self._channel.close()
            raise MacroEngineError(f"the macro engine's process does not start: {error.strerror}") from error
        finally:
            theirs.close()
        self._replies = self._channel.makefile("rb")
        self._say_hello()

    @staticmethod
    def _start(engine: str, channel: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", macro_worker.__file__, engine, *map(str, SCRIPTS)],
            stdin=channel.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            # No variables of the service; the zone makes JavaScript's Date the same on every machine.
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8"},
            # A group of its own: Ctrl-C does not reach it, and its forks end with it.
            start_new_session=True,
        )

    def _say_hello(self) -> None:
        try:
            error = self._receive(START_SECONDS)["error"]
        except (_WorkerGone, OSError) as gone:
            self.end()
            raise MacroEngineError("the macro engine does not start on this machine") from gone
        if error:
            self.end()
            raise MacroEngineError(f"the macro engine does not start: {error}")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the worker's reply. Raises _WorkerGone when it has ended, TimeoutError when it is stuck."""
        self._channel.settimeout(REPLY_SECONDS)
        try:
            self._channel.sendall(json.dumps(request).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _WorkerGone from error
        return self._receive(REPLY_SECONDS)

    def _receive(self, seconds: float) -> dict[str, Any]:
        self._channel.settimeout(seconds)
        try:
            line = self._replies.readline(macro_worker.REPLY_BYTES * 2)
        except ConnectionResetError as error:
            raise _WorkerGone from error
        if not line.endswith(b"\n"):
            raise _WorkerGone
        reply: dict[str, Any] = json.loads(line)
        return reply

    def end(self) -> None:
        """End the process and its forks; return when it has ended."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # macOS raises the latter when only a zombie is left
            log.debug("macro worker %d had ended before", self._process.pid)
        self._process.wait()
        self._replies.close()
        self._channel.close()


class MacroSandbox:
    """Runs at most `workers` evaluations at once; up to `waiting` callers wait. Safe to use from any thread."""

    def __init__(self, workers: int = WORKERS, waiting: int = WAITING_LIMIT) -> None:
        self._places = threading.BoundedSemaphore(workers)
        self._queue = threading.BoundedSemaphore(workers + waiting)
        self._idle: list[_Worker] = []

    def evaluate(self, macros: list[tuple[str, str]], milliseconds: int, zone: str) -> dict[str, Any]:
        """Return the worker's reply to `macros` at a Unix time in a zone: see macro_worker.answer_in_fork.

        Raises MacroEngineError when the engine is missing, broken or has too many callers.
        """
        request = {"macros": macros, "milliseconds": milliseconds, "zone": zone}
        with self._place():
            while True:
                worker, is_new = self._take()
                try:
                    reply = worker.ask(request)
                except _WorkerGone as gone:
                    worker.end()
                    log.warning("a macro worker ended by itself")
                    if is_new:
                        raise MacroEngineError("the macro engine ended while it evaluated the macros") from gone
                except TimeoutError as stuck:
                    worker.end()
                    log.warning("a macro worker did not answer within %g s and was ended", REPLY_SECONDS)
                    raise MacroEngineError("the macro engine did not answer: the machine is overloaded") from stuck
                except BaseException:
                    worker.end()
                    raise
                else:
                    self._idle.append(worker)
                    return reply

    def close(self) -> None:
        """End the idle workers. The sandbox starts others when it is used again."""
        while self._idle:
            self._idle.pop().end()

    def _take(self) -> tuple[_Worker, bool]:
        """Return an idle or new worker, and whether it is new. Removes workers that ended while idle."""
        try:
            return self._idle.pop(), False
        except IndexError:
            return _Worker(), True

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._queue.acquire(blocking=False):
            raise MacroEngineError("too many commands with macros are being submitted at once: try again")
        try:
            if not self._places.acquire(timeout=WAITING_SECONDS):
                raise MacroEngineError(f"no macro engine was free for {WAITING_SECONDS:g} s: try again")
            try:
                yield
            finally:
                self._places.release()
        finally:
            self._queue.release()


@functools.cache
def shared_sandbox() -> MacroSandbox:
    """Return the sandbox of this process. Its workers end with the process, or with `close`."""
    sandbox = MacroSandbox()
    atexit.register(sandbox.close)
    return sandbox
