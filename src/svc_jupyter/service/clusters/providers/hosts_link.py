"""The connection to one host, reopened after it is lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svc_jupyter.service.clusters.providers.hosts_inventory import Host, InventoryFile
from svc_jupyter.service.clusters.providers.hosts_scripts import Look
from svc_jupyter.service.clusters.providers.provider import ProviderFailure

if TYPE_CHECKING:  # imported with the first connection: the import is slow and few services need it
    from svc_jupyter.service.clusters.providers.hosts_ssh import Answer, Connection

SCRIPT_SECONDS: Final = 20.0
_FRESH_SECONDS: Final = 10.0
"""While a failure is this recent, calls fail at once and the host is retried, so that other hosts do not wait."""
_AT_ONCE: Final = 8
"""Concurrent scripts on one connection; OpenSSH allows ten."""


class HostLink:
    """Runs scripts on one host."""

    def __init__(self, host: Host, known_hosts: Path) -> None:
        self.host = host
        self.known_hosts = known_hosts
        self.copying = asyncio.Lock()
        """Held while files are copied to the host's cache."""
        self.java: str | None = None
        self.last_look: tuple[float, Look] | None = None
        self.last_load: Look | None = None
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._failed_at = -_FRESH_SECONDS
        self._failure = ""
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def run(
        self, script: str, *, more_input: AsyncIterator[bytes] | None = None, seconds: float | None = SCRIPT_SECONDS
    ) -> Answer:
        """Run a script; raises `ProviderFailure` when the host cannot be reached or takes longer than `seconds`."""
        from svc_jupyter.service.clusters.providers.hosts_ssh import NotConnected

        async with self._places:
            connection = await self._connected()
            try:
                async with asyncio.timeout(seconds):
                    return await connection.run(script, more_input)
            except TimeoutError:
                connection.abort()
                raise self._failed(f"no answer within {seconds:g} s") from None
            except NotConnected as error:
                connection.abort()
                raise self._failed(str(error)) from None

    async def check(
        self, script: str, *, more_input: AsyncIterator[bytes] | None = None, seconds: float = SCRIPT_SECONDS
    ) -> str:
        """Like `run`, for a script that must succeed; return its output. Raises `ProviderFailure` otherwise."""
        answer = await self.run(script, more_input=more_input, seconds=seconds)
        if answer.code:
            said = answer.errors.strip().splitlines() or [f"exit code {answer.code}"]
            raise ProviderFailure(f"{self.host.name}: {said[-1]}")
        return answer.output

    def drop(self) -> None:
        """Disconnect at once because the host's connection settings have changed."""
        if self._opening is not None:
            self._opening.cancel()
        if self._connection is not None:
            self._connection.abort()

    async def close(self) -> None:
        """Disconnect; the host's processes continue."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._connection is not None:
            await self._connection.close()

    async def _connected(self) -> Connection:
        if self._connection is not None and self._connection.is_open:
            return self._connection
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name=f"ssh-{self.host.name}")
            self._opening.add_done_callback(self._opened)
        if time.monotonic() - self._failed_at < _FRESH_SECONDS:
            raise self._unreachable()
        return await asyncio.shield(self._opening)

    async def _open(self) -> Connection:
        try:
            from svc_jupyter.service.clusters.providers import hosts_ssh
        except ModuleNotFoundError as error:
            raise ProviderFailure(
                f"{error.name} is not installed: `pip install 'svc-jupyter[hosts]'` on the service's machine"
            ) from None
        try:
            return await hosts_ssh.Connection.open(self.host, self.known_hosts)
        except hosts_ssh.NotConnected as error:
            raise self._failed(str(error)) from None

    def _opened(self, opening: asyncio.Task[Connection]) -> None:
        self._opening = None
        if not opening.cancelled() and opening.exception() is None:
            self._connection = opening.result()
            self._failed_at = -_FRESH_SECONDS
            self.java = None

    def _failed(self, reason: str) -> ProviderFailure:
        self._failed_at, self._failure = time.monotonic(), reason
        return self._unreachable()

    def _unreachable(self) -> ProviderFailure:
        host = self.host
        return ProviderFailure(f"host {host.name} ({host.address}:{host.port}) cannot be reached: {self._failure}")


class HostLinks:
    """The links to all hosts of the inventory, made on first use."""

    def __init__(self, inventory: InventoryFile) -> None:
        self._inventory = inventory
        self._links: dict[str, HostLink] = {}

    def to(self, name: str) -> HostLink:
        """Return the link to a host by name. Raises `ProviderFailure` when the inventory no longer has it."""
        inventory = self._inventory.last()
        host = inventory.hosts.get(name)
        if host is None:
            raise ProviderFailure(f"host {name} is no longer in the inventory: put it back until its cluster has ended")
        link = self._links.get(name)
        if link is None or link.host != host or link.known_hosts != inventory.known_hosts:
            if link is not None:
                link.drop()
            link = self._links[name] = HostLink(host, inventory.known_hosts)
        return link

    async def close(self) -> None:
        """Disconnect from all hosts."""
        links, self._links = self._links, {}
        await asyncio.gather(*(link.close() for link in links.values()), return_exceptions=True)
