"""Users to call with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
import sqlalchemy as sa
from tests.service.access.route_world import World, opened_world

from svc_jupyter.api.access import Invitation, TokenCreate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users

NOON = 1_900_000_000.0


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bus(database: Database) -> Bus:
    return Bus(database)


@pytest.fixture
def access(database: Database, bus: Bus, settings: Settings, clock: Clock, account_id: int) -> Access:
    return Access.of(database, bus, settings, clock)


@pytest.fixture
def admin_token(access: Access) -> str:
    """A token of the first administrator."""
    return access.tokens.ensure_service_token(None)


@pytest.fixture
async def admin(access: Access, admin_token: str) -> Caller:
    """The first administrator."""
    return await access.tokens.caller(admin_token)


@pytest.fixture
def invite(access: Access, admin: Caller) -> Callable[..., tuple[int, str]]:
    """Invites a user and returns their id and a token of theirs."""

    def invite(email: str, groups: str | None = None) -> tuple[int, str]:
        user = access.users.invite(Invitation(invitee_email=email, groups=groups), by=admin)
        return user.id, access.tokens.create(user.id, TokenCreate(name="laptop"), by=admin).token

    return invite


@pytest.fixture
def member_token(invite: Callable[..., tuple[int, str]]) -> str:
    """A token of a member of `system-user`."""
    return invite("member@example.org")[1]


@pytest.fixture
async def member(access: Access, member_token: str) -> Caller:
    """A member of `system-user`."""
    return await access.tokens.caller(member_token)


@pytest.fixture
def stranger_token(database: Database, access: Access, invite: Callable[..., tuple[int, str]]) -> str:
    """A token of a user in no group."""
    user_id, token = invite("stranger@example.org")
    with access.tokens.changing_access() as connection:
        connection.execute(sa.text("DELETE FROM memberships WHERE user_id = :id"), {"id": user_id})
        assert connection.execute(sa.select(users.c.id).where(users.c.id == user_id)).first() is not None
    return token


@pytest.fixture
async def world(settings: Settings) -> AsyncIterator[World]:
    """A service in this process with a caller of each kind."""
    async with opened_world(settings) as world:
        yield world
