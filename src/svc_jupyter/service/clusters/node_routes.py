"""Nodes of clusters over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from svc_jupyter.api.clusters import NodesToAdd, NodeToRemove
from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.clusters.nodes import Nodes
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.bodies import JsonRoute
from svc_jupyter.service.http.responses import json_response
from svc_jupyter.service.http.rooms import part

router = APIRouter(tags=["clusters"], route_class=JsonRoute)


async def _meant(
    body: NodeToRemove | None = None,
    private_dns: Annotated[str | None, Query(max_length=255, description="the worker's private DNS name")] = None,
) -> str | None:
    """Return the node that is to go, named in the query or in the body."""
    in_body = None if body is None else body.private_dns
    if private_dns and in_body and private_dns != in_body:
        raise Invalid("private_dns: the query and the body name different nodes")
    return private_dns or in_body or None


NodesDep = Annotated[Nodes, part(Nodes)]


@router.post(
    "/clusters/{cluster}/nodes",
    dependencies=[needs(Action.MANAGE, Resource.CLUSTER)],
    responses={200: {"model": CommandRecord}},
)
async def add_nodes(cluster: str, nodes: NodesDep, caller: CallerDep, body: NodesToAdd | None = None) -> Response:
    """Add worker nodes; the answer is the command that does it."""
    return json_response(await nodes.add(cluster, (body or NodesToAdd()).node_count, by=caller))


@router.delete(
    "/clusters/{cluster}/nodes",
    dependencies=[needs(Action.MANAGE, Resource.CLUSTER)],
    responses={200: {"model": CommandRecord}},
)
async def remove_node(
    cluster: str, nodes: NodesDep, caller: CallerDep, private_dns: Annotated[str | None, Depends(_meant)]
) -> Response:
    """Remove a worker node, by default the idlest; the answer is the command that does it."""
    return json_response(await nodes.remove(cluster, private_dns, by=caller))
