"""Checks the caller of each route first: the order is token, right, existence, validity.

A route declares its right beside its path: `dependencies=[needs(Action.UPDATE, Resource.GROUP)]`. The check runs before
ids, queries and bodies are read: a caller without the right learns neither what exists nor what is wrong with the
request. Where the policy of an object may decide, the call itself checks that object.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Message

from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import CallerDep, any_caller, authenticated_caller
from svc_jupyter.service.access.permissions import Action, Resource, decision, require_any, require_membership
from svc_jupyter.service.ground.errors import Invalid, ServiceError
from svc_jupyter.service.http.responses import answer_to

Check = Callable[[Caller, Request], None]
_ASKS_ITSELF = "svc_jupyter.asks_itself"
_BY_POLICIES = {
    resource: (resource,)
    for resource in (Resource.CLUSTER, Resource.ENVIRONMENT, Resource.JUPYTER_NOTEBOOK, Resource.PIPELINE)
} | {
    Resource.SCHEDULER: (Resource.SCHEDULER,),
    Resource.FOLDER: (Resource.FOLDER,),
    Resource.NOTE: (Resource.NOTE, Resource.FOLDER),
    Resource.NOTEBOOK_DASHBOARD: (Resource.NOTEBOOK_DASHBOARD, Resource.FOLDER),
}
"""The objects whose policies can give what groups do not; an object in a folder also has the folder's policies."""


class Needs:
    """Admits callers that pass a check; raises what the check raises."""

    def __init__(self, check: Check) -> None:
        self.check = check

    async def __call__(self, request: Request, caller: CallerDep) -> None:
        """Check the caller of a request."""
        self.check(caller, request)


def needs(actions: Action | tuple[Action, ...], resource: Resource) -> Any:
    """Return the dependency of a route that requires the right to one of the actions.

    It raises `Forbidden` for a caller who cannot have it by groups or by the policy of an object.
    """
    alternatives = actions if isinstance(actions, tuple) else (actions,)

    def check(caller: Caller, _request: Request) -> None:
        if any(decision(caller, action, resource).allowed for action in alternatives):
            return
        if not _named_by_policies(caller, resource):
            require_any(caller, alternatives, resource)

    return Depends(Needs(check))


def needs_to(check: Callable[[Caller], None]) -> Any:
    """Return the dependency of a route that requires more than one action: `check` raises `Forbidden`."""
    return Depends(Needs(lambda caller, _request: check(caller)))


NEEDS_ANY_RIGHT = Depends(authenticated_caller)
"""For calls about oneself: open to callers with any right."""
NEEDS_OWNERSHIP = Depends(any_caller)
"""For calls that ownership of an object allows, which only the call itself can check."""


def put_rights_before_validity(app: FastAPI) -> None:
    """Answer a request with an invalid body, query or path with the caller's missing right, if any."""
    for kind in (RequestValidationError, HTTPException, Invalid):  # HTTPException is for a body that is not text
        app.add_exception_handler(kind, _answer_to_invalid)


async def _answer_to_invalid(request: Request, error: Exception) -> Response:
    """Answer with the first of: the caller's missing right, the missing object, the error of the request.

    FastAPI reads a body before it runs dependencies, so a body that is not JSON comes here unchecked. Other HTTP
    errors, such as a wrong method, describe the call itself and stay unchanged.
    """
    if isinstance(error, HTTPException) and error.status_code != HTTPStatus.BAD_REQUEST:
        return answer_to(request, error)
    try:
        for item in getattr(request.scope.get("route"), "dependencies", ()):
            caller = await any_caller(request, request.headers.get(TOKEN_HEADER))
            if isinstance(item.dependency, Needs):
                require_membership(caller)
                item.dependency.check(caller, request)
    except ServiceError as refusal:
        return answer_to(request, refusal)
    return await _answer_of_missing(request) or answer_to(request, error)


async def _answer_of_missing(request: Request) -> Response | None:
    """Return the 404 that the caller gets for the object of an invalid request; None if it exists.

    The service itself requests the object of the path in the caller's name, so that the answer reveals nothing about
    hidden objects.
    """
    parts = getattr(request.scope.get("route"), "path", "").split("/")
    names = [number for number, part in enumerate(parts) if part.startswith("{")]
    if not names or _ASKS_ITSELF in request.scope or (request.method == "PUT" and ":path" in parts[-1]):
        return None  # a PUT may create the object of its path
    of_object = "/".join([*parts[: names[0]], next(iter(request.path_params.values()))])
    for path in dict.fromkeys((of_object, request.scope["path"])):
        answer = await _own_answer(request, path)
        if answer is not None:
            return answer if answer.status_code == HTTPStatus.NOT_FOUND else None
    return None


async def _own_answer(request: Request, path: str) -> Response | None:
    """Return the service's answer to the caller's GET of a path; None where there is no such route."""
    token = request.headers.get(TOKEN_HEADER, "").encode("latin-1")
    scope = {
        **{key: request.scope[key] for key in ("type", "asgi", "http_version", "scheme", "server", "client", "state")},
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(TOKEN_HEADER.lower().encode(), token)],
        _ASKS_ITSELF: True,
    }
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await request.app(scope, request.receive, send)
    if "endpoint" not in scope or sent[0]["status"] == HTTPStatus.METHOD_NOT_ALLOWED:
        return None
    body = b"".join(message.get("body", b"") for message in sent)
    return Response(body, sent[0]["status"], media_type="application/json")


def _named_by_policies(caller: Caller, resource: Resource) -> bool:
    """Return whether a policy allows the caller anything on objects of a kind; the call itself checks the object."""
    kinds = _BY_POLICIES.get(resource, ())
    return any(
        entry.allows and (caller.user_id in entry.users or not entry.groups.isdisjoint(caller.group_ids))
        for kind, object_id in caller.policies.about(caller.user_id, caller.group_ids)
        if kind in kinds
        for entry in caller.policies.of(kind, object_id)
    )
