"""The account's Hive metastore: started on demand, one for all users."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import structlog

from svc_jupyter.service.clusters.supervision import Deaths
from svc_jupyter.service.ground.errors import Unavailable, translated
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.failures import EngineFailure
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.installs.store import file_lock
from svc_jupyter.service.runtimes.metastore.database import DERBY, MetastoreDatabase, of_postgresql, starting_alone
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.process import START_SECONDS, MetastoreAddress, MetastoreProcess
from svc_jupyter.service.runtimes.s3.account_store import NoStore, Store, StoreClient

STARTING = "starting the Hive metastore"
_INSTALL_PATIENCE_SECONDS = 1.0
"""How long a request waits for an installation: its sender should soon learn that it takes longer."""
_FAILURE_SECONDS = 5.0
"""How long a failed start answers further ones."""
_LOOK_EVERY = 1.0
_RETIRE_SECONDS = 2.0
_DRIVER_SUFFIX = "+psycopg"
log = structlog.get_logger(__name__)


class Metastore:
    """Starts the metastore on demand, supervises it, and ends it with the last service of the folder."""

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        store: Store = NoStore(),  # noqa: B008  it holds nothing
    ) -> None:
        """`environment` is the service's own; `store` the account's, which may hold tables."""
        self._store = store
        self.process = MetastoreProcess(settings, environment)
        self._engines = engines
        self._clock = clock
        self._url = None if settings.on_sqlite else settings.sqlalchemy_url.replace(_DRIVER_SUFFIX, "", 1)
        self._address: MetastoreAddress | None = None
        self._bringing: asyncio.Task[MetastoreAddress] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._listeners: set[Say] = set()
        self._said = STARTING
        self._failure: tuple[float, MetastoreFailure] | None = None
        self._users: int | None = None
        self._is_closed = False
        self._renewing = asyncio.Lock()

    @property
    def warehouse(self) -> str:
        """The URI of the folder that holds the tables' files."""
        return self.process.warehouse

    @property
    def address(self) -> MetastoreAddress | None:
        """The metastore's address, as far as is known; None before its first use, or while it starts."""
        return self._address

    @property
    def is_wanted(self) -> bool:
        """Whether it was needed since this service started."""
        return self._users is not None or self._bringing is not None

    async def start(self) -> None:
        """Find a metastore that an earlier service has left running or starting; never start one."""
        self.process.keep()
        address = await asyncio.to_thread(self.process.address)
        if address is not None:
            self._settle(address)
        elif await asyncio.to_thread(self.process.is_running):
            self._use()

    async def ensure(self, say: Say) -> MetastoreAddress:
        """Return the metastore's address; install and start it if necessary, with progress to `say`.

        Raises `MetastoreFailure`. A cancellation ends only the wait; the start continues for other callers.
        """
        address = self._address
        if address is not None and not await self._ended_as_outdated(say):
            return address
        bringing = self._begin()
        self._listeners.add(say)
        say(self._said)
        try:
            return await asyncio.shield(bringing)
        finally:
            self._listeners.discard(say)

    async def reach(self) -> MetastoreAddress:
        """Return the metastore's address for a request: waits for a start, not for an installation.

        Raises `Unavailable` with the current step or the reason of the failure.
        """
        if self._address is not None:
            return self._address
        try:
            is_there = self._engines.installed(Engine.HIVE_METASTORE) is not None
            async with asyncio.timeout(START_SECONDS if is_there else _INSTALL_PATIENCE_SECONDS):
                return await self.ensure(lambda _line: None)
        except TimeoutError:
            raise _later(f"{self._said}; try again in a moment", 5) from None
        except (EngineFailure, MetastoreFailure) as error:
            raise _later(error.message, 30) from error

    async def look_after(self) -> None:
        """Check the process after a report that it does not answer."""
        if not await asyncio.to_thread(self.process.is_running):
            self._address = None

    async def stop(self) -> None:
        """End it with the last service that uses it; with clients connected it stays until the last one leaves."""
        self._is_closed = True
        tasks = [task for task in (self._watching, self._bringing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # their callers received their exceptions
        if self._users is not None:
            if _upgrade(self._users) and await asyncio.to_thread(self.process.is_running):
                await self._end()
            os.close(self._users)
            self._users = None
        self._address = None

    async def _end(self) -> None:
        """End the process that no other service uses: at once while it starts, or else once no client is connected."""
        if await asyncio.to_thread(self.process.address) is None:
            await self.process.end()
        elif not await self.process.retire(_RETIRE_SECONDS):
            log.info("metastore_stays", reason="somebody is connected to it; it ends when nobody is")

    async def _ended_as_outdated(self, say: Say) -> bool:
        """End the process if the account's storage has changed since its start; return whether it was ended."""
        async with self._renewing:
            access = await self._store.access()
            if self._address is None:  # another caller has just ended it
                return True
            if await asyncio.to_thread(self.process.opens, access):
                return False
            say("the account's storage has changed: starting the Hive metastore again")
            self._address = None
            await self.process.end()
            return True

    def _begin(self) -> asyncio.Task[MetastoreAddress]:
        if self._is_closed:
            raise MetastoreFailure("the service is stopping")
        if self._failure is not None and self._clock() - self._failure[0] < _FAILURE_SECONDS:
            raise self._failure[1]
        if self._bringing is None or self._bringing.done():
            self._said = STARTING
            self._bringing = asyncio.create_task(self._bring(), name="hive metastore")
            self._bringing.add_done_callback(self._note)
        return self._bringing

    async def _bring(self) -> MetastoreAddress:
        with translated(EngineFailure, to=MetastoreFailure, about="the Hive metastore cannot be installed"):
            installed = await self._engines.ensure(Engine.HIVE_METASTORE, self._report)
            java = await self._engines.java(self._report)
            store = await self._store.client(self._report)
        self._report(STARTING)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(file_lock(self.process.folder / "start.lock"))
            self.process.keep()
            self._use()  # before the process exists: a service that ends from now on ends it as well
            if not await asyncio.to_thread(self.process.is_running):
                if self._url is not None:
                    await stack.enter_async_context(starting_alone(self._url))
                await self._spawn(installed, java.java, store)
            address = await self.process.ready()
        self._settle(address)
        return address

    async def _spawn(self, installed: Installed, java: Path, store: StoreClient) -> None:
        """Start the process; a cancellation waits until it exists, so that it can be ended."""
        spawning = asyncio.ensure_future(
            asyncio.to_thread(self.process.spawn, installed, java, self._database(), store)
        )
        try:
            await asyncio.shield(spawning)
        except asyncio.CancelledError:
            with suppress(MetastoreFailure):
                await spawning
            raise

    def _database(self) -> MetastoreDatabase:
        return DERBY if self._url is None else of_postgresql(self._url)

    def _note(self, bringing: asyncio.Task[MetastoreAddress]) -> None:
        """Record the outcome of a start, even if no caller waits for it any more."""
        if bringing.cancelled():
            return
        error = bringing.exception()
        self._failure = (self._clock(), error) if isinstance(error, MetastoreFailure) else None
        if error is not None:
            log.warning("metastore_not_started", reason=str(error))

    def _report(self, line: str) -> None:
        self._said = line
        for say in tuple(self._listeners):
            say(line)

    def _settle(self, address: MetastoreAddress) -> None:
        self._use()
        self._address = address
        self._failure = None
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="hive metastore watch")

    def _use(self) -> None:
        """Count as one of the services that use it, for the lifetime of this process."""
        if self._users is None:
            self.process.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._users = os.open(self.process.folder / "users.lock", flags, 0o600)
            fcntl.flock(self._users, fcntl.LOCK_SH)

    async def _watch(self) -> None:
        """Restart it when it has died: clients reconnect to the same port."""
        deaths = Deaths()
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if await asyncio.to_thread(self.process.is_running):
                self.process.bound_outputs()
                continue
            self._address = None
            now = self._clock()
            if not deaths.may_restart(now):
                continue
            deaths.note(now)
            log.warning("metastore_died", log_file=str(self.process.log_file), is_troubled=deaths.is_troubled(now))
            with suppress(MetastoreFailure):
                await asyncio.shield(self._begin())


def _upgrade(descriptor: int) -> bool:
    """Return whether no other service holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _later(message: str, seconds: int) -> Unavailable:
    error = Unavailable(message)
    error.retry_after = seconds
    return error
