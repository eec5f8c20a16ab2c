"""What each route asks of its caller before anything else: token, then right, then existence, then validity.

A route declares it beside its path: `dependencies=[needs(Action.UPDATE, Resource.GROUP)]`. It is looked at before ids,
queries and bodies are: who may not make a call learns neither what is there nor what is wrong with the request. Where
the policy of an object may decide, the call itself asks again about that object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, decision, require_any, require_membership
from svc_jupyter.service.dependencies import CallerDep, any_caller, authenticated_caller
from svc_jupyter.service.errors import ServiceError
from svc_jupyter.service.responses import answer_to

Check = Callable[[Caller, Request], None]
_BY_POLICIES = {
    resource: (resource,)
    for resource in (Resource.CLUSTER, Resource.ENVIRONMENT, Resource.JUPYTER_NOTEBOOK, Resource.PIPELINE)
} | {
    Resource.SCHEDULER: (Resource.SCHEDULER,),
    Resource.FOLDER: (Resource.FOLDER,),
    Resource.NOTE: (Resource.NOTE, Resource.FOLDER),
    Resource.NOTEBOOK_DASHBOARD: (Resource.NOTEBOOK_DASHBOARD, Resource.FOLDER),
}
"""The objects whose policies can give what groups do not; what lies in a folder has those of the folder, too."""


class Needs:
    """Lets a caller go on who passes a check; else raises what it raises."""

    def __init__(self, check: Check) -> None:
        self.check = check

    async def __call__(self, request: Request, caller: CallerDep) -> None:
        """Check the caller of a request."""
        self.check(caller, request)


def needs(actions: Action | tuple[Action, ...], resource: Resource) -> Any:
    """Return the dependency of a route that takes the right to one of the actions.

    It raises `Forbidden` for who has it neither by their groups nor, perhaps, by the policy of an object.
    """
    alternatives = actions if isinstance(actions, tuple) else (actions,)

    def check(caller: Caller, _request: Request) -> None:
        if any(decision(caller, action, resource).allowed for action in alternatives):
            return
        if not _named_by_policies(caller, resource):
            require_any(caller, alternatives, resource)

    return Depends(Needs(check))


def needs_to(check: Callable[[Caller], None]) -> Any:
    """Return the dependency of a route whose right is more than one action: `check` raises `Forbidden`."""
    return Depends(Needs(lambda caller, _request: check(caller)))


NEEDS_ANY_RIGHT = Depends(authenticated_caller)
"""For calls about oneself: open to whoever has a right at all."""
NEEDS_OWNERSHIP = Depends(any_caller)
"""For calls that ownership of an object allows, which only the call itself can look at."""


def put_rights_before_validity(app: FastAPI) -> None:
    """Answer a request whose body, query or path is wrong with what its caller lacks, if anything."""
    for kind in (RequestValidationError, HTTPException):  # the latter for a body that is no text
        app.add_exception_handler(kind, _answer_to_invalid)


async def _answer_to_invalid(request: Request, error: Exception) -> Response:
    """FastAPI reads a body before it asks dependencies: one that is no JSON comes here before they were asked."""
    try:
        for item in getattr(request.scope.get("route"), "dependencies", ()):
            caller = await any_caller(request, request.headers.get(TOKEN_HEADER))
            if isinstance(item.dependency, Needs):
                require_membership(caller)
                item.dependency.check(caller, request)
    except ServiceError as refusal:
        return answer_to(request, refusal)
    return answer_to(request, error)


def _named_by_policies(caller: Caller, resource: Resource) -> bool:
    """Return whether a policy allows the caller anything to an object of a kind; which one, the call itself asks."""
    kinds = _BY_POLICIES.get(resource, ())
    return any(
        entry.allows and (caller.user_id in entry.users or not entry.groups.isdisjoint(caller.group_ids))
        for kind, object_id in caller.policies.about(caller.user_id, caller.group_ids)
        if kind in kinds
        for entry in caller.policies.of(kind, object_id)
    )
