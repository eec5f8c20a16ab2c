"""The process that evaluates macros, separate from the service so that no macro can crash it.

Runs as a file with the standard library only; it exchanges JSON lines over the socket at its descriptor 0 and ends with
it. The realm (engine, moment, prelude) is made once; each request is evaluated in a fork of it, so that one command's
macros leave nothing behind for the next. Forking takes 1 ms, a new realm 15 ms.

The engine's own limits give good error texts but are not sufficient: `Array(1e9).join()`, `reverse` of a long
array-like and `JSON.stringify` of a shared structure exceeded its time limit when tried. The kernel's timers and limits
on the fork also stop these, and contain a crash of the engine.
"""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

CPU_SECONDS = 1.0
"""Processor seconds of all macros of a command together."""
MEMORY_BYTES = 32 * 2**20
"""What the engine may allocate for a command's macros, moment included (1.7 MB)."""
STACK_BYTES = 256 * 2**10
VALUE_LIMIT = 64 * 2**10
"""Longest value of one macro, in characters of its JSON text."""
KILL_CPU_SECONDS = CPU_SECONDS + 0.25
"""Processor seconds after which the kernel ends a fork that the engine did not stop."""
KILL_SECONDS = 5.0
"""Wall-clock seconds for a fork, which waits for nothing but the processor."""
PROCESS_BYTES = 512 * 2**20
"""Address space of a fork: the engine's memory, Python's (20 MB) and copies of texts on their way out."""
REPLY_BYTES = 8 * 2**20
EXIT_UNEXPECTED = 70

Answer = tuple[bool, str]


class Realm:
    """The engine with its libraries, ready to be forked."""

    def __init__(self, engine: ModuleType, scripts: Iterable[str]) -> None:
        self._context: Any = engine.Context()
        self._context.set_max_stack_size(STACK_BYTES)
        self._exception: type[Exception] = engine.JSException
        self._open: Any = None
        for script in scripts:
            self._open = self._context.eval(Path(script).read_text(encoding="utf-8"))
        self._context.gc()

    def answers(self, request: dict[str, Any]) -> Iterable[bool | Answer]:
        """Yield whether the zone is known, then for each macro true and its JSON text, or false and the reason.

        Stops at the first that fails. Only called in a fork.
        """
        self._context.set_memory_limit(MEMORY_BYTES)
        # The engine would convert integers to 32 bits.
        assign = self._open(float(request["milliseconds"]), request["zone"])
        if assign == "":
            yield False
            return
        yield True
        for name, expression in request["macros"]:
            answer = self._assign(assign, name, expression)
            yield answer
            if not answer[0]:
                return

    def _assign(self, assign: Callable[[str, str, float], Any], name: str, expression: str) -> Answer:
        self._context.set_time_limit(max(CPU_SECONDS - time.process_time(), 0.001))
        try:
            answer = json.loads(assign(name, expression, float(VALUE_LIMIT)))
        except self._exception as error:
            return False, explain(str(error))
        except (TypeError, ValueError, RecursionError):
            answer = None
        match answer:
            case [bool(succeeded), str(text)]:
                return succeeded, text
            case _:
                # A macro replaced a function that the prelude uses, such as Array.prototype.toJSON.
                return False, "the value cannot be read"


def explain(error: str) -> str:
    """Return the reason from an error of the engine itself, without the engine's stack."""
    first = error.partition("\n")[0].strip()
    if first.endswith("interrupted"):
        return f"all macros together took more than {CPU_SECONDS:g} s of processor time"
    if first in ("", "null", "[uninitialized]", "[unsupported type]"):
        return "the memory is used up"
    return first


def load_engine(path: str) -> ModuleType:
    """Return the JavaScript engine's extension module, loaded from its file: this process has no site-packages."""
    spec = importlib.util.spec_from_file_location("_quickjs", path)
    if spec is None or spec.loader is None:
        raise ImportError("the JavaScript engine is not an extension module of this Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def confine() -> None:
    """Apply the kernel's limits to this process: time, memory, and no opening, writing, starting or dumping."""
    signal.setitimer(signal.ITIMER_PROF, KILL_CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, KILL_SECONDS)
    limits = {
        resource.RLIMIT_AS: PROCESS_BYTES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for limit, value in limits.items():
        try:
            resource.setrlimit(limit, (value, value))
        except (OSError, ValueError):
            continue  # no such limit, or a stricter one: the timers and the engine's limits remain


def answer_in_fork(realm: Realm, request: dict[str, Any]) -> dict[str, Any]:
    """Evaluate the request in a fork; return the answers so far, and how the fork ended (negative = signal)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_fork(realm, request, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        text = pipe.read(REPLY_BYTES)
    _, status = os.waitpid(child, 0)
    complete = text.rpartition(b"\n")[0]
    return {"answers": [json.loads(line) for line in complete.splitlines()], "exit": os.waitstatus_to_exitcode(status)}


def run_fork(realm: Realm, request: dict[str, Any], writing: int) -> NoReturn:
    """Write the answers of the request to the pipe, one JSON line each, and end this process."""
    code = EXIT_UNEXPECTED
    try:
        os.close(0)  # macros must not reach the socket to the service
        confine()
        with open(writing, "wb", buffering=0) as pipe:
            for answer in realm.answers(request):
                pipe.write(json.dumps(answer).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def send(channel: socket.socket, message: dict[str, Any]) -> None:
    """Send one JSON line."""
    channel.sendall(json.dumps(message).encode() + b"\n")


def main(engine: str, *scripts: str) -> None:
    """Load the realm, report whether that worked, then answer requests until the service closes its end."""
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF, signal.SIGALRM})
    with socket.socket(fileno=0) as channel, channel.makefile("rb") as requests:
        try:
            realm = Realm(load_engine(engine), scripts)
        except (ImportError, OSError) as error:
            send(channel, {"error": str(error)})
            return
        send(channel, {"error": None})
        gc.freeze()
        for line in requests:
            send(channel, answer_in_fork(realm, json.loads(line)))


if __name__ == "__main__":
    main(*sys.argv[1:])
