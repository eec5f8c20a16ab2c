"""Streaming pipelines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.pipelines import Pipeline, PipelineData, PipelineList
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_RESOURCE = paths.api("pipelines")


class _PipelineFlows:
    """What both kinds of client say to the service about pipelines."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, statuses: Sequence[str], page: int, per_page: int) -> Flow[PipelineList]:
        params = {"filter": ",".join(statuses) or None, "page": page, "per_page": per_page}
        return fetch(self.link, Call("GET", _RESOURCE, params), PipelineList)

    def create(self, name: str, fields: dict[str, Any]) -> Flow[PipelineData]:
        call = Call("POST", _RESOURCE, body={"name": name, **fields}, headers=idempotency(str(uuid4())))
        return self._one(call)

    def get(self, pipeline_id: int) -> Flow[PipelineData]:
        return self._one(Call("GET", f"{_RESOURCE}/{pipeline_id}"))

    def update(self, pipeline_id: int, fields: dict[str, Any]) -> Flow[PipelineData]:
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}", body=fields))

    def do(self, pipeline_id: int, what: str) -> Flow[PipelineData]:
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}/{what}"))

    def _one(self, call: Call) -> Flow[PipelineData]:
        answer = yield from fetch(self.link, call, Pipeline)
        return answer.data


def _paging(listing: PipelineList) -> PagingInfo:
    """Return where a page stands; a service that does not say has no other page."""
    return PagingInfo.model_validate({"page": 1, "per_page": WHOLE_PAGE, **listing.meta})


class Pipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _PipelineFlows(client._link)

    def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or those that are `draft`, `active` or `archive`."""
        return self._client._run(self._flows.page(statuses, page, per_page))

    def iter(self, *statuses: str) -> Iterator[PipelineData]:
        """Yield all pipelines, newest first."""
        pages: Pages[PipelineData] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(*statuses, page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.data, _paging(listing))

    def create(self, name: str, **fields: Any) -> PipelineData:
        """Make a pipeline of `code`, or with `create_type="jar"` of `jar_path` and `main_class`."""
        return self._client._run(self._flows.create(name, fields))

    def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; NotFound when there is none with this id."""
        return self._client._run(self._flows.get(pipeline_id))

    def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they count from the next start on."""
        return self._client._run(self._flows.update(pipeline_id, fields))

    def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which goes on where the last one was paused; Conflict when one is there."""
        return self._client._run(self._flows.do(pipeline_id, "start"))

    def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; Conflict when none is there."""
        return self._client._run(self._flows.do(pipeline_id, "pause"))

    def archive(self, pipeline_id: int) -> PipelineData:
        """Put a pipeline away; Conflict while it runs."""
        return self._client._run(self._flows.do(pipeline_id, "archive"))

    def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; Conflict while it runs."""
        return self._client._run(self._flows.do(pipeline_id, "delete"))


class AsyncPipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _PipelineFlows(client._link)

    async def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or those that are `draft`, `active` or `archive`."""
        return await self._client._run(self._flows.page(statuses, page, per_page))

    async def iter(self, *statuses: str) -> AsyncIterator[PipelineData]:
        """Yield all pipelines, newest first."""
        pages: Pages[PipelineData] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(*statuses, page=pages.page, per_page=WHOLE_PAGE)
            for pipeline in pages.take(listing.data, _paging(listing)):
                yield pipeline

    async def create(self, name: str, **fields: Any) -> PipelineData:
        """Make a pipeline of `code`, or with `create_type="jar"` of `jar_path` and `main_class`."""
        return await self._client._run(self._flows.create(name, fields))

    async def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; NotFound when there is none with this id."""
        return await self._client._run(self._flows.get(pipeline_id))

    async def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they count from the next start on."""
        return await self._client._run(self._flows.update(pipeline_id, fields))

    async def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which goes on where the last one was paused; Conflict when one is there."""
        return await self._client._run(self._flows.do(pipeline_id, "start"))

    async def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; Conflict when none is there."""
        return await self._client._run(self._flows.do(pipeline_id, "pause"))

    async def archive(self, pipeline_id: int) -> PipelineData:
        """Put a pipeline away; Conflict while it runs."""
        return await self._client._run(self._flows.do(pipeline_id, "archive"))

    async def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; Conflict while it runs."""
        return await self._client._run(self._flows.do(pipeline_id, "delete"))
