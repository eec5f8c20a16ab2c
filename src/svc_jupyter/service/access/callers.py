"""Who makes a call."""

from __future__ import annotations

from dataclasses import dataclass

from svc_jupyter.api.access import BuiltinGroup


@dataclass(frozen=True, slots=True)
class Caller:
    """The user whose token a call carries."""

    user_id: int
    account_id: int
    email: str
    groups: frozenset[str]
    token_id: int

    @property
    def is_admin(self) -> bool:
        """Whether the caller is in the group `system-admin`."""
        return BuiltinGroup.ADMIN in self.groups
