"""Send a client's calls: with retries, and to a service that may have moved."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.commands.tables import Dtypes
from svc_jupyter.client.errors import StatusError, Unauthorized
from svc_jupyter.client.transport import wire
from svc_jupyter.client.transport.calls import Call, Failure, connection_failed, error_of
from svc_jupyter.client.transport.link import Connection, Link
from svc_jupyter.client.transport.reading import Pages, read
from svc_jupyter.client.transport.retries import Reach, Retries, may_repeat, reach_of_failure, reach_of_status

T = TypeVar("T")
L = TypeVar("L")
M = TypeVar("M", bound=BaseModel)


class AsyncSender:
    """State shared by a client's resources: the link to the service and its connections."""

    def __init__(
        self,
        settings: Settings,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout: float = wire.ANSWER_SECONDS,
        retries: Retries | None = None,
        dtypes: Dtypes = "nullable",
    ) -> None:
        self.dtypes: Dtypes = dtypes
        self.link = Link(settings, retries or Retries())
        self.http = httpx.AsyncClient(transport=transport, **wire.options(settings))
        self._answer_seconds = timeout

    async def send(self, call: Call, retries: Retries | None = None) -> httpx.Response:
        """Send a call until it succeeds and return the response; raise the error of its last answer.

        The body of a call with `stream` is unread, and the caller closes the response.
        """
        retries = retries or self.link.retries
        started = time.monotonic()
        attempt = 0
        may_start = True
        while True:
            attempt += 1
            used = self.link.connection
            if used is None:
                used = await asyncio.to_thread(self.link.locate)
            answer = await self._exchange(used, call)
            if isinstance(answer, httpx.Response):
                return answer
            if may_start and answer.reach is Reach.NOT_SENT and self.link.embedded:
                may_start = False
                await self._relocate(used, start=True)
                continue
            if self._may_have_moved(answer) and await self._relocate(used, start=False):
                continue
            pause = self._pause(call, answer, retries, attempt, time.monotonic() - started)
            if pause is None:
                raise answer.error
            await asyncio.sleep(pause)

    async def fetch(self, call: Call, model: type[M], retries: Retries | None = None) -> M:
        """Send a call and return its answer as a model of the contract."""
        return read(model, await self.send(call, retries))

    async def fetch_if_known(self, call: Call, model: type[M]) -> M | None:
        """Return the answer to a call of the extensions; None if the service lacks it or the object does not exist."""
        try:
            return await self.fetch(call, model)
        except StatusError as error:
            if error.status not in (404, 405):
                raise
            return None

    async def every(
        self,
        page: Callable[[int], Coroutine[Any, Any, L]],
        items: Callable[[L], tuple[Sequence[T], PagingInfo | None]],
    ) -> AsyncIterator[T]:
        """Yield the items of all pages of a list; `items` returns a page's items and its paging."""
        pages: Pages[T] = Pages(attrgetter("id"))
        while pages.page is not None:
            found, paging = items(await page(pages.page))
            for item in pages.take(found, paging):
                yield item

    async def _exchange(self, connection: Connection, call: Call) -> httpx.Response | Failure:
        request = wire.request(connection, call, self._answer_seconds)
        try:
            response = await self.http.send(request, stream=call.stream)
            if self.http.is_closed and (connection_stream := response.extensions.get("network_stream")) is not None:
                await connection_stream.aclose()  # it was being opened when the client was closed: no pool knows it
            if call.stream and not response.is_success:
                await response.aread()
        except httpx.RequestError as error:
            failed = connection_failed(self.link, error)
            failed.__cause__ = error
            return Failure(reach_of_failure(error), failed)
        return response if response.is_success else Failure(reach_of_status(response.status_code), error_of(response))

    def _may_have_moved(self, failure: Failure) -> bool:
        """Return whether the service may have been started again, with another token or, after a run, elsewhere."""
        is_unknown = isinstance(failure.error, Unauthorized)
        return is_unknown or (failure.reach is Reach.NOT_SENT and self.link.of_run)

    async def _relocate(self, failed: Connection, *, start: bool) -> bool:
        return await asyncio.to_thread(self.link.relocate, failed, start=start)

    def _pause(self, call: Call, failure: Failure, retries: Retries, attempt: int, elapsed: float) -> float | None:
        """Return the seconds until the call is sent again; None when it must not be."""
        wanted = failure.error.retry_after if isinstance(failure.error, StatusError) else None
        idempotent_post = self.link.honours_idempotency_keys
        if not may_repeat(
            call.method, failure.reach, idempotent_post=idempotent_post, has_retry_after=wanted is not None
        ):
            return None
        return retries.pause(attempt, elapsed, wanted)
