"""The parts of this room, built once for the service."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.group_changes import Groups
from svc_jupyter.service.access.object_decisions import Deciding, Explanations
from svc_jupyter.service.access.object_policies import ObjectPolicies
from svc_jupyter.service.access.policy_objects import ByPath, Objects
from svc_jupyter.service.access.role_changes import Roles
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.access.users import Users
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call the service, for which account, and with which permissions."""

    accounts: Accounts
    tokens: Tokens
    users: Users
    groups: Groups
    roles: Roles
    object_policies: ObjectPolicies
    explanations: Explanations

    @classmethod
    def of(
        cls,
        database: Database,
        bus: Bus,
        settings: Settings,
        clock: Callable[[], float] = time.time,
        objects: Objects = MappingProxyType({}),
        deciding: Deciding = MappingProxyType({}),
        by_path: ByPath = MappingProxyType({}),
    ) -> Self:
        """Return the parts over one database; `clock` returns Unix seconds, `objects` can have policies.

        `deciding` has the kinds of objects whose calls need more than the object's own policy, `by_path` the kinds that
        are named by a path.
        """
        tokens = Tokens(database, bus, clock)
        policies = ObjectPolicies(database, tokens, objects, clock, by_path)
        return cls(
            accounts=Accounts(database, settings),
            tokens=tokens,
            users=Users(database, tokens, clock),
            groups=Groups(database, tokens, clock),
            roles=Roles(database, tokens),
            object_policies=policies,
            explanations=Explanations(database, tokens, policies, deciding),
        )
