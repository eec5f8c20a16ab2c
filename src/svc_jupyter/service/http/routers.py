"""Routers of the contract's resources."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from svc_jupyter.api.paths import DEFAULT_VERSION
from svc_jupyter.service.http.bodies import JsonRoute
from svc_jupyter.service.http.responses import ERROR_RESPONSES


def resource_router(
    prefix: str = "", *, tags: list[str], responses: dict[int | str, dict[str, Any]] | None = None
) -> APIRouter:
    """Return a router for paths under `/api/v1.2`; `OtherVersions` leads the paths of the other versions there."""
    return APIRouter(
        prefix=f"/api/{DEFAULT_VERSION}{prefix}",
        tags=[*tags],
        responses={**ERROR_RESPONSES, **(responses or {})},
        route_class=JsonRoute,
    )
