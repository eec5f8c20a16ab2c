"""Streaming pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.pipelines import Pipeline, PipelineData, PipelineList
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("pipelines")


class PipelineFlows:
    """Requests about pipelines, for both clients."""

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


def paging(listing: PipelineList) -> PagingInfo:
    """Return the paging of a page; without it there is only one page."""
    return PagingInfo.model_validate({"page": 1, "per_page": WHOLE_PAGE, **listing.meta})
