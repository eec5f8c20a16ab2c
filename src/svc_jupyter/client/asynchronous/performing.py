"""Perform the steps of a conversation over one pool of connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from operator import attrgetter
from typing import TypeVar

import httpx

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.commands.tables import Dtypes
from svc_jupyter.client.transport import wire
from svc_jupyter.client.transport.calls import Call, Flow, Pause, Relocate, Send, Step, exchange
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import Pages
from svc_jupyter.client.transport.retries import Retries

T = TypeVar("T")
L = TypeVar("L")


class AsyncPerformer:
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

    async def run(self, flow: Flow[T]) -> T:
        """Perform the steps of a conversation and return its result."""
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._perform(step)
                except httpx.RequestError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    async def every(
        self, page: Callable[[int], Flow[L]], items: Callable[[L], tuple[Sequence[T], PagingInfo | None]]
    ) -> AsyncIterator[T]:
        """Yield the items of all pages of a list; `items` returns a page's items and its paging."""
        pages: Pages[T] = Pages(attrgetter("id"))
        while pages.page is not None:
            found, paging = items(await self.run(page(pages.page)))
            for item in pages.take(found, paging):
                yield item

    async def open(self, call: Call) -> httpx.Response:
        """Return a successful response; with `stream` its body is unread and the caller closes it."""
        return await self.run(exchange(self.link, call))

    async def _perform(self, step: Step) -> httpx.Response | bool | None:
        match step:
            case Send(call):
                return await self._send(call)
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
            case Relocate(failed, start):
                return await asyncio.to_thread(self.link.relocate, failed, start=start)

    async def _send(self, call: Call) -> httpx.Response:
        connection = self.link.connection
        if connection is None:
            connection = await asyncio.to_thread(self.link.locate)
        request = wire.request(connection, call, self._answer_seconds)
        response = await self.http.send(request, stream=call.stream)
        if self.http.is_closed and (connection_stream := response.extensions.get("network_stream")) is not None:
            await connection_stream.aclose()  # it was being opened when the client was closed: no pool knows it
        if call.stream and not response.is_success:
            await response.aread()
        return response
