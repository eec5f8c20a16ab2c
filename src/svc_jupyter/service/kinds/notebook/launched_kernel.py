"""Any other kernel: started by jupyter_client from its spec, with the command's mark in its environment."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from svc_jupyter.files import users_umask
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.kernels import (
    IN_MEMORY_HISTORY,
    SOCKETS,
    ChosenKernel,
    connection_file,
    how_ended,
    new_context,
)


class _Chosen(KernelSpecManager):
    """Knows only the chosen kernel, which may be installed under another name."""

    def __init__(self, spec: KernelSpec) -> None:
        super().__init__()
        self._chosen = spec

    def get_kernel_spec(self, _name: str) -> KernelSpec:
        """Return the chosen kernel."""
        return self._chosen


class LaunchedKernel:
    """A kernel with a program of its own."""

    client: AsyncKernelClient

    def __init__(self, folder: Path, chosen: ChosenKernel) -> None:
        self._name = chosen.name
        self._is_ipython = chosen.is_ipython
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
                cwd=os.getcwd(), env=dict(os.environ), extra_arguments=arguments, umask=users_umask()
            )
        except OSError as error:
            raise RunFailure(
                f"the kernel {self._name!r} could not be started: {error.strerror}: {error.filename}", may_retry=False
            ) from None
        self.client = self._manager.client()

    async def ended(self) -> str:
        """Wait for the end of the kernel's process; return how it ended, as a message."""
        if self._code is None and self._manager.provisioner is not None:
            self._code = await self._manager.provisioner.wait()
        return how_ended(self._code or 0)

    async def shut_down(self) -> None:
        """Let the kernel end by itself; end it when it does not within some seconds."""
        if self._code is None:
            await self._manager.shutdown_kernel()
        else:
            await self._manager.cleanup_resources()
        self.client.stop_channels()

    def kill(self) -> None:
        """Do nothing: the stop of a run ends every process that carries its mark."""
