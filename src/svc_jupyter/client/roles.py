"""The account's roles: what they allow, for the groups that have them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Role, RoleList
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.groups import Reference, given, path_of
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

Policies = Sequence[Mapping[str, Any]]


class _RoleFlows:
    """What both kinds of client say to the service about roles."""

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


class Roles:
    """The account's roles, as `client.roles`; a role is named by its id or name."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _RoleFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10) -> RoleList:
        """Return one page of roles, newest first."""
        return self._client._run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[Role]:
        """Yield all roles, newest first."""
        pages: Pages[Role] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.roles, listing.paging_info)

    def get(self, role: Reference) -> Role:
        """Return a role; NotFound when there is none."""
        return self._client._run(self._flows.get(role))

    def create(self, name: str, policies: Policies) -> Role:
        """Make a role of entries such as `{"access": "allow", "resource": "scheduler", "action": ["read"]}`."""
        return self._client._run(self._flows.create(name, policies))

    def update(self, role: Reference, *, name: str | None = None, policies: Policies | None = None) -> Role:
        """Change the given attributes, for all groups that have the role."""
        return self._client._run(self._flows.update(role, name, policies))

    def delete(self, role: Reference) -> Deleted:
        """Delete a role, also for the groups that have it."""
        return self._client._run(self._flows.delete(role))

    def duplicate(self, role: Reference, *, name: str | None = None) -> Role:
        """Make a role that allows the same."""
        return self._client._run(self._flows.duplicate(role, name))


class AsyncRoles:
    """The account's roles, as `client.roles`; a role is named by its id or name."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _RoleFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> RoleList:
        """Return one page of roles, newest first."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[Role]:
        """Yield all roles, newest first."""
        pages: Pages[Role] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for role in pages.take(listing.roles, listing.paging_info):
                yield role

    async def get(self, role: Reference) -> Role:
        """Return a role; NotFound when there is none."""
        return await self._client._run(self._flows.get(role))

    async def create(self, name: str, policies: Policies) -> Role:
        """Make a role of entries such as `{"access": "allow", "resource": "scheduler", "action": ["read"]}`."""
        return await self._client._run(self._flows.create(name, policies))

    async def update(self, role: Reference, *, name: str | None = None, policies: Policies | None = None) -> Role:
        """Change the given attributes, for all groups that have the role."""
        return await self._client._run(self._flows.update(role, name, policies))

    async def delete(self, role: Reference) -> Deleted:
        """Delete a role, also for the groups that have it."""
        return await self._client._run(self._flows.delete(role))

    async def duplicate(self, role: Reference, *, name: str | None = None) -> Role:
        """Make a role that allows the same."""
        return await self._client._run(self._flows.duplicate(role, name))
