"""Clusters, their nodes and their health over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response

from svc_jupyter.api.cluster_health import ClusterHealth, ClusterMetrics
from svc_jupyter.api.clusters import (
    ClusterChanges,
    ClusterConfiguration,
    ClusterItem,
    ClusterList,
    ClusterMessage,
    ClusterRecord,
    ClusterStateChange,
    ClusterStateRecord,
    LabelMove,
    NodesToAdd,
    NodeToRemove,
)
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.fields import DEFAULT_PER_PAGE, MAX_PER_PAGE
from svc_jupyter.api.paths import RESOURCE_VERSIONS
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.access.dependencies import MAX_PAGE, CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.health import Health
from svc_jupyter.service.clusters.nodes import Nodes
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.http.versions import requested_version

router = resource_router(prefix="/clusters", tags=["clusters"])
_LIST: dict[int | str, dict[str, Any]] = {200: {"model": list[ClusterItem] | ClusterList}}


ClustersDep = Annotated[Clusters, part(Clusters)]
HealthDep = Annotated[Health, part(Health)]
NodesDep = Annotated[Nodes, part(Nodes)]


@router.get("", dependencies=[needs(Action.READ, Resource.CLUSTER)], responses=_LIST)
async def list_clusters(
    request: Request,
    clusters: ClustersDep,
    caller: CallerDep,
    page: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1,
    per_page: Annotated[int | None, Query(ge=1, le=2**31, description="over 100 is taken as 100")] = None,
    state: Annotated[str | None, Query(pattern="^(?i:down|pending|up|terminating)$")] = None,
    label: Annotated[str | None, Query(max_length=255)] = None,
) -> Response:
    """List the clusters that the caller may read, newest first.

    In v1.2 the answer is an array of `{"cluster": record}`, without a page unless one is requested; later versions
    return a page.
    """
    is_array = requested_version(request) in RESOURCE_VERSIONS
    size = per_page or (MAX_PER_PAGE if is_array else DEFAULT_PER_PAGE)
    wanted = None if state is None else ClusterState(state.upper())
    records, info = await clusters.listed(caller, Page(page, min(size, MAX_PER_PAGE)), state=wanted, label=label)
    if is_array:
        return json_response([{"cluster": record} for record in records])
    return json_response({"clusters": records, "paging_info": info})


@router.post("", dependencies=[needs(Action.CREATE, Resource.CLUSTER)], responses={200: {"model": ClusterRecord}})
async def create_cluster(body: ClusterConfiguration, clusters: ClustersDep, caller: CallerDep) -> Response:
    """Create a cluster, in state DOWN.

    422 for settings that its engine does not support, and for a label of another cluster.
    """
    return json_response(await clusters.create(body, by=caller))


@router.put("/reassign-label", dependencies=[needs(Action.UPDATE, Resource.CLUSTER)])
async def reassign_label(body: LabelMove, clusters: ClustersDep, caller: CallerDep) -> ClusterMessage:
    """Move a label to another cluster in one step, so that every command finds a cluster by it."""
    return ClusterMessage(message=await clusters.reassign_label(body, by=caller))


@router.get(
    "/{cluster}", dependencies=[needs(Action.READ, Resource.CLUSTER)], responses={200: {"model": ClusterRecord}}
)
async def get_cluster(cluster: str, clusters: ClustersDep, caller: CallerDep) -> Response:
    """Return the configuration of a cluster, by its id or one of its labels. Secrets are `<hidden>`."""
    return json_response(await clusters.get(cluster, by=caller))


@router.put(
    "/{cluster}", dependencies=[needs(Action.UPDATE, Resource.CLUSTER)], responses={200: {"model": ClusterRecord}}
)
async def edit_cluster(cluster: str, body: ClusterChanges, clusters: ClustersDep, caller: CallerDep) -> Response:
    """Change the given attributes.

    Labels and idle times apply immediately, other attributes at the cluster's next start.
    """
    return json_response(await clusters.edit(cluster, body, by=caller))


@router.delete("/{cluster}", dependencies=[needs(Action.DELETE, Resource.CLUSTER)])
async def delete_cluster(cluster: str, clusters: ClustersDep, caller: CallerDep) -> ClusterMessage:
    """Delete a cluster that is DOWN. 409 in any other state."""
    return ClusterMessage(message=await clusters.delete(cluster, by=caller))


@router.post(
    "/{cluster}/clone",
    dependencies=[needs(Action.CLONE, Resource.CLUSTER), needs(Action.CREATE, Resource.CLUSTER)],
    responses={200: {"model": ClusterRecord}},
)
async def clone_cluster(cluster: str, body: ClusterChanges, clusters: ClustersDep, caller: CallerDep) -> Response:
    """Create a copy of a cluster with the labels of the body, which may change other attributes, too.

    422 without a label.
    """
    return json_response(await clusters.clone(cluster, body, by=caller))


@router.get(
    "/{cluster}/state",
    dependencies=[needs(Action.READ, Resource.CLUSTER)],
    responses={200: {"model": ClusterStateRecord}},
)
async def get_cluster_state(cluster: str, clusters: ClustersDep, caller: CallerDep) -> Response:
    """Return the state of a cluster, its nodes, and the reason of its last termination."""
    return json_response(await clusters.state(cluster, by=caller))


@router.put("/{cluster}/state", dependencies=[needs((Action.START, Action.TERMINATE), Resource.CLUSTER)])
async def change_cluster_state(
    cluster: str, body: ClusterStateChange, clusters: ClustersDep, caller: CallerDep
) -> ClusterMessage:
    """Request `start` of a cluster that is DOWN, or `terminate` of one that is PENDING or UP; 409 in any other state.

    Commands that run on a terminated cluster or wait for it end in `error`.
    """
    return ClusterMessage(message=await clusters.change_state(cluster, body.state, by=caller))


async def _meant(
    body: NodeToRemove | None = None,
    private_dns: Annotated[str | None, Query(max_length=255, description="the worker's private DNS name")] = None,
) -> str | None:
    """Return the node that is to go, named in the query or in the body."""
    in_body = None if body is None else body.private_dns
    if private_dns and in_body and private_dns != in_body:
        raise Invalid("private_dns: the query and the body name different nodes")
    return private_dns or in_body or None


@router.post(
    "/{cluster}/nodes",
    dependencies=[needs(Action.MANAGE, Resource.CLUSTER)],
    responses={200: {"model": CommandRecord}},
)
async def add_nodes(cluster: str, nodes: NodesDep, caller: CallerDep, body: NodesToAdd | None = None) -> Response:
    """Add worker nodes. Returns the command that adds them."""
    return json_response(await nodes.add(cluster, (body or NodesToAdd()).node_count, by=caller))


@router.delete(
    "/{cluster}/nodes",
    dependencies=[needs(Action.MANAGE, Resource.CLUSTER)],
    responses={200: {"model": CommandRecord}},
)
async def remove_node(
    cluster: str, nodes: NodesDep, caller: CallerDep, private_dns: Annotated[str | None, Depends(_meant)]
) -> Response:
    """Remove a worker node, by default the least busy one. Returns the command that removes it."""
    return json_response(await nodes.remove(cluster, private_dns, by=caller))


@router.get(
    "/{cluster}/live_cluster_health",
    dependencies=[needs(Action.READ, Resource.CLUSTER)],
    responses={200: {"model": ClusterHealth}},
)
async def live_cluster_health(cluster: str, health: HealthDep, caller: CallerDep) -> Response:
    """Return the current health of a cluster. 409 unless it is UP."""
    return json_response(await health.record(cluster, by=caller))


@router.get(
    "/{cluster}/metrics",
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
