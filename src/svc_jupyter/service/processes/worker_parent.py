"""The worker processes' parent: it has loaded the modules that they need, and forks one worker per job.

A job comes as a line on stdin (so that its secrets are in no argument, environment or file) and is answered by a line
on stdout: `taken` once the worker runs and has written its `pid`, else the reason. Each worker leads a session of its
own and outlives both this process and the service; this process ends at the end of its stdin. It must have one thread
only, since it forks, and imports as little as possible of the service.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

from svc_jupyter.files import keep_files_private, write_whole
from svc_jupyter.service.processes.identity import Identity

TAKEN = b"taken"
MARK = "SVC_COMMAND_MARK"
"""Environment variable that names the folder of the command a process belongs to (`marks.py`)."""
WORKER_NAME = "svc_worker"
"""The name of a worker's process: its environment is its parent's, so that it can have no mark there."""
WORKING_FOLDER = "work"
"""The working folder of a command's own program, in the folder of its attempt."""
_FAILED = 70
_KILL_ME_FIRST = b"500"
"""Out-of-memory score: when memory runs out, the kernel ends a worker before the service."""


class WorkerJob(Protocol):
    """A worker's job: a dataclass of JSON values and paths."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def folder(self) -> Path:
        """The folder that takes `pid`, `rc` and the result."""

    @property
    def log(self) -> Path:
        """The file to which all output is appended."""


AnyJob = TypeVar("AnyJob", bound=WorkerJob)


def to_line(job: WorkerJob) -> bytes:
    """Return a job as one line of JSON, ended by a newline."""
    return json.dumps(asdict(job), default=os.fspath).encode("ascii") + b"\n"


def from_line(kind: type[AnyJob], line: bytes) -> AnyJob:
    """Return the job from a line of `to_line`; its only paths are `folder` and `log`."""
    value = json.loads(line)
    return kind(**{**value, "folder": Path(value["folder"]), "log": Path(value["log"])})


def freeze() -> None:
    """Exclude loaded objects from garbage collections, which would copy their memory into every worker."""
    gc.collect()
    gc.freeze()


def serve(read_job: Callable[[bytes], AnyJob], work: Callable[[AnyJob], int]) -> None:
    """Fork a worker for each job on stdin until stdin ends; `work` runs a job there and returns its exit code."""
    keep_files_private()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended workers do not remain as zombies
    while line := sys.stdin.buffer.readline():
        answers, answer = os.pipe()
        if os.fork() == 0:
            os.close(answers)
            _become_worker(line, answer, read_job, work)
        os.close(answer)
        with open(answers, "rb") as source:
            told = source.read() or b"the worker ended before it took the job"
        sys.stdout.buffer.write(told.replace(b"\n", b" ") + b"\n")
        sys.stdout.buffer.flush()


def write_code(job: WorkerJob, code: int) -> None:
    """Write the exit code of a job atomically."""
    write_whole(job.folder / "rc", b"%d\n" % code)  # as text, it would first load a codec


def _become_worker(
    line: bytes, answer: int, read_job: Callable[[bytes], AnyJob], work: Callable[[AnyJob], int]
) -> NoReturn:
    """Run the job; never returns into the parent's loop."""
    code = _FAILED
    job: AnyJob | None = None
    try:
        job = read_job(line)
        os.setsid()
        _write_pid(job)
        _detach(job)
        os.write(answer, TAKEN)
        os.close(answer)
        answer = -1
        code = work(job)
        write_code(job, code)
    except BaseException as error:  # noqa: BLE001  a forked child must not run on in its parent's code
        if answer >= 0:
            os.write(answer, f"{type(error).__name__}: {error}".encode())
        else:
            import traceback

            traceback.print_exc()
            if job is not None:
                with contextlib.suppress(OSError):
                    write_code(job, code)
    finally:
        os._exit(code)


def _write_pid(job: WorkerJob) -> None:
    """Claim the job with an exclusively created file, so that it runs once even if it is requested twice.

    Writes the whole identity: a worker has no mark in its environment.
    """
    descriptor = os.open(job.folder / "pid", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, Identity.of_this_process().line.encode("ascii"))
    os.close(descriptor)


def _detach(job: WorkerJob) -> None:
    """Detach from the parent; output goes to the command's log. Name and folder show what the process belongs to."""
    os.environ[MARK] = os.fspath(job.folder)
    os.chdir(job.folder)
    with contextlib.suppress(OSError), open("/proc/self/comm", "wb", buffering=0) as name:
        name.write(WORKER_NAME.encode("ascii"))
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
