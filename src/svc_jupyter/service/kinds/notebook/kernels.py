"""The kernel of a run: which one the notebook asks for, and what the run needs to know about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager

from svc_jupyter.files import users_umask
from svc_jupyter.service.kinds.notebook import kernel_app
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.job import KERNEL_FOLDER

START_SECONDS = 60.0
IN_MEMORY_HISTORY = "--HistoryManager.hist_file=:memory:"
"""Runs write nothing to the history of the user's own sessions, and do not wait for its lock."""
SOCKETS = f"../{KERNEL_FOLDER}/channel"
"""The sockets of an IPython kernel, in the attempt's folder, which is the service's alone. Relative to the working
folder: the path of a socket has room for about 100 characters only."""
_DEFAULT = "python3"
_LAUNCHER = (["-m", "ipykernel_launcher"], ["-m", "ipykernel"])
_PROGRAMS = (*(launcher[1] for launcher in _LAUNCHER), kernel_app.PROGRAM)
_PARENT_IN_SANDBOX = "JPY_PARENT_PID=1"
"""A kernel ends when this process does; of a sandbox it is the first, with which everything in it ends anyway."""
_FROZEN_MODULES = "-Xfrozen_modules=off"
_CONNECTION = ["-f", "{connection_file}"]
_CONNECTION_FILE = "connection.json"
_NOT_FOUND = 127
_SIGNALLED = 128
"""A sandbox ends with this plus the number of the signal that ended its program."""
LARGEST_MESSAGE = 128 * 2**20
"""Bytes of a message; a larger one disconnects the kernel."""
_WAITING_MESSAGES = 100
"""Messages that the run receives ahead of its reading: about 100 MB with the largest pieces of text."""
_SEND_MILLISECONDS = 1000
"""A message that is not taken for so long raises `zmq.Again`: else the run would be blocked without an end."""
_SUBSCRIBED_SECONDS = 0.1
_PATIENCE_SECONDS = 5.0
"""A client is replaced when it has had no reply for this long; most kernels start in a second."""


@dataclass(frozen=True, slots=True)
class ChosenKernel:
    """The kernel that the notebook asks for."""

    name: str
    spec: KernelSpec

    @property
    def language(self) -> str:
        """Return the language of its cells."""
        return str(self.spec.language)

    @property
    def is_ipython(self) -> bool:
        """Return whether it is IPython, of any Python."""
        return any(program in self.spec.argv for program in _PROGRAMS)

    def of_environment(self, python: str) -> ChosenKernel:
        """Return the same kernel on an environment's interpreter; one that is not the service's own is unchanged."""
        if self._own_arguments() is None:
            return self
        return self._started_by([python, *self.spec.argv[1:]])

    def losing_nothing(self) -> ChosenKernel:
        """Return the same kernel by `kernel_app`, if it is an IPython kernel of this Python."""
        own = self._own_arguments()
        if own is None:
            return self
        return self._started_by([sys.executable, kernel_app.PROGRAM, _CONNECTION[1], *own])

    def isolated(self, sandbox: Sequence[str], folder: Path) -> ChosenKernel:
        """Return the same kernel in a sandbox that shows the attempt's folder by this path.

        Raises `RunFailure` for one that another program than the run starts.
        """
        if (provisioner := _provisioner(self.spec)) is not None:
            raise RunFailure(
                f"the kernel {self.name!r} is started by the provisioner {provisioner!r}, so it cannot be isolated; "
                "choose another kernel in the notebook",
                may_retry=False,
            )
        program = [*self.spec.argv]
        if _is_this_python(program[0]):
            program[0] = sys.executable
        file = str(connection_file(folder))  # Jupyter would resolve links, which a sandbox does not show
        argv = [word.replace(_CONNECTION[1], file) for word in program]
        return self._started_by([*sandbox, "env", _PARENT_IN_SANDBOX, *argv])

    def _started_by(self, argv: Sequence[str]) -> ChosenKernel:
        spec = KernelSpec(
            argv=list(argv),
            display_name=self.spec.display_name,
            language=self.spec.language,
            env={**self.spec.env},
            metadata=self.spec.metadata,
            resource_dir=self.spec.resource_dir,
        )
        return ChosenKernel(self.name, spec)

    def _own_arguments(self) -> Sequence[str] | None:
        """Return the arguments of an IPython kernel of this Python; None for any other."""
        argv: list[str] = [argument for argument in self.spec.argv if argument != _FROZEN_MODULES]
        arguments = argv[3:]
        if not argv or not _is_this_python(argv[0]) or argv[1:3] not in _LAUNCHER or _provisioner(self.spec):
            return None
        place = next((n for n in range(len(arguments)) if arguments[n : n + 2] == _CONNECTION), None)
        return None if place is None else [*arguments[:place], *arguments[place + 2 :]]


def choose(metadata: Mapping[str, Any]) -> ChosenKernel:
    """Return the kernel that a notebook's metadata name, or the default one.

    Raises `RunFailure` when it is not installed; the text lists the installed ones.
    """
    manager = KernelSpecManager()
    name = metadata.get("kernelspec", {}).get("name") or _DEFAULT
    try:
        return ChosenKernel(name, manager.get_kernel_spec(name))
    except NoSuchKernel:
        installed = ", ".join(sorted(manager.find_kernel_specs()))
        raise RunFailure(
            f"the notebook asks for the kernel {name[:100]!r}, which is not installed where the service runs; "
            f"installed are {installed}. Choose one of them in the notebook, or have it installed",
            may_retry=False,
        ) from None


def new_context() -> zmq.asyncio.Context:
    """Return a context whose sockets buffer no more than a run can hold."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    context.setsockopt(zmq.RCVHWM, _WAITING_MESSAGES)
    context.setsockopt(zmq.SNDTIMEO, _SEND_MILLISECONDS)
    return context


async def connect(kernel: Kernel, name: str) -> Mapping[str, Any]:
    """Open the channels and wait until the kernel replies and its IOPub messages arrive; return its information.

    A client may have met another program at a port of the kernel, before the kernel had it; ZeroMQ then never connects
    again. So a client that cannot send, or gets no reply, is replaced.

    Raises `RunFailure` when it ends instead, or does not reply in time.
    """
    client = _with_channels(kernel)
    deadline = monotonic() + START_SECONDS
    renewal = monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            client.kernel_info()
            reply = await client.get_shell_msg(timeout=1)
            await client.get_iopub_msg(timeout=_SUBSCRIBED_SECONDS)
        except zmq.Again:
            renewal = 0.0
        except Empty:
            pass
        else:
            information: Mapping[str, Any] = reply["content"]
            return information
        if not await client.is_alive():
            raise RunFailure(f"the kernel {name!r} ended while it started: {await kernel.ended()}; the log may say why")
        if monotonic() > deadline:
            raise RunFailure(f"the kernel {name!r} did not answer within {START_SECONDS:g} s of its start")
        if monotonic() > renewal:
            client.stop_channels()
            kernel.renew_client()
            client = _with_channels(kernel)
            renewal = monotonic() + _PATIENCE_SECONDS


def _with_channels(kernel: Kernel) -> AsyncKernelClient:
    kernel.client.start_channels(stdin=False, hb=False)
    return kernel.client


def how_ended(code: int) -> str:
    """Return how a kernel's process ended: its exit code, negative for a signal."""
    if code == -9:
        return "it was killed by signal 9 (did memory run out?)"
    if code < 0:
        return f"it was ended by signal {-code}"
    if code == 0:
        return "it ended by itself, as after exit() or quit()"
    return f"it ended with code {code}"


def _is_this_python(program: str) -> bool:
    """Return whether a spec means the running interpreter; links are not followed, since an environment is one."""
    if program in ("python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info[:2])):
        return True
    return os.path.abspath(program) == os.path.abspath(sys.executable)


def _provisioner(spec: KernelSpec) -> str | None:
    """Return the spec's provisioner if it is not the default: it may start the kernel on another machine."""
    name = spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
    return None if name in (None, "local-provisioner") else str(name)


def connection_file(folder: Path) -> Path:
    """Return the path of the connection file of an attempt's kernel."""
    return folder / KERNEL_FOLDER / _CONNECTION_FILE


class _Chosen(KernelSpecManager):
    """Knows only the chosen kernel, which may be installed under another name."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self._chosen = spec

    def get_kernel_spec(self, _name: str) -> KernelSpec:
        """Return the chosen kernel."""
        return self._chosen


class Kernel:
    """A kernel, in a process of its own."""

    client: AsyncKernelClient

    def __init__(
        self, folder: Path, chosen: ChosenKernel, environment: Mapping[str, str], *, is_isolated: bool
    ) -> None:
        self._name = chosen.name
        self._is_ipython = chosen.is_ipython
        self._environment = environment
        self._is_isolated = is_isolated
        self._code: int | None = None
        self._manager = AsyncKernelManager(
            kernel_name=chosen.name, kernel_spec_manager=_Chosen(chosen.spec), context=new_context()
        )
        self._manager.connection_file = str(connection_file(folder))

    async def start(self) -> None:
        """Start it in the current folder. Raises `RunFailure` when its program cannot be started."""
        arguments = []
        if self._is_ipython:
            self._manager.transport, self._manager.ip = "ipc", SOCKETS
            arguments = [IN_MEMORY_HISTORY]
        try:
            await self._manager.start_kernel(
                cwd=os.getcwd(), env=dict(self._environment), extra_arguments=arguments, umask=users_umask()
            )
        except OSError as error:
            raise RunFailure(
                f"the kernel {self._name!r} could not be started: {error.strerror}: {error.filename}", may_retry=False
            ) from None
        self.renew_client()

    def renew_client(self) -> None:
        """Replace a client whose channels lead nowhere."""
        self.client = self._manager.client(context=self._manager.context)

    async def ended(self) -> str:
        """Wait for the end of the kernel's process; return how it ended, as a message."""
        if self._code is None and self._manager.provisioner is not None:
            self._code = await self._manager.provisioner.wait()
        code = self._code or 0
        if self._is_isolated and code == _NOT_FOUND:
            return "its program is not in the sandbox, which shows the folders of SVC_ISOLATION_READABLE, too"
        return how_ended(_SIGNALLED - code if self._is_isolated and code > _SIGNALLED else code)

    async def shut_down(self) -> None:
        """Let the kernel end by itself, as a front end does; end it when it does not within some seconds."""
        if self._code is None:
            try:
                await self._manager.shutdown_kernel()
            except zmq.Again:  # its channel leads nowhere
                await self._manager.shutdown_kernel(now=True)
        else:
            await self._manager.cleanup_resources()
        self.client.stop_channels()
