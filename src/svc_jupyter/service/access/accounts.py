"""The account: its creation and its features."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.account import Account, Features, FeaturesUpdate
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.isolation.isolation import Isolation
from svc_jupyter.service.schema.access import accounts, groups, memberships, users
from svc_jupyter.service.schema.storage import account_storage

ACCOUNT_ID = 1
"""A service has one account."""
FIRST_ADMINISTRATOR = "admin@localhost"


def ensure_account(connection: sa.Connection, settings: Settings) -> int:
    """Create what is missing of the account, its groups and its first administrator; return the account's id.

    Call it in a write transaction at every start: it changes nothing that exists, and replicas that start together wait
    for the first. In the embedded service, features without a setting are on.
    """
    connection.execute(
        conflict_insert(connection, accounts)
        .values(id=ACCOUNT_ID, name="default", features={})
        .on_conflict_do_nothing()
    )
    decided = lock_account(connection, ACCOUNT_ID)
    if settings.embedded:
        undecided = Features.model_fields.keys() - decided.keys()
        if undecided:
            _store_features(connection, ACCOUNT_ID, decided | dict.fromkeys(undecided, True))
    _ensure_groups(connection)
    _ensure_administrator(connection)
    return ACCOUNT_ID


def lock_account(connection: sa.Connection, account_id: int) -> dict[str, Any]:
    """Lock the account until the end of the transaction; return the features that are set."""
    features = connection.execute(
        sa.select(accounts.c.features).where(accounts.c.id == account_id).with_for_update()
    ).scalar_one()
    return dict(features)


class Accounts:
    """The account's record and features."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    def account(self, caller: Caller) -> Account:
        """Return the caller's account."""
        with self._database.connect() as connection:
            row = connection.execute(
                sa.select(accounts.c.name, accounts.c.features, account_storage.c.url)
                .outerjoin(account_storage, account_storage.c.account_id == accounts.c.id)
                .where(accounts.c.id == caller.account_id)
            ).one()
        return Account(
            id=caller.account_id,
            name=row.name,
            user_id=caller.user_id,
            email=caller.email,
            groups=sorted(caller.groups),
            features=Features(**row.features),
            storage_url=row.url or f"file://{self._settings.storage_dir.absolute()}",
            concurrent_command_limit=self._settings.running_limit,
            isolation=Isolation.of(self._settings).state,
        )

    def features(self, account_id: int) -> Features:
        """Return the features that are on."""
        with self._database.connect() as connection:
            stored = connection.execute(sa.select(accounts.c.features).where(accounts.c.id == account_id)).scalar_one()
        return Features(**stored)

    def set_features(self, update: FeaturesUpdate, *, by: Caller) -> Features:
        """Switch features on or off and return all of them; those missing in `update` stay unchanged."""
        require(by, Action.UPDATE, Resource.ACCOUNT)
        with self._database.begin() as connection:
            decided = lock_account(connection, by.account_id) | update.model_dump(exclude_none=True)
            _store_features(connection, by.account_id, decided)
            changed = update.model_dump(exclude_none=True)
            trail.record(connection, by, "update", Resource.ACCOUNT, by.account_id, features=changed)
        return Features(**decided)


def _store_features(connection: sa.Connection, account_id: int, features: dict[str, Any]) -> None:
    connection.execute(sa.update(accounts).where(accounts.c.id == account_id).values(features=features))


def _ensure_groups(connection: sa.Connection) -> None:
    there = set(connection.execute(sa.select(groups.c.name).where(groups.c.account_id == ACCOUNT_ID)).scalars())
    for name in BuiltinGroup:
        if name not in there:
            connection.execute(sa.insert(groups).values(account_id=ACCOUNT_ID, name=name.value))


def _ensure_administrator(connection: sa.Connection) -> None:
    if connection.execute(sa.select(users.c.id).where(users.c.account_id == ACCOUNT_ID).limit(1)).first() is not None:
        return
    user_id = connection.execute(
        sa.insert(users)
        .values(
            account_id=ACCOUNT_ID,
            email=FIRST_ADMINISTRATOR,
            name=FIRST_ADMINISTRATOR.partition("@")[0],
            enabled=True,
            created_at=time.time(),
        )
        .returning(users.c.id)
    ).scalar_one()
    administrators = sa.select(groups.c.id, sa.literal(user_id)).where(
        groups.c.account_id == ACCOUNT_ID, groups.c.name == BuiltinGroup.ADMIN.value
    )
    connection.execute(sa.insert(memberships).from_select(["group_id", "user_id"], administrators))
