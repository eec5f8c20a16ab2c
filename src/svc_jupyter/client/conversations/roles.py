"""The account's roles: the permissions of the groups that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Role, RoleList
from svc_jupyter.client.conversations.groups import Reference, given, path_of
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

Policies = Sequence[Mapping[str, Any]]


class RoleFlows:
    """Requests about roles, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[RoleList]:
        return fetch(self.link, Call("GET", paths.api("roles"), {"page": page, "per_page": per_page}), RoleList)

    def get(self, role: Reference) -> Flow[Role]:
        return fetch(self.link, Call("GET", path_of("roles", role)), Role)

    def create(self, name: str, policies: Policies) -> Flow[Role]:
        body = {"name": name, "policies": [dict(entry) for entry in policies]}
        return fetch(self.link, Call("POST", paths.api("roles"), body=body, headers=idempotency(str(uuid4()))), Role)

    def update(self, role: Reference, name: str | None, policies: Policies | None) -> Flow[Role]:
        body: dict[str, Any] = given(name=name)
        if policies is not None:
            body["policies"] = [dict(entry) for entry in policies]
        return fetch(self.link, Call("PUT", path_of("roles", role), body=body), Role)

    def delete(self, role: Reference) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", path_of("roles", role)), Deleted)

    def duplicate(self, role: Reference, name: str | None) -> Flow[Role]:
        path = path_of("roles", role, "duplicate")
        return fetch(self.link, Call("POST", path, body=given(name=name), headers=idempotency(str(uuid4()))), Role)
