"""The objects that can have a policy, and how calls about policies find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import sqlalchemy as sa

from svc_jupyter.api.access import Action
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Decision

Objects = Mapping[SourceType, sa.FromClause]
"""The tables of objects with an id, with the columns id, account_id and user_id (the owner)."""


@dataclass(frozen=True, slots=True)
class PolicyObject:
    """An existing object; one with a path gets its id when its policy is first set."""

    source_type: SourceType
    id: int | None
    owner_id: int | None
    path: str | None = None

    @property
    def source_id(self) -> int | str:
        """Its reference in answers: the id, or the path while it has no id."""
        return self.path or "" if self.id is None else self.id

    @property
    def name(self) -> str:
        """Its name for users."""
        return f"{self.source_type} {self.path or self.id}"


class ObjectsByPath(Protocol):
    """A kind of object with a path, which gets an id with its first policy."""

    def find(self, connection: sa.Connection, source_id: int | str, by: Caller) -> PolicyObject | None:
        """Return the object with an id or path, None where there is none.

        Raises `Forbidden` for one whose existence is hidden from the caller, `Invalid` for a path of no object.
        """
        ...

    def numbered(self, connection: sa.Connection, found: PolicyObject, by: Caller) -> PolicyObject:
        """Return the object with its id, a new one if it had none. Call it while the account is locked."""
        ...

    def decide(self, caller: Caller, action: Action, found: PolicyObject) -> Decision:
        """Return the decision about a call of `caller` that does `action` to the object."""
        ...


ByPath = Mapping[SourceType, ObjectsByPath]
"""The kinds that have paths."""
