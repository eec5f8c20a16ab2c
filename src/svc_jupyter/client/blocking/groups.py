"""The account's groups."""
# Made from asynchronous/groups.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.groups import Done, Group, GroupList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.groups import GroupFlows, Reference, References
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


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
        pages: Pages[Group] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.groups, listing.paging_info)

    def get(self, group: Reference) -> Group:
        """Return a group; NotFound when there is none."""
        return self._performer.run(self._flows.get(group))

    def create(self, name: str, *, members: References = (), roles: References = ()) -> Group:
        """Make a group with members of the account and roles."""
        return self._performer.run(self._flows.create(name, members, roles))

    def rename(self, group: Reference, name: str) -> Group:
        """Give a group another name."""
        return self._performer.run(self._flows.rename(group, name))

    def delete(self, group: Reference) -> Deleted:
        """Delete a group; its members keep what other groups give them."""
        return self._performer.run(self._flows.delete(group))

    def duplicate(self, group: Reference, *, name: str | None = None) -> Group:
        """Make a group with the same members and roles."""
        return self._performer.run(self._flows.duplicate(group, name))

    def add_users(self, group: Reference, users: References) -> Done:
        """Add members of the account to a group: all of them, or nobody."""
        return self._performer.run(self._flows.users(group, users, "add"))

    def remove_users(self, group: Reference, users: References) -> Done:
        """Take users out of a group: all of them, or nobody."""
        return self._performer.run(self._flows.users(group, users, "remove"))

    def assign(self, group: Reference, role: Reference) -> Done:
        """Give a group a role."""
        return self._performer.run(self._flows.role(group, role, "assign"))

    def unassign(self, group: Reference, role: Reference) -> Done:
        """Take a role from a group."""
        return self._performer.run(self._flows.role(group, role, "unassign"))
