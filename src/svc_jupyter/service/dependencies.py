"""What every route may ask for: the service's parts, the caller, the page of a list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Header, Query, Request

from svc_jupyter.api.fields import DEFAULT_PER_PAGE, MAX_PER_PAGE
from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access.callers import Caller, Origin
from svc_jupyter.service.access.permissions import require_membership
from svc_jupyter.service.paging import Page

if TYPE_CHECKING:
    from svc_jupyter.service.parts import Service

MAX_PAGE = 10_000_000


def get_service(request: Request) -> Service:
    """Return the service that answers this request."""
    service: Service = request.app.state.service
    return service


async def any_caller(
    request: Request,
    x_auth_token: Annotated[str | None, Header(alias=TOKEN_HEADER, description="API token")] = None,
) -> Caller:
    """Return who calls; 401 without a valid token.

    Only for what needs no right but ownership; everything else asks for `authenticated_caller`.
    """
    service = get_service(request)
    caller = await service.access.tokens.caller(x_auth_token)
    service.rate_limit.count(caller.user_id)
    client = request.client
    origin = Origin(None if client is None else client.host, request.scope.get("state", {}).get("trace_id", ""))
    return replace(caller, origin=origin)


async def authenticated_caller(
    request: Request,
    x_auth_token: Annotated[str | None, Header(alias=TOKEN_HEADER, description="API token")] = None,
) -> Caller:
    """Return who calls; 401 without a valid token, 403 without any right."""
    caller = await any_caller(request, x_auth_token)
    require_membership(caller)
    return caller


async def requested_page(
    page: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1,
    per_page: Annotated[int, Query(ge=1, le=2**31, description="over 100 is taken as 100")] = DEFAULT_PER_PAGE,
) -> Page:
    """Return which page of a list is wanted."""
    return Page(page, min(per_page, MAX_PER_PAGE))


AnyCallerDep = Annotated[Caller, Depends(any_caller)]
CallerDep = Annotated[Caller, Depends(authenticated_caller)]
PageDep = Annotated[Page, Depends(requested_page)]
