"""The account's S3 store for daemons that open it: their access at the start, and whether it has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.lock import locked
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.s3.access import S3Access, s3_access
from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.storage.storage import Storage

S3_CLIENT: Final = "hadoop-s3"
"""The lock's name of Hadoop's S3 client: jars in addition to the engines."""


async def s3_jars(engines: Engines, say: Say) -> tuple[Path, ...]:
    """Return the jars of Hadoop's S3 client, installed when missing, with progress to `say`. Raises `EngineFailure`."""
    lock = locked(S3_CLIENT)
    await engines.installation.install(lock, say)
    return engines.installation.jars(lock)


@dataclass(frozen=True, slots=True)
class StoreClient:
    """The access to the store, and the client's jars; both empty without an S3 store."""

    access: S3Access = field(default_factory=S3Access)
    jars: tuple[Path, ...] = ()


class Store(Protocol):
    """The account's store, as the manager of a daemon needs it."""

    async def access(self) -> S3Access:
        """Return the current access."""
        ...

    async def client(self, say: Say) -> StoreClient:
        """Return what a program needs to open it; installs missing jars. Raises `EngineFailure`."""
        ...


class NoStore:
    """An account whose storage is a folder."""

    async def access(self) -> S3Access:
        """Return nothing."""
        return S3Access()

    async def client(self, say: Say) -> StoreClient:  # noqa: ARG002
        """Return nothing."""
        return StoreClient()


class AccountStore:
    """The store of the service's account; see `Store`."""

    def __init__(self, storage: Storage, database: Database, engines: Engines) -> None:
        self._storage = storage
        self._database = database
        self._engines = engines

    async def access(self) -> S3Access:
        """Return the current access."""
        account_id = await self._database.read(
            lambda connection: connection.execute(sa.select(sa.func.min(accounts.c.id))).scalar_one()
        )
        return s3_access(await self._storage.of(account_id))

    async def client(self, say: Say) -> StoreClient:
        """Return what a program needs to open it; installs missing jars. Raises `EngineFailure`."""
        access = await self.access()
        return StoreClient(access, await s3_jars(self._engines, say) if access.is_needed else ())
