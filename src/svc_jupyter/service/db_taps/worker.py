"""The worker processes' parent: loads Arrow and the drivers once, then forks a worker for each job it is given.

    python -m svc_jupyter.service.db_taps.worker

A job comes as a line of JSON on stdin (so its password is in no argument, environment or file) and is answered by a
line on stdout: `taken` once the worker runs and has written its `pid`, else the reason. Loading takes 0.3 s, a fork
1 ms. Each worker leads a session of its own and outlives both this process and the service; this process ends at the
end of its stdin. Nothing of the service but this folder is imported here.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NoReturn

from svc_jupyter.service.db_taps.job import Job, from_line

TAKEN = b"taken"
_SIGNALLED = 128
_FAILED = 70
_CANCEL_SECONDS = 3
_KILL_ME_FIRST = b"500"
"""Out-of-memory score: when memory runs out, a query has to go before the service does."""


class _WithoutPandas(importlib.abc.MetaPathFinder):
    """Arrow imports pandas (0.6 s, 60 MB) as soon as it sees a Python list, to know its arrays: not needed here."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("a worker does without pandas", name=name)
        return None


def load() -> None:
    """Import everything that a query needs, so that the forked workers find it in memory."""
    sys.meta_path.insert(0, _WithoutPandas())
    import adbc_driver_manager
    import adbc_driver_sqlite
    import pyarrow as pa

    import svc_jupyter.service.db_taps.engines.postgresql
    import svc_jupyter.service.db_taps.engines.sqlite
    import svc_jupyter.service.db_taps.execution  # noqa: F401

    pa.array([1]).cast(pa.string())
    with adbc_driver_sqlite.connect(":memory:") as database, adbc_driver_manager.AdbcConnection(database):
        pass  # loads the driver's library
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Fork a worker for each job on stdin until stdin ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # workers that have ended do not stay as zombies
    for line in sys.stdin.buffer:
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            _become_worker(line, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            answer = told.read() or b"the worker ended before it took the job"
        sys.stdout.buffer.write(answer.replace(b"\n", b" ") + b"\n")
        sys.stdout.buffer.flush()


def _become_worker(line: bytes, told: int) -> NoReturn:
    """Take the job and do it; never returns into the parent's loop."""
    code = _FAILED
    try:
        job = from_line(line)
        os.setsid()
        _write_pid(job)
        _detach(job)
        os.write(told, TAKEN)
        os.close(told)
        told = -1
        code = _work(job)
        _write_code(job, code)
    except BaseException as error:  # noqa: BLE001  a forked child must not run on in its parent's code
        if told >= 0:
            os.write(told, f"{type(error).__name__}: {error}".encode())
        else:
            import traceback

            traceback.print_exc()
            with contextlib.suppress(OSError):
                _write_code(job, code)
    finally:
        os._exit(code)


def _write_pid(job: Job) -> None:
    """Claim the job: exclusively, so that it runs once whoever asks for it twice."""
    descriptor = os.open(job.folder / "pid", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
    os.close(descriptor)


def _detach(job: Job) -> None:
    """Leave everything of the parent behind; what is printed goes to the command's log."""
    os.umask(0o077)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the tap's password
    log = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((nothing, 0), (nothing, 1), (log, 2)):
        os.dup2(source, target)
    os.close(log)
    os.close(nothing)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(descriptor, _KILL_ME_FIRST)
        os.close(descriptor)


def _work(job: Job) -> int:
    from svc_jupyter.service.db_taps.execution import Execution, open_engine

    execution = Execution(job, open_engine(job.connection))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    told = threading.Event()
    threading.Thread(target=_end_when_told, args=(job, execution.cancel, told), daemon=True).start()
    code = execution.run()
    while told.is_set():  # the exit code is the signal's, not that of the query it ended
        signal.pause()
    return code


def _end_when_told(job: Job, cancel: Callable[[], None], told: threading.Event) -> None:
    """On SIGTERM ask the database to end the query, and go; a database that does not answer is not waited for."""
    number = signal.sigwait({signal.SIGTERM, signal.SIGINT})
    told.set()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(_CANCEL_SECONDS)
    code = _SIGNALLED + number
    with contextlib.suppress(OSError):
        _write_code(job, code)
    cancel()
    os._exit(code)


def _write_code(job: Job, code: int) -> None:
    part = job.folder / "rc.part"
    part.write_text(f"{code}\n", "ascii")
    part.rename(job.folder / "rc")


if __name__ == "__main__":
    load()
    serve()
