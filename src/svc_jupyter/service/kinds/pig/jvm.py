"""One Pig Java process, from its start until a command takes it over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from svc_jupyter.files import with_users_umask
from svc_jupyter.service.kinds.pig.job import SCRATCH_FILE, PigJob
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import COMMAND_LINK
from svc_jupyter.service.processes.worker_parent import to_line

TAKEN: Final = "taken"
READY: Final = "ready"
_ANSWER_SECONDS = 180.0
"""How long a Java may take to warm up and answer on a very busy machine."""
_END_SECONDS = 10.0
_LOOK_SECONDS = 0.05
_ERRORS = "err"
_IN_FOLDER = 'cd "$1" && shift && exec "$@"'
_AS_USUAL = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE)


class Jvm:
    """A Java that waits for a job. It is spawned without asyncio, which would end it with the service."""

    def __init__(
        self, pid: int, scratch: Path, stdin: int, answers: asyncio.StreamReader, pipe: asyncio.ReadTransport
    ) -> None:
        self.pid = pid
        self.scratch = scratch
        self._stdin = stdin
        self._answers = answers
        self._pipe = pipe
        self._is_collected = False

    @classmethod
    async def start(cls, argv: Sequence[str], environment: Mapping[str, str], scratch: Path) -> Jvm:
        """Start a Java in its folder; raises `OSError`."""
        stdin, to_jvm = os.pipe()
        from_jvm, stdout = os.pipe()
        try:
            pid = os.posix_spawn(  # noqa: ASYNC221  takes less than a millisecond
                "/bin/sh",
                ["sh", "-c", _IN_FOLDER, "sh", str(scratch), *with_users_umask(argv)],
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, stdin, 0),
                    (os.POSIX_SPAWN_DUP2, stdout, 1),
                    (os.POSIX_SPAWN_OPEN, 2, str(scratch / _ERRORS), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                ],
                setsid=True,
                setsigdef=_AS_USUAL,
            )
        except OSError:
            os.close(to_jvm)
            os.close(from_jvm)
            raise
        finally:
            os.close(stdin)
            os.close(stdout)
        return cls(pid, scratch, to_jvm, *await _reader(from_jvm))

    @property
    def is_running(self) -> bool:
        """Return whether the process is alive."""
        return not self._collect()

    async def until_ready(self) -> None:
        """Return once it has warmed up, or ended."""
        with contextlib.suppress(OSError):
            await self._answer(READY)

    async def hand(self, job: PigJob) -> DurableProcess:
        """Give it a job; raises `OSError` with the reason when it does not accept it."""
        (job.folder / SCRATCH_FILE).write_text(f"{self.scratch}\n", "utf-8")
        (self.scratch / COMMAND_LINK).symlink_to(job.folder)
        try:
            await asyncio.to_thread(_write_all, self._stdin, to_line(job))
        except BrokenPipeError:
            raise OSError(f"no Java took the script: {self.last_words()}") from None
        await self._answer(TAKEN)
        process = DurableProcess.adopt(job.folder, is_child=True)
        if process is None or process.pid != self.pid:
            raise OSError("no Java took the script: another one has it")
        self._close()
        return process

    async def end(self) -> None:
        """End it and remove its folder, without waiting for one that warms up."""
        self._close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        deadline = asyncio.get_running_loop().time() + _END_SECONDS
        while not self._collect() and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        await asyncio.to_thread(shutil.rmtree, self.scratch, ignore_errors=True)

    def last_words(self) -> str:
        """Return the last line of its error output."""
        try:
            lines = (self.scratch / _ERRORS).read_text("utf-8", "replace").split("\n")
        except OSError:
            lines = []
        return next((line.strip() for line in reversed(lines) if line.strip()), "it ended without a word")

    async def _answer(self, wanted: str) -> None:
        """Read answers up to the wanted one; raises `OSError` on any other answer, or none."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                while (answer := (await self._answers.readline()).decode("utf-8", "replace").strip()) != wanted:
                    if answer != READY:
                        raise OSError(f"no Java took the script: {answer or self.last_words()}")
        except TimeoutError:
            raise OSError(f"Java did not answer within {_ANSWER_SECONDS:.0f} s") from None

    def _close(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1
        self._pipe.close()

    def _collect(self) -> bool:
        """Return whether it has ended, and reap it, so that it does not stay as a zombie."""
        if not self._is_collected:
            try:
                self._is_collected = os.waitpid(self.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._is_collected = True
        return self._is_collected


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    file = os.fdopen(descriptor, "rb", buffering=0)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader, pipe


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
