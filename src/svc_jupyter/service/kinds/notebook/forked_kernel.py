"""An IPython kernel forked from a process that has everything loaded: fresh, and ready in 0.1 s.

It listens on sockets in the attempt's folder, which other users cannot reach, and belongs to the run's process group.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_client.asynchronous.client import AsyncKernelClient

from svc_jupyter.files import users_umask
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.kernel_app import become_kernel
from svc_jupyter.service.kinds.notebook.kernels import (
    IN_MEMORY_HISTORY,
    SOCKETS,
    START_SECONDS,
    connection_file,
    how_ended,
    new_context,
)

_STOP_SECONDS = 5.0
_LOOK_SECONDS = 0.02


class _Client(AsyncKernelClient):
    """A client that knows the kernel's process."""

    kernel: ForkedKernel

    async def is_alive(self) -> bool:
        return self.kernel.is_alive


class ForkedKernel:
    """A kernel forked by the run. Create it in the working folder, before any event loop or thread exists."""

    client: AsyncKernelClient

    def __init__(self, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._code: int | None = None
        self._ready, writer = os.pipe()
        sys.stderr.flush()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._ready)
            if (umask := users_umask()) >= 0:
                os.umask(umask)
            os.environ.update(environment)

            def when_ready() -> None:
                os.write(writer, b"1")
                os.close(writer)

            become_kernel(
                str(connection_file(folder)),
                [IN_MEMORY_HISTORY, *arguments],
                when_ready=when_ready,
                transport="ipc",
                ip=SOCKETS,
                parent_handle=os.getppid(),
            )
        os.close(writer)

    def open(self) -> None:
        """Wait until the kernel listens, and make its client. Raises `RunFailure`."""
        readable, _, _ = select.select([self._ready], [], [], START_SECONDS)
        is_ready = bool(readable) and os.read(self._ready, 1) != b""
        os.close(self._ready)
        if not is_ready:
            self.kill()
            raise RunFailure("the kernel could not start; the log says why")
        self.renew_client()

    def renew_client(self) -> None:
        """Replace a client whose channels lead nowhere."""
        client = _Client(context=new_context())
        client.kernel = self
        client.load_connection_file(str(connection_file(self._folder)))
        self.client = client

    @property
    def is_alive(self) -> bool:
        """Return whether its process is alive."""
        if self._code is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code is None

    async def ended(self) -> str:
        """Wait for the end of the kernel's process; return how it ended, as a message."""
        if self.is_alive and hasattr(os, "pidfd_open"):
            await _readable(os.pidfd_open(self._pid))
        while self.is_alive:  # noqa: ASYNC110  no pidfd on this system
            await asyncio.sleep(_LOOK_SECONDS)
        assert self._code is not None
        return how_ended(self._code)

    async def shut_down(self) -> None:
        """Let the kernel end by itself; end it when it does not within some seconds."""
        if self.is_alive:
            self.client.shutdown()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self.ended()
        self.kill()
        self.client.stop_channels()

    def kill(self) -> None:
        """End the kernel at once, and wait for its end."""
        if self.is_alive:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._code = -signal.SIGKILL


async def _readable(descriptor: int) -> None:
    """Wait until a descriptor can be read, and close it."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(descriptor, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
