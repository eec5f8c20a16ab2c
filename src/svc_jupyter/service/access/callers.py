"""The caller of a request, with all that is needed to decide about permissions without a query."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc_jupyter.api.access import BuiltinGroup, Resource
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook
from svc_jupyter.service.access.rights import NO_RIGHTS, Rights


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a call, for the audit log."""

    address: str | None
    trace_id: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a call's token."""

    user_id: int
    account_id: int
    email: str
    groups: frozenset[str]
    token_id: int
    """0 for work of the service in a user's name without a call."""
    group_ids: frozenset[int] = frozenset()
    rights: Rights = field(default_factory=lambda: NO_RIGHTS, hash=False, repr=False)
    """The permissions of the roles of their groups."""
    policies: PolicyBook = field(default=NO_POLICIES, hash=False, repr=False)
    """The policies of the account's objects."""
    exceptions: dict[Resource, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """Results of `listing.readable`, kept for the next call with this token."""
    generation: int = field(default=0, compare=False, repr=False)
    """The state of users, groups and tokens when this was read (`CallerCache.generation`)."""
    valid_until: float | None = field(default=None, compare=False, repr=False)
    """When the token expires, in Unix seconds; None for one that never does."""
    origin: Origin | None = field(default=None, compare=False, repr=False)
    """None for work of the service itself."""

    @property
    def is_admin(self) -> bool:
        """Whether the caller is in the group `system-admin`."""
        return BuiltinGroup.ADMIN in self.groups

    @property
    def is_member(self) -> bool:
        """Whether the caller is in the group `system-user`."""
        return BuiltinGroup.USER in self.groups
