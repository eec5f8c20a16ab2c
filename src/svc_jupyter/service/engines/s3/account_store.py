"""The account's S3 store for daemons that open it: what they are given at their start, and whether it has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from svc_jupyter.service.access.tables import accounts
from svc_jupyter.service.database import Database
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.progress import Say
from svc_jupyter.service.engines.s3.access import S3Access, s3_access
from svc_jupyter.service.engines.s3.jars import s3_jars
from svc_jupyter.service.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class StoreClient:
    """What opens the store, and the client's jars; nothing of both where there is no S3 store."""

    access: S3Access = field(default_factory=S3Access)
    jars: tuple[Path, ...] = ()


class Store(Protocol):
    """The account's store, as a daemon's keeper asks for it."""

    async def access(self) -> S3Access:
        """Return what opens it now."""
        ...

    async def client(self, say: Say) -> StoreClient:
        """Return what a program needs to open it; jars are installed when missing. Raises `EngineFailure`."""
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
        """Return what opens it now."""
        account_id = await self._database.read(
            lambda connection: connection.execute(sa.select(sa.func.min(accounts.c.id))).scalar_one()
        )
        return s3_access(await self._storage.of(account_id))

    async def client(self, say: Say) -> StoreClient:
        """Return what a program needs to open it; jars are installed when missing. Raises `EngineFailure`."""
        access = await self.access()
        return StoreClient(access, await s3_jars(self._engines, say) if access.is_needed else ())
