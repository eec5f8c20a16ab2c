"""The account's groups."""
# Made from asynchronous/groups.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.groups import GroupFlows, Reference, References
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Groups:
    """The account's groups, as `client.groups`; groups, roles and users are named by id, name or e-mail address."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = GroupFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10) -> GroupList:
        """Return one page of groups, newest first."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[Group]:
        """Yield all groups, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE), lambda found: (found.groups, found.paging_info)
        )

    def get(self, group: Reference) -> Group:
        """Return a group; raises NotFound for an unknown one."""
        return self._performer.run(self._flows.get(group))

    def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Create a group with members and roles."""
        return self._performer.run(self._flows.create(name, members, roles))

    def rename(self, group: Reference, name: str) -> Group:
        """Rename a group."""
        return self._performer.run(self._flows.rename(group, name))

    def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep the rights of their other groups."""
        return self._performer.run(self._flows.delete(group))

    def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Create a group with the same members and roles."""
        return self._performer.run(self._flows.duplicate(group, name))

    def add_users(self, group: Reference, users: References) -> Done:
        """Add users to a group: all of them, or none."""
        return self._performer.run(self._flows.users(group, users, "add"))

    def remove_users(self, group: Reference, users: References) -> Done:
        """Remove users from a group: all of them, or none."""
        return self._performer.run(self._flows.users(group, users, "remove"))

    def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return self._performer.run(self._flows.role(group, role, "assign"))

    def unassign(self, group: Reference, role: Reference) -> Done:
        """Remove a role from a group."""
        return self._performer.run(self._flows.role(group, role, "unassign"))
