"""The account's groups."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.requests.groups import Reference, References, joined, path_of
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency


class AsyncGroups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        call = Call("GET", paths.api("groups"), {"page": page, "per_page": per_page})
        return await self._sender.fetch(call, GroupList)

    def iter(self) -> AsyncIterator[Group]:
        """Yield all groups, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE), lambda found: (found.groups, found.paging_info)
        )

    async def get(self, group: Reference) -> Group:
        """Return a group; raises NotFound for an unknown one."""
        return await self._sender.fetch(Call("GET", path_of("groups", group)), Group)

    async def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Create a group with members and roles."""
        body = given(name=name, members=joined(members) or None, roles=joined(roles) or None)
        return await self._sender.fetch(Call("POST", paths.api("groups"), body=body, headers=idempotency()), Group)

    async def rename(self, group: Reference, name: str) -> Group:
        """Rename a group."""
        return await self._sender.fetch(Call("PUT", path_of("groups", group), body={"name": name}), Group)

    async def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep the rights of their other groups."""
        return await self._sender.fetch(Call("DELETE", path_of("groups", group)), Deleted)

    async def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Create a group with the same members and roles."""
        call = Call("POST", path_of("groups", group, "duplicate"), body=given(name=name), headers=idempotency())
        return await self._sender.fetch(call, Group)

    async def add_users(self, group: Reference, users: References) -> Done:
        """Add users to a group: all of them, or none."""
        return await self._change(group, "service_users", joined(users), "add")

    async def remove_users(self, group: Reference, users: References) -> Done:
        """Remove users from a group: all of them, or none."""
        return await self._change(group, "service_users", joined(users), "remove")

    async def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return await self._change(group, "roles", str(role), "assign")

    async def unassign(self, group: Reference, role: Reference) -> Done:
        """Remove a role from a group."""
        return await self._change(group, "roles", str(role), "unassign")

    async def _change(self, group: Reference, *change: str) -> Done:
        return await self._sender.fetch(Call("PUT", path_of("groups", group, *change), body={}), Done)
