"""The audit log over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.audit import AuditLog
from svc_jupyter.api.fields import Id
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.audit.audit import Audit, AuditFilter
from svc_jupyter.service.ground.clock import parse_day, parse_end
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

router = resource_router(tags=["access"])
_Word = Annotated[str | None, Query(max_length=1000)]
_Day = Annotated[str | None, Query(max_length=40, description="a date or time, UTC where it does not say otherwise")]


async def _filter(
    user_id: Annotated[Id | None, Query()] = None,
    action: _Word = None,
    resource: _Word = None,
    object_id: _Word = None,
    trace_id: _Word = None,
    start_date: _Day = None,
    end_date: _Day = None,
) -> AuditFilter:
    if any("\x00" in word for word in (action, object_id, trace_id) if word is not None):
        raise Invalid("a filter must not hold a NUL character")
    return AuditFilter(
        user_id=user_id,
        action=action or None,
        resource=_resource(resource) if resource else None,
        object_id=object_id or None,
        trace_id=trace_id or None,
        start=parse_day(start_date, "start_date") if start_date else None,
        end=parse_end(end_date, "end_date") if end_date else None,
    )


def _resource(word: str) -> Resource:
    try:
        return Resource(word)
    except ValueError:
        raise Invalid(f"resource: {word[:40]!r} is unknown; it must be one of {', '.join(Resource)}") from None


@router.get("/audit", dependencies=[needs(Action.READ, Resource.AUDIT)])
def list_audit(
    audit: Annotated[Audit, part(Audit)],
    caller: CallerDep,
    page: PageDep,
    wanted: Annotated[AuditFilter, Depends(_filter)],
) -> AuditLog:
    """List the account's changes, newest first, with their users, times and addresses.

    403 without the permission to read the audit log.
    """
    return audit.list(wanted, page, by=caller)
