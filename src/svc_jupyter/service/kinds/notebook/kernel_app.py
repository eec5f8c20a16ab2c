"""The IPython kernel of a run, as a forked process or as a program of its own.

python -m svc_jupyter.service.kinds.notebook.kernel_app FILE [ARGUMENT …]

runs it with the connection file FILE. It is the usual kernel but for what the classes here say.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import psutil
import zmq
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

MODULE = "svc_jupyter.service.kinds.notebook.kernel_app"
_CHILDREN_SECONDS = 2.0
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


def become_kernel(
    file: str, arguments: Sequence[str], *, when_ready: Callable[[], None] = lambda: None, **traits: object
) -> NoReturn:
    """Run the kernel and end this process; `traits` are the application's, and `file` its connection file."""
    code = _FAILED
    try:
        _forget_the_run()
        sys.argv = ["ipykernel_launcher.py", "-f", file]
        app: Any = KernelApp.instance(connection_file=file, **traits)
        app.initialize(list(arguments))
        when_ready()
        atexit.unregister(app.close)  # it may wait 10 s for an orderly end of threads that end anyway
        app.start()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  a forked child must not run on in its parent's code
        traceback.print_exc(file=sys.__stderr__)
    finally:
        _leave(code)


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


def _leave(code: int) -> NoReturn:
    """Exit as Python does: wait for its threads and call the exit handlers."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing's forked processes do
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # IPython adds the working folder itself, for the user's modules
    become_kernel(sys.argv[1], sys.argv[2:])
