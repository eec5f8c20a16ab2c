"""Common dependencies of routes: the caller, and the page of a list."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Header, Query, Request

from svc_jupyter.api.fields import DEFAULT_PER_PAGE, MAX_PER_PAGE
from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller, Origin
from svc_jupyter.service.access.permissions import require_membership
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.rooms import part_of

MAX_PAGE = 10_000_000


async def any_caller(
    request: Request,
    x_auth_token: Annotated[str | None, Header(alias=TOKEN_HEADER, description="API token")] = None,
) -> Caller:
    """Return the caller; 401 without a valid token.

    Only for calls that need no right but ownership; all others use `authenticated_caller`.
    """
    caller = await part_of(request.app, Access).tokens.caller(x_auth_token)
    part_of(request.app, RateLimit).count(caller.user_id)
    client = request.client
    origin = Origin(None if client is None else client.host, request.scope.get("state", {}).get("trace_id", ""))
    return replace(caller, origin=origin)


async def authenticated_caller(
    request: Request,
    x_auth_token: Annotated[str | None, Header(alias=TOKEN_HEADER, description="API token")] = None,
) -> Caller:
    """Return the caller; 401 without a valid token, 403 without any right."""
    caller = await any_caller(request, x_auth_token)
    require_membership(caller)
    return caller


async def requested_page(
    page: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1,
    per_page: Annotated[int, Query(ge=1, le=2**31, description="over 100 is taken as 100")] = DEFAULT_PER_PAGE,
) -> Page:
    """Return the requested page of a list."""
    return Page(page, min(per_page, MAX_PER_PAGE))


AnyCallerDep = Annotated[Caller, Depends(any_caller)]
CallerDep = Annotated[Caller, Depends(authenticated_caller)]
PageDep = Annotated[Page, Depends(requested_page)]
