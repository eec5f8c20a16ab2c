"""The worker processes' parent, in the parent itself: it has loaded what they need, and forks one for each job.

A job comes as a line on stdin (so its secrets are in no argument, environment or file) and is answered by a line on
stdout: `taken` once the worker runs and has written its `pid`, else the reason. Each worker leads a session of its own
and outlives both this process and the service; this process ends at the end of its stdin. A process that forks must
have one thread only. Next to nothing of the service is imported here.

Unless jobs come one upon the other, a worker is forked ahead and waits: to fork, and to touch for the first time what
is shared with the parent, takes longer than a short job.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn, Protocol, TypeVar

from svc_jupyter.service.process_identity import Identity

TAKEN = b"taken"
MARK = "SVC_COMMAND_MARK"
"""Environment variable that names the folder of the command a process belongs to (`commands/process.py`)."""
MARK_BYTES = 4096
"""What a parent's environment keeps free for its workers' marks: the longest path of a folder."""
END = "end"
"""A named pipe in the folder of a job, where somebody waits for it: opened for writing when all is told."""
_FAILED = 70
_BURST_SECONDS = 0.1
"""A job that comes so soon after another one gets a worker of its own at once: a rehearsal would only hold it up, and
take the processor from a short job before it.
"""
_KILL_ME_FIRST = b"500"
"""Out-of-memory score: when memory runs out, a worker has to go before the service does."""


class WorkerJob(Protocol):
    """What a worker is to do."""

    @property
    def folder(self) -> Path:
        """The folder that takes `pid`, `rc` and the result."""

    @property
    def log(self) -> Path:
        """The file to which everything printed is appended."""


AnyJob = TypeVar("AnyJob", bound=WorkerJob)


class Without(importlib.abc.MetaPathFinder):
    """Makes a module look as if it were not installed: one that others import at great cost if it is, unneeded here."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Raise `ModuleNotFoundError` for the module, and leave others to others."""
        if name == self._name:
            raise ModuleNotFoundError(f"a worker does without {name}", name=name)
        return None


def freeze() -> None:
    """Keep what is loaded out of garbage collections, which would copy its memory into every worker."""
    gc.collect()
    gc.freeze()


def serve(
    read_job: Callable[[bytes], AnyJob], work: Callable[[AnyJob], int], rehearse: Callable[[], None] | None = None
) -> None:
    """Fork a worker for each job on stdin until stdin ends; `work` does a job there and returns its exit code.

    `rehearse` does in a worker, before it has its job, what most jobs do: the memory that they need is then its own.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # workers that have ended do not stay as zombies
    jobs = sys.stdin.buffer
    while True:
        spare = None
        if not select.select([jobs], [], [], _BURST_SECONDS)[0]:
            spare = _Spare(read_job, work, rehearse)
        line = jobs.readline()
        if not line:
            if spare is not None:
                spare.end()
            return
        answer = b"" if spare is None else spare.take(line)
        if not answer:  # nobody waited, or was killed while it did
            answer = _Spare(read_job, work, None).take(line) or b"the worker ended before it took the job"
        sys.stdout.buffer.write(answer.replace(b"\n", b" ") + b"\n")
        sys.stdout.buffer.flush()


class _Spare:
    """A worker that waits for its job, and ends when its parent is gone."""

    def __init__(
        self, read_job: Callable[[bytes], AnyJob], work: Callable[[AnyJob], int], rehearse: Callable[[], None] | None
    ) -> None:
        job, self._job = os.pipe()
        self._told, told = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._job)
            os.close(self._told)
            _become_worker(job, told, read_job, work, rehearse)
        os.close(job)
        os.close(told)

    def take(self, line: bytes) -> bytes:
        """Hand it its job; return its answer, which is empty when it was killed."""
        with contextlib.suppress(BrokenPipeError), open(self._job, "wb", buffering=0) as job:
            view = memoryview(line)
            while view:
                view = view[job.write(view) :]
        with open(self._told, "rb") as told:
            return told.read()

    def end(self) -> None:
        """Tell it that there is no further job; return once it is gone."""
        os.close(self._job)
        with contextlib.suppress(ChildProcessError):  # what is waited for when children are not collected
            os.waitpid(self._pid, 0)


def write_code(job: WorkerJob, code: int) -> None:
    """Write the exit code of a job so that a reader sees it whole."""
    part = job.folder / "rc.part"
    part.write_bytes(b"%d\n" % code)  # as text it would load a codec first
    part.rename(job.folder / "rc")


def tell_end(job: WorkerJob) -> None:
    """Tell who waits that the job is done: to give its memory back takes a process longer than a short job."""
    with contextlib.suppress(OSError):  # nobody waits, or not in this way
        os.close(os.open(job.folder / END, os.O_WRONLY | os.O_NONBLOCK))


def _become_worker(
    jobs: int,
    told: int,
    read_job: Callable[[bytes], AnyJob],
    work: Callable[[AnyJob], int],
    rehearse: Callable[[], None] | None,
) -> NoReturn:
    """Wait for the job and do it; never returns into the parent's loop."""
    code = _FAILED
    job: AnyJob | None = None
    try:
        if rehearse is not None:
            rehearse()
        with open(jobs, "rb") as source:
            line = source.read()
        if not line:
            os._exit(0)  # there was no further job
        job = read_job(line)
        os.setsid()
        _carry_mark(job)
        _write_pid(job)
        _detach(job)
        os.write(told, TAKEN)
        os.close(told)
        told = -1
        code = work(job)
        write_code(job, code)
        tell_end(job)
    except BaseException as error:  # noqa: BLE001  a forked child must not run on in its parent's code
        if told >= 0:
            os.write(told, f"{type(error).__name__}: {error}".encode())
        else:
            import traceback

            traceback.print_exc()
            if job is not None:
                with contextlib.suppress(OSError):
                    write_code(job, code)
    finally:
        os._exit(code)


def _carry_mark(job: WorkerJob) -> None:
    """Show the mark where others look for it: in the memory that `/proc` shows as this process's environment.

    A forked process has its parent's there, which `os.environ` does not change. Where the system does not let us, the
    process group alone tells what belongs to the command.
    """
    mark = os.fsencode(job.folder)
    if len(mark) >= MARK_BYTES:
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/environ", "rb", buffering=0) as environment:
            place = environment.read().index(f"{MARK}=".encode("ascii")) + len(MARK) + 1
        with open("/proc/self/stat", "rb", buffering=0) as stat:
            start = int(stat.read().rpartition(b")")[2].split()[_ENVIRONMENT_START])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start + place)
            memory.write(mark + b"\0")


_ENVIRONMENT_START = 47
"""`env_start` among the fields of /proc/PID/stat that follow the name."""


def _write_pid(job: WorkerJob) -> None:
    """Claim the job: exclusively, so that it runs once whoever asks for it twice.

    The whole identity is told: it stands for the mark where that could not be carried.
    """
    descriptor = os.open(job.folder / "pid", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, Identity.of_this_process().line.encode("ascii"))
    os.close(descriptor)


def _detach(job: WorkerJob) -> None:
    """Leave everything of the parent behind; what is printed goes to the command's log."""
    os.chdir("/")
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
