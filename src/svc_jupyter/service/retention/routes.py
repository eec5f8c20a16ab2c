"""The rules for keeping files over HTTP (an extension)."""

from __future__ import annotations

from typing import Annotated

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.retention import PrunePlan, PrunePreview, RetentionRules
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.retention.retention import Retention

RetentionDep = Annotated[Retention, part(Retention)]
router = resource_router(prefix="/account/retention", tags=["access"])


@router.get("", dependencies=[needs(Action.READ, Resource.ACCOUNT)])
async def get_retention(retention: RetentionDep, caller: CallerDep) -> RetentionRules:
    """Return the rules by which files of ended commands are deleted."""
    return await retention.rules(caller)


@router.put("", dependencies=[needs(Action.UPDATE, Resource.ACCOUNT)])
async def set_retention(body: RetentionRules, retention: RetentionDep, caller: CallerDep) -> RetentionRules:
    """Replace the rules. What is beyond a limit is deleted soon, and cannot be brought back."""
    return await retention.set_rules(body, caller)


@router.post("/preview", dependencies=[needs(Action.UPDATE, Resource.ACCOUNT)])
async def preview_retention(body: PrunePreview, retention: RetentionDep, caller: CallerDep) -> PrunePlan:
    """Return what rules would delete now, by default those in force. Deletes nothing."""
    return await retention.plan(body.rules, caller)
