"""Streaming pipelines."""
# Made from asynchronous/pipelines.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.pipelines import Pipeline, PipelineData, PipelineList
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("pipelines")


class Pipelines:
    """Streaming pipelines, as `client.pipelines`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *statuses: str, page: int = 1, per_page: int = 10) -> PipelineList:
        """Return one page of pipelines, newest first: all, or only `draft`, `active` or `archive` ones."""
        params = {"filter": ",".join(statuses) or None, "page": page, "per_page": per_page}
        return self._sender.fetch(Call("GET", _RESOURCE, params), PipelineList)

    def iter(self, *statuses: str) -> Iterator[PipelineData]:
        """Yield all pipelines, newest first."""
        return self._sender.every(
            lambda page: self.list(*statuses, page=page, per_page=WHOLE_PAGE),
            lambda found: (found.data, _paging(found)),
        )

    def create(self, name: str, **fields: Any) -> PipelineData:
        """Create a pipeline from `code`, or with `create_type="jar"` from `jar_path` and `main_class`."""
        return self._one(Call("POST", _RESOURCE, body={"name": name, **fields}, headers=idempotency()))

    def get(self, pipeline_id: int) -> PipelineData:
        """Return a pipeline; raises NotFound for an unknown id."""
        return self._one(Call("GET", f"{_RESOURCE}/{pipeline_id}"))

    def update(self, pipeline_id: int, **fields: Any) -> PipelineData:
        """Change the given attributes; they apply from the next start."""
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}", body=fields))

    def start(self, pipeline_id: int) -> PipelineData:
        """Begin a run, which continues from the last pause; raises Conflict when it already runs."""
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}/start"))

    def pause(self, pipeline_id: int) -> PipelineData:
        """End the run and keep its progress; raises Conflict when it does not run."""
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}/pause"))

    def archive(self, pipeline_id: int) -> PipelineData:
        """Archive a pipeline; raises Conflict while it runs."""
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}/archive"))

    def delete(self, pipeline_id: int) -> PipelineData:
        """Delete a pipeline with its progress; raises Conflict while it runs."""
        return self._one(Call("PUT", f"{_RESOURCE}/{pipeline_id}/delete"))

    def _one(self, call: Call) -> PipelineData:
        answer = self._sender.fetch(call, Pipeline)
        return answer.data


def _paging(listing: PipelineList) -> PagingInfo:
    """Return the paging of a page; without it there is only one page."""
    return PagingInfo.model_validate({"page": 1, "per_page": WHOLE_PAGE, **listing.meta})
