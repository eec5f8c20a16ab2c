"""`/healthz`, `/readyz` and `/metrics`: outside the contract, for load balancers, orchestrators and Prometheus."""

from __future__ import annotations

import json
from http import HTTPStatus

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from svc_jupyter.api.paths import TOKEN_HEADER
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.ground.errors import Forbidden, ServiceError
from svc_jupyter.service.http.rooms import part_of
from svc_jupyter.service.monitoring.monitoring import Monitoring

router = APIRouter()
_BEARER = "bearer "


async def health(_: Request) -> Response:
    """Answer as long as the process handles requests; asks nothing else."""
    return PlainTextResponse("alive\n", headers={"Cache-Control": "no-store"})


async def readiness(request: Request) -> Response:
    """Answer 200 when all checks pass, else 503; only administrators see the details."""
    return await readiness_of(part_of(request.app, Monitoring), with_details=await _is_admin(request))


async def metrics(request: Request) -> Response:
    """Return the figures to an administrator. Prometheus sends the token as a bearer token."""
    if not (await _caller(request)).is_admin:
        raise Forbidden("the figures are for members of system-admin; or set SVC_METRICS_PORT and read them there")
    return await metrics_of(part_of(request.app, Monitoring))


async def readiness_of(monitoring: Monitoring, *, with_details: bool) -> Response:
    """Return the results of the checks as JSON, a line for each."""
    findings = await monitoring.findings()
    is_ready = all(finding.is_good for finding in findings)
    words = {True: "ok", False: "failed"}
    checks = {
        finding.name: f"{words[finding.is_good]}: {finding.detail}" if with_details else words[finding.is_good]
        for finding in findings
    }
    return Response(
        json.dumps({"ready": is_ready, "checks": checks}, indent=1) + "\n",
        HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE,
        {"Cache-Control": "no-store"},
        media_type="application/json",
    )


async def metrics_of(monitoring: Monitoring) -> Response:
    """Return the figures in the text format of Prometheus."""
    return Response(await monitoring.text(), headers={"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_LATEST})


async def _caller(request: Request) -> Caller:
    """Return the caller. Raises `Unauthorized`, and `Unavailable`."""
    token = request.headers.get(TOKEN_HEADER)
    authorization = request.headers.get("Authorization", "")
    if token is None and authorization.lower().startswith(_BEARER):
        token = authorization[len(_BEARER) :].strip()
    return await part_of(request.app, Access).tokens.caller(token)


async def _is_admin(request: Request) -> bool:
    """Return whether the caller is an administrator; also False where that cannot be found out."""
    try:
        return (await _caller(request)).is_admin
    except ServiceError:
        return False


for _path, _endpoint in (("/healthz", health), ("/readyz", readiness), ("/metrics", metrics)):
    router.add_route(_path, _endpoint, include_in_schema=False)
