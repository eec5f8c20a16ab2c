"""A service in this process with one cluster, whose daemons do nothing but sleep."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import psutil
import pytest
import sqlalchemy as sa
from tests.conftest import end_commands_of
from tests.service.clusters.world import NewWorld, World

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import groups, memberships, users


@pytest.fixture
async def new_world(settings: Settings, database: Database, account_id: int) -> AsyncIterator[NewWorld]:
    """Makes services over one database; they are stopped afterwards, and what they left running is ended."""
    worlds: list[World] = []

    def new_world(**changes: object) -> World:
        quick = {"kill_grace_seconds": 0.5, "lease_seconds": 1.0}
        world = World.of(settings.model_copy(update={**quick, **changes}), database, account_id)
        worlds.append(world)
        return world

    yield new_world
    for world in worlds:
        await world.stop()
    end_commands_of(settings.data_dir)
    end_daemons_of(settings)


@pytest.fixture
async def world(new_world: NewWorld) -> World:
    """A running service."""
    world: World = new_world()
    await world.start()
    return world


@pytest.fixture
def user_id(database: Database, account_id: int) -> int:
    """A member of `system-user`."""
    user = {"account_id": account_id, "email": "ann@example.com", "name": "ann", "enabled": True, "created_at": 0.0}
    with database.begin() as connection:
        user_id = int(connection.execute(sa.insert(users).values(user).returning(users.c.id)).scalar_one())
        group = sa.select(groups.c.id).where(groups.c.name == BuiltinGroup.USER.value).scalar_subquery()
        connection.execute(sa.insert(memberships).values(group_id=group, user_id=user_id))
    return user_id


def end_daemons_of(settings: Settings) -> None:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(INSTANCE_MARK, "").startswith(str(settings.data_dir)):
                process.kill()
