"""An IPython kernel forked from a process that has everything loaded: fresh, and ready in 0.1 s.

It listens on sockets in the attempt's folder, which other users cannot reach, and belongs to the run's process group.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import psutil
import zmq
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.asynchronous.client import AsyncKernelClient

from svc_jupyter.files import users_umask
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.kernels import (
    IN_MEMORY_HISTORY,
    SOCKETS,
    START_SECONDS,
    connection_file,
    how_ended,
    new_context,
)

_STOP_SECONDS = 5.0
_CHILDREN_SECONDS = 2.0
_LOOK_SECONDS = 0.02
_FAILED = 70
_OF_THE_RUN = frozenset({"jsonschema", "nbclient", "nbformat", "svc_jupyter"})


class _Kernel(IPythonKernel):
    """The usual kernel, without its wait of 14 s for ended children that were not collected."""

    def do_shutdown(self, restart: bool) -> Any:
        group = os.getpgrp()
        children = [child for child in psutil.Process().children(recursive=True) if _group_of(child) == group]
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.terminate()
        psutil.wait_procs(children, timeout=_CHILDREN_SECONDS)  # collects them
        return super().do_shutdown(restart)  # type: ignore[no-untyped-call]


class KernelApp(IPKernelApp):
    """The usual kernel's application, which loses no output when the run reads slower than a cell prints."""

    kernel_class = _Kernel

    def init_iopub(self, context: Any) -> None:
        """Open the IOPub channel without the limit beyond which it drops messages."""
        context.setsockopt(zmq.SNDHWM, 0)
        super().init_iopub(context)  # type: ignore[no-untyped-call]


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
            _become_kernel(folder, arguments, writer)
        os.close(writer)

    def open(self) -> None:
        """Wait until the kernel listens, and make its client. Raises `RunFailure`."""
        readable, _, _ = select.select([self._ready], [], [], START_SECONDS)
        is_ready = bool(readable) and os.read(self._ready, 1) != b""
        os.close(self._ready)
        if not is_ready:
            self.kill()
            raise RunFailure("the kernel could not start; the log says why")
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
        for socket in self._folder.glob("kernel*"):
            socket.unlink(missing_ok=True)


def _group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return None


def _forget_the_run() -> None:
    """Remove modules that only the run needed, so that the user's code imports them afresh."""
    for name in list(sys.modules):
        if name.partition(".")[0] in _OF_THE_RUN:
            del sys.modules[name]


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


def _become_kernel(folder: Path, arguments: Sequence[str], ready: int) -> NoReturn:
    """Run the kernel; never returns into the run's code."""
    code = _FAILED
    try:
        _forget_the_run()
        file = str(connection_file(folder))
        sys.argv = ["ipykernel_launcher.py", "-f", file]
        app: Any = KernelApp.instance(connection_file=file, transport="ipc", ip=SOCKETS, parent_handle=os.getppid())
        app.initialize([IN_MEMORY_HISTORY, *arguments])
        os.write(ready, b"1")
        os.close(ready)
        atexit.unregister(app.close)  # it may wait 10 s for an orderly end of threads that end anyway
        app.start()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  a forked child must not run on in its parent's code
        traceback.print_exc(file=sys.__stderr__)
    finally:
        _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit as Python does: wait for its threads and call the exit handlers."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing's forked processes do
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
