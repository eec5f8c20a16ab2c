"""The IPython kernel of a run.

python kernel_app.py FILE [ARGUMENT …]

runs it with the connection file FILE. It is the usual kernel but for what the classes here say, and is run as a file so
that nothing of the service is in its memory.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import Any

import psutil
import zmq
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

PROGRAM = os.path.abspath(__file__)
_CHILDREN_SECONDS = 2.0


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


def main() -> None:
    """Run the kernel until it is shut down; the first argument is its connection file."""
    if not sys.flags.safe_path:
        del sys.path[0]  # this file's folder; IPython adds the working folder itself, for the user's modules
    file, *arguments = sys.argv[1:]
    sys.argv = ["ipykernel_launcher.py", "-f", file]
    app: Any = KernelApp.instance(connection_file=file)
    app.initialize(arguments)
    atexit.unregister(app.close)  # it may wait 10 s for an orderly end of threads that end anyway
    app.start()


def _group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return None


if __name__ == "__main__":
    main()
