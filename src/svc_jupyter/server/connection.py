"""The connection to the service that all handlers share. The token stays in it."""

from __future__ import annotations

import asyncio

import httpx

from svc_jupyter.client import AsyncClient
from svc_jupyter.client.calls import Call
from svc_jupyter.client.config import Settings
from svc_jupyter.client.retries import Retries

CONNECTION = "svc_jupyter_connection"
"""Under this name handlers find the connection in the web application's settings."""
_RETRIES = Retries(attempts=2)
"""A page that waits would rather be told: it asks again by itself."""


class ServiceConnection:
    """Finds the settings at the first call, and again at the next one when they were not there or wrong."""

    def __init__(self, service_url: str | None, *, profile: str | None, answer_seconds: float) -> None:
        self._service_url = service_url
        self._profile = profile
        self._answer_seconds = answer_seconds
        self._client: AsyncClient | None = None
        self._made = asyncio.Lock()

    async def client(self) -> AsyncClient:
        """Return the client; raises `ConfigurationError` when there are no usable settings."""
        if self._client is None:
            async with self._made:
                if self._client is None:
                    self._client = await asyncio.to_thread(self._make)
        return self._client

    async def answer(self, call: Call) -> httpx.Response:
        """Return the service's successful answer as it came; raises `SvcError` for any other."""
        return await (await self.client()).answer(call)

    async def renew(self) -> None:
        """Forget the client, so that settings which changed are read again."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def close(self) -> None:
        """Close the connections."""
        await self.renew()

    def _make(self) -> AsyncClient:
        settings = Settings.load(self._service_url, profile=self._profile)
        return AsyncClient(config=settings, timeout=self._answer_seconds, retries=_RETRIES)
