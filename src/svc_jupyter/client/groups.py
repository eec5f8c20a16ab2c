"""The account's groups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

Reference = int | str
"""A group or a role by its id or its name; a user by their id or e-mail address."""
References = Reference | Sequence[Reference]


def joined(references: References) -> str:
    """Return one or several references as the comma-separated text that the service reads."""
    several = [references] if isinstance(references, int | str) else references
    return ",".join(str(reference) for reference in several)


def path_of(collection: str, reference: Reference, *parts: str) -> str:
    """Return the path of a group or role, or of a part of it."""
    return paths.api("/".join([collection, *(quote(str(part), safe="") for part in (reference, *parts))]))


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that say something."""
    return {name: value for name, value in fields.items() if value}


class _GroupFlows:
    """What both kinds of client say to the service about groups."""

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


class Groups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _GroupFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        return self._client._run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[Group]:
        """Yield all groups, newest first."""
        pages: Pages[Group] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.groups, listing.paging_info)

    def get(self, group: Reference) -> Group:
        """Return a group; NotFound when there is none."""
        return self._client._run(self._flows.get(group))

    def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Make a group with members of the account and roles."""
        return self._client._run(self._flows.create(name, members, roles))

    def rename(self, group: Reference, name: str) -> Group:
        """Give a group another name."""
        return self._client._run(self._flows.rename(group, name))

    def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep what other groups give them."""
        return self._client._run(self._flows.delete(group))

    def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Make a group with the same members and roles."""
        return self._client._run(self._flows.duplicate(group, name))

    def add_users(self, group: Reference, users: References) -> Done:
        """Add members of the account to a group: all of them, or nobody."""
        return self._client._run(self._flows.users(group, users, "add"))

    def remove_users(self, group: Reference, users: References) -> Done:
        """Take users out of a group: all of them, or nobody."""
        return self._client._run(self._flows.users(group, users, "remove"))

    def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return self._client._run(self._flows.role(group, role, "assign"))

    def unassign(self, group: Reference, role: Reference) -> Done:
        """Take a role from a group."""
        return self._client._run(self._flows.role(group, role, "unassign"))


class AsyncGroups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _GroupFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[Group]:
        """Yield all groups, newest first."""
        pages: Pages[Group] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for group in pages.take(listing.groups, listing.paging_info):
                yield group

    async def get(self, group: Reference) -> Group:
        """Return a group; NotFound when there is none."""
        return await self._client._run(self._flows.get(group))

    async def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Make a group with members of the account and roles."""
        return await self._client._run(self._flows.create(name, members, roles))

    async def rename(self, group: Reference, name: str) -> Group:
        """Give a group another name."""
        return await self._client._run(self._flows.rename(group, name))

    async def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep what other groups give them."""
        return await self._client._run(self._flows.delete(group))

    async def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Make a group with the same members and roles."""
        return await self._client._run(self._flows.duplicate(group, name))

    async def add_users(self, group: Reference, users: References) -> Done:
        """Add members of the account to a group: all of them, or nobody."""
        return await self._client._run(self._flows.users(group, users, "add"))

    async def remove_users(self, group: Reference, users: References) -> Done:
        """Take users out of a group: all of them, or nobody."""
        return await self._client._run(self._flows.users(group, users, "remove"))

    async def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return await self._client._run(self._flows.role(group, role, "assign"))

    async def unassign(self, group: Reference, role: Reference) -> Done:
        """Take a role from a group."""
        return await self._client._run(self._flows.role(group, role, "unassign"))
