"""Health of clusters over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.http.bodies import JsonRoute
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part

router = APIRouter(tags=["clusters"], route_class=JsonRoute)


HealthDep = Annotated[Health, part(Health)]


@router.get(
    "/clusters/{cluster}/live_cluster_health",
    dependencies=[needs(Action.READ, Resource.CLUSTER)],
    responses={200: {"model": ClusterHealth}},
)
async def live_cluster_health(cluster: str, health: HealthDep, caller: CallerDep) -> Response:
    """View live cluster health. 409 unless the cluster is UP."""
    return json_response(await health.record(cluster, by=caller))


@router.get(
    "/clusters/{cluster}/metrics",
    dependencies=[needs(Action.READ, Resource.CLUSTER)],
    responses={200: {"model": ClusterMetrics}},
)
async def cluster_metrics(
    cluster: str,
    health: HealthDep,
    caller: CallerDep,
    metric: Annotated[
        str | None, Query(max_length=1024, description="names separated by commas; all by default")
    ] = None,
    interval: Annotated[str, Query(max_length=16, description="minute, hour, day, or seconds")] = "hour",
) -> Response:
    """Return samples of a cluster's health over the last `interval`, for plots. 409 unless the cluster is UP."""
    return json_response(await health.metrics(cluster, metric, interval, by=caller))
