"""The account's groups."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.groups import GroupFlows, Reference, References
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncGroups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = GroupFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        return await self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> AsyncIterator[Group]:
        """Yield all groups, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE), lambda found: (found.groups, found.paging_info)
        )

    async def get(self, group: Reference) -> Group:
        """Return a group; raises NotFound for an unknown one."""
        return await self._performer.run(self._flows.get(group))

    async def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Create a group with members and roles."""
        return await self._performer.run(self._flows.create(name, members, roles))

    async def rename(self, group: Reference, name: str) -> Group:
        """Rename a group."""
        return await self._performer.run(self._flows.rename(group, name))

    async def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep the rights of their other groups."""
        return await self._performer.run(self._flows.delete(group))

    async def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Create a group with the same members and roles."""
        return await self._performer.run(self._flows.duplicate(group, name))

    async def add_users(self, group: Reference, users: References) -> Done:
        """Add users to a group: all of them, or none."""
        return await self._performer.run(self._flows.users(group, users, "add"))

    async def remove_users(self, group: Reference, users: References) -> Done:
        """Remove users from a group: all of them, or none."""
        return await self._performer.run(self._flows.users(group, users, "remove"))

    async def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return await self._performer.run(self._flows.role(group, role, "assign"))

    async def unassign(self, group: Reference, role: Reference) -> Done:
        """Remove a role from a group."""
        return await self._performer.run(self._flows.role(group, role, "unassign"))
