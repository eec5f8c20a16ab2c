"""Schedules and their actions over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from svc_jupyter.api.fields import DEFAULT_PER_PAGE, MAX_PER_PAGE, Id
from svc_jupyter.api.schedules import (
    ActionKilled,
    ActionList,
    ActionRecord,
    InstanceList,
    Preview,
    PreviewRequest,
    Rescheduled,
    ScheduleList,
    ScheduleRecord,
    ScheduleSubmission,
    ScheduleUpdate,
    StateChanged,
)
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.service.access.dependencies import MAX_PAGE, CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource, require_to_schedule_some
from svc_jupyter.service.access.route_rights import needs, needs_to
from svc_jupyter.service.commands import result_routes
from svc_jupyter.service.commands.route_parameters import CommandsDep
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.schedules.actions import Actions
from svc_jupyter.service.schedules.records import ScheduleFilter
from svc_jupyter.service.schedules.schedules import Schedules

router = resource_router(tags=["schedules"])


async def _page_or_all(
    page: Annotated[str, Query(pattern=r"^(all|[0-9]{1,7})$", description="a number from 1, or all")] = "1",
    per_page: Annotated[int, Query(ge=1, le=2**31, description="over 100 is taken as 100")] = DEFAULT_PER_PAGE,
) -> Page | None:
    """Return which page is wanted; None for everything."""
    if page == "all":
        return None
    if not 1 <= int(page) <= MAX_PAGE:
        raise Invalid("page: pages are counted from 1")
    return Page(int(page), min(per_page, MAX_PER_PAGE))


SchedulesDep = Annotated[Schedules, part(Schedules)]
ActionsDep = Annotated[Actions, part(Actions)]
PageOrAllDep = Annotated[Page | None, Depends(_page_or_all)]


@router.post(
    "/scheduler", dependencies=[needs_to(require_to_schedule_some)], responses={200: {"model": ScheduleRecord}}
)
async def create_schedule(body: ScheduleSubmission, schedules: SchedulesDep, caller: CallerDep) -> Response:
    """Create a schedule."""
    return json_response(await schedules.create(body, by=caller))


@router.get(
    "/scheduler", dependencies=[needs(Action.READ, Resource.SCHEDULER)], responses={200: {"model": ScheduleList}}
)
async def list_schedules(
    schedules: SchedulesDep,
    caller: CallerDep,
    page: PageOrAllDep,
    name: Annotated[str | None, Query(max_length=255, description="part of the name, at least 3 characters")] = None,
    status: Annotated[str | None, Query(max_length=16)] = None,
) -> Response:
    """List the account's schedules, newest first."""
    if name is not None and "\x00" in name:
        raise Invalid("name: a filter must not hold a NUL character")
    wanted = ScheduleFilter(name or None, None if status is None else _status(status))
    if page is None:
        return StreamingResponse(await schedules.listing.all(wanted, by=caller), media_type="application/json")
    records, info = await schedules.listing.page(wanted, page, by=caller)
    return json_response({"schedules": records, "paging_info": info})


@router.post(
    "/scheduler/preview_macro",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": Preview}},
)
async def preview_macro(body: PreviewRequest, schedules: SchedulesDep, caller: CallerDep) -> Response:
    """Return a command with its macros resolved. Nothing is created."""
    return json_response(await schedules.preview(body, by=caller))


@router.get(
    "/scheduler/{schedule_id}",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": ScheduleRecord}},
)
async def get_schedule(schedule_id: Id, schedules: SchedulesDep, caller: CallerDep) -> Response:
    """Return a schedule."""
    return json_response(await schedules.get(schedule_id, by=caller))


@router.put(
    "/scheduler/{schedule_id}",
    dependencies=[needs((Action.UPDATE, Action.MANAGE, Action.DELETE), Resource.SCHEDULER)],
    responses={200: {"model": ScheduleRecord | StateChanged}},
)
async def change_schedule(
    schedule_id: Id, body: ScheduleUpdate, schedules: SchedulesDep, caller: CallerDep
) -> Response:
    """Suspend, resume or kill a schedule with `status`.

    Without it, change the given attributes and return the record.
    """
    if body.status is None:
        return json_response(await schedules.edit(schedule_id, body, by=caller))
    status = await schedules.change_state(schedule_id, body, by=caller)
    return json_response({"succeeded": "true", "status": status})


@router.get(
    "/scheduler/{schedule_id}/actions",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": ActionList}},
)
async def list_schedule_actions(schedule_id: Id, actions: ActionsDep, caller: CallerDep, page: PageDep) -> Response:
    """List a schedule's actions, newest first."""
    records, info = await actions.list(page, by=caller, schedule_id=schedule_id)
    return json_response({"actions": records, "paging_info": info})


@router.get(
    "/scheduler/{schedule_id}/actions/{sequence_id}",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": ActionList}},
)
async def list_runs_of_action(
    schedule_id: Id, sequence_id: Id, actions: ActionsDep, caller: CallerDep, page: PageDep
) -> Response:
    """List the action with that sequence number and its reruns, newest first."""
    records, info = await actions.list(page, by=caller, schedule_id=schedule_id, sequence_id=sequence_id)
    return json_response({"actions": records, "paging_info": info})


@router.get(
    "/scheduler/{schedule_id}/instances",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": InstanceList}},
)
async def list_instances(schedule_id: Id, actions: ActionsDep, caller: CallerDep, page: PageDep) -> Response:
    """List the commands that a schedule has run, newest first."""
    records, info = await actions.instances(schedule_id, page, by=caller)
    return json_response({"commands": records, "paging_info": info})


@router.get(
    "/scheduler/{schedule_id}/instances/{instance}",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": InstanceList}},
)
async def get_instance(
    schedule_id: Id, instance: Id, actions: ActionsDep, caller: CallerDep, page: PageDep
) -> Response:
    """List the commands of one instance (an action's sequence number): its run and its reruns, newest first."""
    records, info = await actions.instances(schedule_id, page, by=caller, sequence_id=instance)
    return json_response({"commands": records, "paging_info": info})


@router.get(
    "/scheduler/{schedule_id}/instances/{instance}/logs",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    response_class=Response,
)
async def get_instance_logs(
    schedule_id: Id, instance: Id, actions: ActionsDep, commands: CommandsDep, caller: CallerDep
) -> Response:
    """Return the log of an instance's newest run, as `GET commands/ID/logs` does."""
    command_id = await actions.latest_command(schedule_id, instance, by=caller)
    return await result_routes.get_logs(command_id, commands, caller)


@router.get(
    "/scheduler/{schedule_id}/instances/{instance}/results",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    response_class=Response,
)
async def get_instance_results(
    request: Request,
    schedule_id: Id,
    instance: Id,
    actions: ActionsDep,
    commands: CommandsDep,
    caller: CallerDep,
    include_headers: Annotated[str, Query(pattern="^(?i:true|false|0|1)$")] = "false",
) -> Response:
    """Return the results of an instance's newest run, as `GET commands/ID/results` does."""
    command_id = await actions.latest_command(schedule_id, instance, by=caller)
    return await result_routes.get_results(request, command_id, commands, caller, include_headers=include_headers)


@router.post(
    "/scheduler/{schedule_id}/instances/{instance}/rerun",
    dependencies=[needs((Action.UPDATE, Action.MANAGE), Resource.SCHEDULER)],
)
async def rerun_instance(schedule_id: Id, instance: Id, actions: ActionsDep, caller: CallerDep) -> Rescheduled:
    """Run an instance again for the same nominal time. 409 while one of its runs has not ended."""
    return Rescheduled.model_validate({"action": await actions.rerun_instance(schedule_id, instance, by=caller)})


@router.get("/actions", dependencies=[needs(Action.READ, Resource.SCHEDULER)], responses={200: {"model": ActionList}})
async def list_actions(actions: ActionsDep, caller: CallerDep, page: PageDep) -> Response:
    """List the actions of all schedules of the account, newest first."""
    records, info = await actions.list(page, by=caller)
    return json_response({"actions": records, "paging_info": info})


@router.get(
    "/actions/{action_id}",
    dependencies=[needs(Action.READ, Resource.SCHEDULER)],
    responses={200: {"model": ActionRecord}},
)
async def get_action(action_id: Id, actions: ActionsDep, caller: CallerDep) -> Response:
    """Return an action's record, also in the form of a list, which some clients expect."""
    record: dict[str, Any] = await actions.get(action_id, by=caller)
    return json_response({**record, "actions": [record], "paging_info": Page(1, 1).info(has_more=False)})


@router.put("/actions/{action_id}/kill", dependencies=[needs((Action.UPDATE, Action.MANAGE), Resource.SCHEDULER)])
async def kill_action(action_id: Id, actions: ActionsDep, caller: CallerDep) -> ActionKilled:
    """End an action that waits, or the command that it runs."""
    killed = await actions.kill(action_id, by=caller)
    return ActionKilled(kill_succeeded="true" if killed else "false")


@router.post("/actions/{action_id}/rerun", dependencies=[needs((Action.UPDATE, Action.MANAGE), Resource.SCHEDULER)])
async def rerun_action(action_id: Id, actions: ActionsDep, caller: CallerDep) -> Rescheduled:
    """Run an action again for the same nominal time. 409 while one of its runs has not ended."""
    return Rescheduled.model_validate({"action": await actions.rerun(action_id, by=caller)})


def _status(text: str) -> ScheduleStatus:
    try:
        return ScheduleStatus(text.upper())
    except ValueError:
        raise Invalid(f"status: must be one of {', '.join(ScheduleStatus)}") from None
