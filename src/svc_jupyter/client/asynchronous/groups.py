"""The account's groups."""

from __future__ import annotations

from collections.abc import AsyncIterator
from operator import attrgetter

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.groups import GroupFlows, Reference, References
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class AsyncGroups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = GroupFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        return await self._performer.run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[Group]:
        """Yield all groups, newest first."""
        pages: Pages[Group] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for group in pages.take(listing.groups, listing.paging_info):
                yield group

    async def get(self, group: Reference) -> Group:
        """Return a group; NotFound when there is none."""
        return await self._performer.run(self._flows.get(group))

    async def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Make a group with members of the account and roles."""
        return await self._performer.run(self._flows.create(name, members, roles))

    async def rename(self, group: Reference, name: str) -> Group:
        """Give a group another name."""
        return await self._performer.run(self._flows.rename(group, name))

    async def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep what other groups give them."""
        return await self._performer.run(self._flows.delete(group))

    async def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Make a group with the same members and roles."""
        return await self._performer.run(self._flows.duplicate(group, name))

    async def add_users(self, group: Reference, users: References) -> Done:
        """Add members of the account to a group: all of them, or nobody."""
        return await self._performer.run(self._flows.users(group, users, "add"))

    async def remove_users(self, group: Reference, users: References) -> Done:
        """Take users out of a group: all of them, or nobody."""
        return await self._performer.run(self._flows.users(group, users, "remove"))

    async def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return await self._performer.run(self._flows.role(group, role, "assign"))

    async def unassign(self, group: Reference, role: Reference) -> Done:
        """Take a role from a group."""
        return await self._performer.run(self._flows.role(group, role, "unassign"))
