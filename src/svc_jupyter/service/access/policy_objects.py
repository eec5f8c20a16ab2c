"""The objects that can have a policy, as calls about their policies find them."""

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
"""Where the objects are that have an id from the start, with the columns id, account_id and user_id: who owns it."""


@dataclass(frozen=True, slots=True)
class PolicyObject:
    """An object that is there; what has a path gets its id when its policy is first set."""

    source_type: SourceType
    id: int | None
    owner_id: int | None
    path: str | None = None

    @property
    def source_id(self) -> int | str:
        """What names it in answers: the id, until there is one the path."""
        return self.path or "" if self.id is None else self.id

    @property
    def name(self) -> str:
        """What names it for people."""
        return f"{self.source_type} {self.path or self.id}"


class ObjectsByPath(Protocol):
    """A kind of object that is named by its path, and by its id once it has one."""

    def find(self, connection: sa.Connection, source_id: int | str, by: Caller) -> PolicyObject | None:
        """Return the object with an id or path, None where there is none.

        Raises `Forbidden` for one of which the caller may not even know, `Invalid` for a path that names none.
        """
        ...

    def numbered(self, connection: sa.Connection, found: PolicyObject, by: Caller) -> PolicyObject:
        """Return the object with its id, a new one where it had none. Call it while the account is locked."""
        ...

    def decide(self, caller: Caller, action: Action, found: PolicyObject) -> Decision:
        """Return what a call of `caller` that does `action` to the object would be told."""
        ...


ByPath = Mapping[SourceType, ObjectsByPath]
"""The kinds that have paths."""
