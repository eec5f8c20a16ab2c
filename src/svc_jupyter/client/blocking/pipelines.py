"""Streaming pipelines."""
# Made from asynchronous/pipelines.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from svc_jupyter.api.pipelines import PipelineData, PipelineList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.pipelines import PipelineFlows, paging
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class Pipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = PipelineFlows(performer.link)

    def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or those that are `draft`, `active` or `archive`."""
        return self._performer.run(self._flows.page(statuses, page, per_page))

    def iter(self, *statuses: str) -> Iterator[PipelineData]:
        """Yield all pipelines, newest first."""
        pages: Pages[PipelineData] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(*statuses, page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.data, paging(listing))

    def create(self, name: str, **fields: Any) -> PipelineData:
        """Make a pipeline of `code`, or with `create_type="jar"` of `jar_path` and `main_class`."""
        return self._performer.run(self._flows.create(name, fields))

    def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; NotFound when there is none with this id."""
        return self._performer.run(self._flows.get(pipeline_id))

    def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they count from the next start on."""
        return self._performer.run(self._flows.update(pipeline_id, fields))

    def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which goes on where the last one was paused; Conflict when one is there."""
        return self._performer.run(self._flows.do(pipeline_id, "start"))

    def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; Conflict when none is there."""
        return self._performer.run(self._flows.do(pipeline_id, "pause"))

    def archive(self, pipeline_id: int) -> PipelineData:
        """Put a pipeline away; Conflict while it runs."""
        return self._performer.run(self._flows.do(pipeline_id, "archive"))

    def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; Conflict while it runs."""
        return self._performer.run(self._flows.do(pipeline_id, "delete"))
