"""The account's roles: the permissions of the groups that have them."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Role, RoleList
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.groups import Reference
from svc_jupyter.client.conversations.roles import Policies, RoleFlows
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncRoles:
    """The account's roles, as `client.roles`; a role is named by its id or name."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = RoleFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> RoleList:
        """Return one page of roles, newest first."""
        return await self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> AsyncIterator[Role]:
        """Yield all roles, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE), lambda found: (found.roles, found.paging_info)
        )

    async def get(self, role: Reference) -> Role:
        """Return a role; raises NotFound for an unknown one."""
        return await self._performer.run(self._flows.get(role))

    async def create(self, name: str, policies: Policies) -> Role:
        """Create a role from entries such as `{"access": "allow", "resource": "scheduler", "action": ["read"]}`."""
        return await self._performer.run(self._flows.create(name, policies))

    async def update(self, role: Reference, *, name: str | None = None, policies: Policies | None = None) -> Role:
        """Change the given attributes, for all groups that have the role."""
        return await self._performer.run(self._flows.update(role, name, policies))

    async def delete(self, role: Reference) -> Deleted:
        """Delete a role, also for the groups that have it."""
        return await self._performer.run(self._flows.delete(role))

    async def duplicate(self, role: Reference, *, name: str | None = None) -> Role:
        """Create a role with the same permissions."""
        return await self._performer.run(self._flows.duplicate(role, name))
