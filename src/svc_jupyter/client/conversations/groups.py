"""The account's groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

Reference = int | str
"""A group or a role by id or name; a user by id or e-mail address."""
References = Reference | Sequence[Reference]


def joined(references: References) -> str:
    """Return one or several references as the comma-separated text of a request."""
    several = [references] if isinstance(references, int | str) else references
    return ",".join(str(reference) for reference in several)


def path_of(collection: str, reference: Reference, *parts: str) -> str:
    """Return the path of a group or role, or of a part of it."""
    return paths.api("/".join([collection, *(quote(str(part), safe="") for part in (reference, *parts))]))


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value}


class GroupFlows:
    """Requests about groups, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[GroupList]:
        return fetch(self.link, Call("GET", paths.api("groups"), {"page": page, "per_page": per_page}), GroupList)

    def get(self, group: Reference) -> Flow[Group]:
        return fetch(self.link, Call("GET", path_of("groups", group)), Group)

    def create(self, name: str, members: References, roles: References) -> Flow[Group]:
        body = {"name": name, **given(members=joined(members), roles=joined(roles))}
        call = Call("POST", paths.api("groups"), body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, Group)

    def rename(self, group: Reference, name: str) -> Flow[Group]:
        return fetch(self.link, Call("PUT", path_of("groups", group), body={"name": name}), Group)

    def delete(self, group: Reference) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", path_of("groups", group)), Deleted)

    def duplicate(self, group: Reference, name: str | None) -> Flow[Group]:
        path = path_of("groups", group, "duplicate")
        return fetch(self.link, Call("POST", path, body=given(name=name), headers=idempotency(str(uuid4()))), Group)

    def users(self, group: Reference, users: References, verb: str) -> Flow[Done]:
        path = path_of("groups", group, "service_users", joined(users), verb)
        return fetch(self.link, Call("PUT", path, body={}), Done)

    def role(self, group: Reference, role: Reference, verb: str) -> Flow[Done]:
        return fetch(self.link, Call("PUT", path_of("groups", group, "roles", str(role), verb), body={}), Done)
