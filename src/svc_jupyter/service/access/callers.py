"""Who makes a call, and all that is known of them: enough to decide what they may do without a query."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc_jupyter.api.access import BuiltinGroup, Resource
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook
from svc_jupyter.service.access.rights import NO_RIGHTS, Rights


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a call comes from, for the audit log."""

    address: str | None
    trace_id: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The user whose token a call carries."""

    user_id: int
    account_id: int
    email: str
    groups: frozenset[str]
    token_id: int
    """0 for what the service does in a user's name without a call of theirs."""
    group_ids: frozenset[int] = frozenset()
    rights: Rights = field(default_factory=lambda: NO_RIGHTS, hash=False, repr=False)
    """What the roles of their groups give."""
    policies: PolicyBook = field(default=NO_POLICIES, hash=False, repr=False)
    """The policies of the account's objects."""
    exceptions: dict[Resource, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """What `listing.readable` has found out, kept for the next call with this token."""
    generation: int = field(default=0, compare=False, repr=False)
    """Which state of users, groups and tokens this was read in (`CallerCache.generation`)."""
    valid_until: float | None = field(default=None, compare=False, repr=False)
    """When the token expires, in Unix seconds; None for one that never does."""
    origin: Origin | None = field(default=None, compare=False, repr=False)
    """None for what the service does by itself."""

    @property
    def is_admin(self) -> bool:
        """Whether the caller is in the group `system-admin`."""
        return BuiltinGroup.ADMIN in self.groups

    @property
    def is_member(self) -> bool:
        """Whether the caller is in the group `system-user`."""
        return BuiltinGroup.USER in self.groups
