"""Streaming pipelines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from svc_jupyter.api.pipelines import PipelineData, PipelineList
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.pipelines import PipelineFlows, paging
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncPipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = PipelineFlows(performer.link)

    async def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or only `draft`, `active` or `archive` ones."""
        return await self._performer.run(self._flows.page(statuses, page, per_page))

    def iter(self, *statuses: str) -> AsyncIterator[PipelineData]:
        """Yield all pipelines, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(statuses, page, WHOLE_PAGE), lambda found: (found.data, paging(found))
        )

    async def create(self, name: str, **fields: Any) -> PipelineData:
        """Create a pipeline from `code`, or with `create_type="jar"` from `jar_path` and `main_class`."""
        return await self._performer.run(self._flows.create(name, fields))

    async def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; raises NotFound for an unknown id."""
        return await self._performer.run(self._flows.get(pipeline_id))

    async def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they apply from the next start."""
        return await self._performer.run(self._flows.update(pipeline_id, fields))

    async def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which continues from the last pause; raises Conflict when it already runs."""
        return await self._performer.run(self._flows.do(pipeline_id, "start"))

    async def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; raises Conflict when it does not run."""
        return await self._performer.run(self._flows.do(pipeline_id, "pause"))

    async def archive(self, pipeline_id: int) -> PipelineData:
        """Archive a pipeline; raises Conflict while it runs."""
        return await self._performer.run(self._flows.do(pipeline_id, "archive"))

    async def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; raises Conflict while it runs."""
        return await self._performer.run(self._flows.do(pipeline_id, "delete"))
