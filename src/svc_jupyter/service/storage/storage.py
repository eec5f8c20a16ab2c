"""The account's storage, and everything that is read from a location: scripts, files, archives, queries."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from svc_jupyter.api.account import Storage as StorageRecord
from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.storage import archives, credentials, downloads
from svc_jupyter.service.storage.account_storage import AccountStorage, resolve_under
from svc_jupyter.service.storage.credentials import Credentials
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location
from svc_jupyter.service.storage.presence import Search
from svc_jupyter.service.storage.room import Room

Result = TypeVar("Result")
_THREADS = 8
"""Limit of concurrent transfers and unpackings; further ones wait."""
_LOOK_UP_THREADS = 16
"""Separate threads: a store that does not answer look-ups must not block transfers."""
_LOOK_UPS_AT_ONCE = 4
"""Limit per call, so that other calls can proceed."""
_STOP_SECONDS = 2.0


class Storage:
    """Reads locations with the account's stored credentials. Close it with `close`."""

    def __init__(self, settings: Settings, database: Database, secrets: SecretBox) -> None:
        self._settings = settings
        self._credentials = Credentials(settings, database, secrets)
        self._database = database
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="storage")
        self._look_ups = ThreadPoolExecutor(_LOOK_UP_THREADS, thread_name_prefix="storage-look-up")

    def close(self) -> None:
        """Release the worker threads; call it when nothing is being read any more."""
        for threads in (self._threads, self._look_ups):
            threads.shutdown(wait=False, cancel_futures=True)

    def show(self, account_id: int) -> StorageRecord:
        """Return the location of the account's data; secrets are `<hidden>`."""
        return credentials.shown(self._credentials.of(account_id))

    def replace(self, update: StorageUpdate, *, by: Caller) -> StorageRecord:
        """Store the location and the credentials of the caller's account.

        Omitted values are cleared, but a secret given as `<hidden>` stays unchanged. Raises `Invalid` for inconsistent
        values, and `Forbidden` without `system-admin`.
        """
        require(by, Action.UPDATE, Resource.ACCOUNT)
        return credentials.shown(self._credentials.replace(update, by))

    async def of(self, account_id: int) -> AccountStorage:
        """Return an account's storage with its credentials, for a program that reads it directly."""
        return await self._account(account_id)

    async def locate(self, account_id: int, text: str) -> Location:
        """Return the account's location in `text`; reads nothing.

        Raises `Invalid` when it is malformed or outside the folders that the service may read.
        """
        location = parse_location(text, base=await self._base(account_id))
        if location.scheme is Scheme.FILE:
            await asyncio.to_thread(resolve_under, Path(location.path), self._settings.allowed_file_roots)
        return location

    async def fetch(self, account_id: int, location: Location, target: Path) -> int:
        """Write the contents of `location` to the new file `target`; return its size in bytes.

        Raises `StorageFailure`, which names the location and says what to do. `target` stays only when it is complete.
        """
        account = await self._account(account_id)
        room = self._room(str(location), self._settings.max_fetched_bytes, target.parent)
        roots = self._settings.allowed_file_roots
        return await self._in_thread(partial(downloads.download, location, account, roots, target, room), room.stop)

    async def read_text(self, account_id: int, text: str, limit: int) -> str:
        """Return the UTF-8 text at the location in `text`, of at most `limit` bytes.

        Raises `Invalid` for a malformed location and `StorageFailure` for what cannot be read.
        """
        location = await self.locate(account_id, text)
        account = await self._account(account_id)
        room = self._room(str(location), limit, self._settings.data_dir)
        roots = self._settings.allowed_file_roots
        data = await self._in_thread(partial(downloads.read_bytes, location, account, roots, room), room.stop)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise StorageFailure(f"{location} is not UTF-8 text (byte {error.start})", may_retry=False) from error

    async def existing(self, account_id: int, texts: Collection[str], *, or_folders: bool) -> set[str]:
        """Return the locations with an existing file or, with `or_folders`, a folder that is not empty.

        Raises as `read_text` does when it cannot check one of them.
        """
        account = await self._account(account_id)
        roots = self._settings.allowed_file_roots

        def plan() -> tuple[dict[str, Location], Search]:
            located = {text: parse_location(text, base=account.base) for text in texts}
            return located, Search(located.values(), account, roots, or_folders=or_folders)

        located, search = await asyncio.to_thread(plan)
        workers = min(search.pieces, _LOOK_UPS_AT_ONCE)
        await asyncio.gather(*(self._in_thread(search.work, search.stop, self._look_ups) for _ in range(workers)))
        return {text for text, location in located.items() if location in search.found}

    async def unpack(self, archive: Path, folder: Path) -> Room:
        """Unpack `archive` into the new `folder`; return the budget that it used. Raises `StorageFailure`."""
        room = Room(
            folder.parent,
            what=archive.name,
            max_bytes=self._settings.max_unpacked_bytes,
            min_free_bytes=self._settings.min_free_disk_bytes,
            max_entries=self._settings.max_unpacked_files,
        )
        await self._in_thread(partial(archives.unpack, archive, folder, room), room.stop)
        return room

    async def _base(self, account_id: int) -> Location:
        return (await self._account(account_id)).base

    async def _account(self, account_id: int) -> AccountStorage:
        return await self._database.read(partial(self._credentials.read, account_id))

    def _room(self, what: str, max_bytes: int, folder: Path) -> Room:
        return Room(folder, what=what, max_bytes=max_bytes, min_free_bytes=self._settings.min_free_disk_bytes)

    async def _in_thread(
        self, work: Callable[[], Result], stop: threading.Event, threads: ThreadPoolExecutor | None = None
    ) -> Result:
        """Run blocking work in a thread; a cancellation signals the work and gives it a moment to clean up."""
        future = asyncio.get_running_loop().run_in_executor(threads or self._threads, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            await asyncio.wait({future}, timeout=_STOP_SECONDS)
            raise
