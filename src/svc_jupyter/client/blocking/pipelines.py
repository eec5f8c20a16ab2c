"""Streaming pipelines."""
# Made from asynchronous/pipelines.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from svc_jupyter.api.pipelines import PipelineData, PipelineList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.pipelines import PipelineFlows, paging
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Pipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = PipelineFlows(performer.link)

    def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or only `draft`, `active` or `archive` ones."""
        return self._performer.run(self._flows.page(statuses, page, per_page))

    def iter(self, *statuses: str) -> Iterator[PipelineData]:
        """Yield all pipelines, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(statuses, page, WHOLE_PAGE), lambda found: (found.data, paging(found))
        )

    def create(self, name: str, **fields: Any) -> PipelineData:
        """Create a pipeline from `code`, or with `create_type="jar"` from `jar_path` and `main_class`."""
        return self._performer.run(self._flows.create(name, fields))

    def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; raises NotFound for an unknown id."""
        return self._performer.run(self._flows.get(pipeline_id))

    def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they apply from the next start."""
        return self._performer.run(self._flows.update(pipeline_id, fields))

    def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which continues from the last pause; raises Conflict when it already runs."""
        return self._performer.run(self._flows.do(pipeline_id, "start"))

    def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; raises Conflict when it does not run."""
        return self._performer.run(self._flows.do(pipeline_id, "pause"))

    def archive(self, pipeline_id: int) -> PipelineData:
        """Archive a pipeline; raises Conflict while it runs."""
        return self._performer.run(self._flows.do(pipeline_id, "archive"))

    def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; raises Conflict while it runs."""
        return self._performer.run(self._flows.do(pipeline_id, "delete"))
