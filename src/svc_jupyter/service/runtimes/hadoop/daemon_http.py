"""HTTP to the daemons of a cluster: JSON within two seconds, or the daemon counts as silent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import httpx

from svc_jupyter.service.clusters.health_entries import ANSWER_SECONDS
from svc_jupyter.service.ground.errors import Failure


class DaemonSilent(Failure):
    """A daemon did not answer in time, or gave an unexpected answer; the text names the daemon and the reason."""

    status: int | None = None
    """The HTTP status of an error; None without an answer."""
    location: str | None = None
    """Where a redirection leads."""


Answer = TypeVar("Answer")


async def unless_silent(question: Coroutine[Any, Any, Answer]) -> Answer | None:
    """Return a daemon's answer, None when it gives none."""
    try:
        return await question
    except DaemonSilent:
        return None


class DaemonHttp:
    """Sends requests to daemons; keeps connections open, since one health check asks several daemons at once."""

    def __init__(
        self,
        seconds: float = ANSWER_SECONDS,
        headers: Mapping[str, str] | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """`headers` are sent with every request; `context` has the trusted authorities for HTTPS."""
        self._seconds = seconds
        self._context = context
        self._headers = headers or {}
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str, **parameters: str) -> Any:
        """Return the JSON at an address. Raises `DaemonSilent`."""
        # None, not an empty mapping, which would drop the URL's own query
        return await self._ask("GET", url, params=parameters or None)

    async def put(self, url: str, body: Any) -> Any:
        """Put a JSON value; return the answer's JSON, None if it is empty. Raises `DaemonSilent`."""
        return await self._ask("PUT", url, may_be_empty=True, json=body)

    async def post_text(self, url: str, text: str) -> Any:
        """Post a text; return the JSON answer. Raises `DaemonSilent`."""
        return await self._ask("POST", url, content=text.encode())

    async def delete(self, url: str, **parameters: str) -> Any:
        """Delete what is at an address; return the JSON answer, None if it is empty. Raises `DaemonSilent`."""
        return await self._ask("DELETE", url, may_be_empty=True, params=parameters)

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _ask(self, method: str, url: str, *, may_be_empty: bool = False, **what: Any) -> Any:
        place = url.partition("//")[2].partition("/")[0]
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._send(method, url, **what)
        except TimeoutError:
            raise DaemonSilent(f"{place} did not answer within {self._seconds:g} s") from None
        except httpx.HTTPError as error:
            raise DaemonSilent(f"{place} does not answer: {error or type(error).__name__}") from None
        if not answer.is_success:
            silence = DaemonSilent(f"{place} answered {answer.status_code}")
            silence.status, silence.location = answer.status_code, answer.headers.get("Location")
            raise silence
        if may_be_empty and not answer.content:
            return None
        try:
            return answer.json()
        except ValueError:
            raise DaemonSilent(f"{place} answered with something else than JSON") from None

    async def _send(self, method: str, url: str, **what: Any) -> httpx.Response:
        if self._client is None:
            limits = httpx.Limits(max_connections=64, max_keepalive_connections=64, keepalive_expiry=20)
            headers = {"Accept": "application/json", **self._headers}
            # Own daemons speak plain HTTP: a context without certificates saves reading the system's, 50 ms.
            context = self._context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._client = httpx.AsyncClient(
                timeout=None,  # noqa: S113  `_ask` has the limit
                trust_env=False,
                limits=limits,
                headers=headers,
                verify=context,
            )
        try:
            return await self._client.request(method, url, **what)
        except (httpx.RemoteProtocolError, httpx.ReadError):
            # The kept connection may belong to the daemon's former process: retry on a new one.
            return await self._client.request(method, url, **what)
