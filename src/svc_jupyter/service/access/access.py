"""The room's parts, put together once for the service."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from svc_jupyter.service.access.accounts import Accounts
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.access.users import Users
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.database import Database
from svc_jupyter.service.settings import Settings


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call the service, and for which account."""

    accounts: Accounts
    tokens: Tokens
    users: Users

    @classmethod
    def of(cls, database: Database, bus: Bus, settings: Settings, clock: Callable[[], float] = time.time) -> Self:
        """Return the room's parts over one database; `clock` returns Unix seconds."""
        tokens = Tokens(database, bus, clock)
        return cls(accounts=Accounts(database, settings), tokens=tokens, users=Users(database, tokens, clock))
