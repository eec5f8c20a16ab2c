"""The connection to the service, shared by all handlers. The token stays in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from svc_jupyter.client import AsyncClient
from svc_jupyter.client.address.config import Settings, beats_profiles, chosen_profile, write_profile
from svc_jupyter.client.address.embedded import needs_no_start
from svc_jupyter.client.errors import ConfigurationError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.retries import Retries

CONNECTION = "svc_jupyter_connection"
"""The key of the connection in the web application's settings."""
_SETTING = "SvcJupyterServer.service_url"
_RETRIES = Retries(attempts=2)
"""Few retries: a waiting page needs the error soon and asks again by itself."""


class ServiceConnection:
    """Reads the settings at the first call, and again after a failure to read them."""

    def __init__(self, service_url: str | None, *, profile: str | None, answer_seconds: float) -> None:
        self._service_url = service_url
        self._profile = profile
        self._answer_seconds = answer_seconds
        self._of_this_machine = False
        self._client: AsyncClient | None = None
        self._made = asyncio.Lock()
        self._under_way: set[object] = set()
        self._left: dict[AsyncClient, set[object]] = {}
        """Retired clients, each with the requests that may still use it."""

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """Scope of one request of a page: the client returned by `client` stays open until its end."""
        request = object()
        self._under_way.add(request)
        try:
            yield
        finally:
            self._under_way.discard(request)
            await self._end(request)

    async def client(self) -> AsyncClient:
        """Return the client; raises `ConfigurationError` without usable settings."""
        if self._client is None:
            async with self._made:
                if self._client is None:
                    self._client = await asyncio.to_thread(self._make)
        return self._client

    async def needs_no_start(self) -> bool:
        """Return whether a call would reach a service as it is; raises `ConfigurationError` without usable settings."""
        return await asyncio.to_thread(needs_no_start, (await self.client()).settings)

    async def answer(self, call: Call) -> httpx.Response:
        """Return the service's successful response unchanged; raises `SvcError` for any other."""
        return await (await self.client()).answer(call)

    def fixed_by(self) -> str | None:
        """Return the setting whose address counts before an entered one, or None when an entered one is used."""
        return _SETTING if self._service_url else beats_profiles(None, self._profile)

    async def use_this_machine(self) -> None:
        """Use the embedded service, which starts at the first call, until the settings are read again."""
        await self.renew()
        self._of_this_machine = True

    async def use(self, base_url: str, token: str) -> None:
        """Use the service at an address from now on: check it with one call, then write it to the profile file.

        Raises `SvcError` when the service refuses or does not answer, or when the address is fixed elsewhere; then
        nothing changes.
        """
        if fixed := self.fixed_by():
            raise ConfigurationError(f"the address comes from {fixed}, which counts before an entered one")
        tried = self._client_of(Settings.load(base_url, token, environ={}))
        try:
            await tried.account.get()
        finally:
            await tried.aclose()
        await asyncio.to_thread(write_profile, chosen_profile(self._profile), base_url, token)
        await self.renew()

    async def renew(self) -> None:
        """Drop the client, so that changed settings are read; running requests keep the old one."""
        self._of_this_machine = False
        client, self._client = self._client, None
        if client is not None:
            self._left[client] = set(self._under_way)
            await self._end(None)

    async def close(self) -> None:
        """Close the connections, including those of running requests."""
        await self.renew()
        left, self._left = self._left, {}
        for client in left:
            await client.aclose()

    async def _end(self, request: object) -> None:
        """Close the clients that only this request still used."""
        for users in self._left.values():
            users.discard(request)
        unused = [client for client, users in self._left.items() if not users]
        for client in unused:
            del self._left[client]
        for client in unused:
            await client.aclose()

    def _make(self) -> AsyncClient:
        if self._of_this_machine:
            return self._client_of(Settings.of_this_machine())
        return self._client_of(Settings.load(self._service_url, profile=self._profile))

    def _client_of(self, settings: Settings) -> AsyncClient:
        return AsyncClient(config=settings, timeout=self._answer_seconds, retries=_RETRIES)
