"""Policies of objects over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import ValidationError

from svc_jupyter.api.access import Action
from svc_jupyter.api.object_policies import (
    ObjectChoice,
    ObjectDecisions,
    ObjectPolicy,
    PolicyHistory,
    PolicyUpdate,
    SourceId,
    SourceType,
)
from svc_jupyter.service.access.dependencies import AnyCallerDep, PageDep
from svc_jupyter.service.access.route_rights import NEEDS_OWNERSHIP
from svc_jupyter.service.access.routes import AccessDep
from svc_jupyter.service.ground.errors import BadRequest, Invalid
from svc_jupyter.service.http.bodies import beside, parsed
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.http.validation import explain, fields

router = resource_router(prefix="/object_policy", tags=["access"])


async def _choice(
    request: Request,
    source_id: Annotated[SourceId | None, Query(description="required here or in the body")] = None,
    source_type: Annotated[SourceType | None, Query(description="required here or in the body")] = None,
) -> ObjectChoice:
    """Return the object that is meant: the contract names it in the body of a GET, which not every client can send."""
    in_query = {"source_id": source_id, "source_type": source_type}
    given = await _body(request) | {key: value for key, value in in_query.items() if value is not None}
    try:
        return ObjectChoice.model_validate(given)
    except ValidationError as error:
        raise Invalid(explain(error), fields(error)) from None


async def _body(request: Request) -> dict[str, Any]:
    raw = await request.body()
    if not raw.strip():
        return {}
    try:
        body = await beside(raw, parsed, raw)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(body, dict):
        raise Invalid("the body must be a JSON object")
    return body


ChoiceDep = Annotated[ObjectChoice, Depends(_choice)]


@router.get("/policy", dependencies=[NEEDS_OWNERSHIP], response_model_exclude_unset=True)
def get_object_policy(access: AccessDep, caller: AnyCallerDep, choice: ChoiceDep) -> ObjectPolicy:
    """Return the policy of an object. `policies` is empty if it has none."""
    return access.object_policies.get(choice, by=caller)


@router.put("/policy", dependencies=[NEEDS_OWNERSHIP], response_model_exclude_unset=True)
def set_object_policy(body: PolicyUpdate, access: AccessDep, caller: AnyCallerDep) -> ObjectPolicy:
    """Set the policy of an object.

    An empty array leaves the object to the rights of groups. The answer has a `warning` if the caller loses a
    permission. 403 unless the caller owns the object, is in `system-admin`, or has a role that allows it.
    """
    return access.object_policies.set(body, by=caller)


@router.get("/history", dependencies=[NEEDS_OWNERSHIP], response_model_exclude_unset=True)
def get_policy_history(access: AccessDep, caller: AnyCallerDep, choice: ChoiceDep, page: PageDep) -> PolicyHistory:
    """List the policies that an object has had, newest first, with their authors and times."""
    return access.object_policies.history(choice, page, by=caller)


@router.get("/decision", dependencies=[NEEDS_OWNERSHIP], response_model_exclude_unset=True)
def explain_decision(
    access: AccessDep,
    caller: AnyCallerDep,
    choice: ChoiceDep,
    user: Annotated[str | None, Query(description="id or e-mail address; without it the caller")] = None,
    action: Annotated[Action | None, Query(description="without it: all that a policy of the object can name")] = None,
) -> ObjectDecisions:
    """Explain what a user may do to an object: the decision on the next call, its reason, and missing permissions.

    Requires the permissions for viewing the policy; to ask about another user, also the permission to read users.
    """
    return access.explanations.explain(choice, user, action, by=caller)
