"""Streaming pipelines over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from svc_jupyter.api.fields import Id
from svc_jupyter.api.pipelines import Pipeline, PipelineCreate, PipelineList, PipelineStatus, PipelineUpdate
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.pipelines.pipelines import Pipelines
from svc_jupyter.service.pipelines.runs import PipelineRuns

router = resource_router(prefix="/pipelines", tags=["pipelines"])


async def _statuses(
    filter_: Annotated[str | None, Query(alias="filter", max_length=100, description="of draft,archive,active")] = None,
) -> list[PipelineStatus]:
    """Return the statuses that are wanted, all without a filter."""
    words = [word.strip() for word in (filter_ or "").split(",") if word.strip()]
    unknown = [word for word in words if word not in set(PipelineStatus)]
    if unknown:
        raise Invalid(f"filter: {unknown[0][:40]!r} is none of draft, archive, active")
    return [PipelineStatus(word) for word in words] or list(PipelineStatus)


PipelinesDep = Annotated[Pipelines, part(Pipelines)]
RunsDep = Annotated[PipelineRuns, part(PipelineRuns)]
StatusesDep = Annotated[list[PipelineStatus], Depends(_statuses)]


@router.get("", dependencies=[needs(Action.READ, Resource.PIPELINE)])
async def list_pipelines(
    pipelines: PipelinesDep, caller: CallerDep, page: PageDep, statuses: StatusesDep
) -> PipelineList:
    """Return a page of the pipelines that the caller may read, newest first. `meta` gives the position."""
    return await pipelines.list(statuses, page, by=caller)


@router.post("", dependencies=[needs(Action.CREATE, Resource.PIPELINE)])
async def create_pipeline(body: PipelineCreate, pipelines: PipelinesDep, caller: CallerDep) -> Pipeline:
    """Create a pipeline from code or a jar. The attributes may also be in `data.attributes`."""
    return await pipelines.create(body, by=caller)


@router.get("/{pipeline_id}", dependencies=[needs(Action.READ, Resource.PIPELINE)])
async def get_pipeline(pipeline_id: Id, pipelines: PipelinesDep, caller: CallerDep) -> Pipeline:
    """Return a pipeline."""
    return await pipelines.get(pipeline_id, by=caller)


@router.put("/{pipeline_id}", dependencies=[needs(Action.UPDATE, Resource.PIPELINE)])
async def update_pipeline(
    pipeline_id: Id, body: PipelineUpdate, pipelines: PipelinesDep, caller: CallerDep
) -> Pipeline:
    """Change the given attributes. They apply from the next start on."""
    return await pipelines.update(pipeline_id, body, by=caller)


@router.put("/{pipeline_id}/start", dependencies=[needs(Action.UPDATE, Resource.PIPELINE)])
async def start_pipeline(pipeline_id: Id, runs: RunsDep, caller: CallerDep) -> Pipeline:
    """Start a run, which continues where the last one was paused. 409 if a run exists, 422 without a Spark cluster."""
    return await runs.start(pipeline_id, by=caller)


@router.put("/{pipeline_id}/pause", dependencies=[needs(Action.UPDATE, Resource.PIPELINE)])
async def pause_pipeline(pipeline_id: Id, runs: RunsDep, caller: CallerDep) -> Pipeline:
    """End the run and keep its progress. 409 if there is no run."""
    return await runs.pause(pipeline_id, by=caller)


@router.put("/{pipeline_id}/archive", dependencies=[needs(Action.UPDATE, Resource.PIPELINE)])
async def archive_pipeline(pipeline_id: Id, pipelines: PipelinesDep, caller: CallerDep) -> Pipeline:
    """Archive a pipeline; its next start restores it. 409 while it runs."""
    return await pipelines.archive(pipeline_id, by=caller)


@router.put("/{pipeline_id}/delete", dependencies=[needs(Action.DELETE, Resource.PIPELINE)])
async def delete_pipeline(pipeline_id: Id, pipelines: PipelinesDep, caller: CallerDep) -> Pipeline:
    """Delete a pipeline and its progress. 409 while it runs."""
    return await pipelines.delete(pipeline_id, by=caller)
