"""Requests to a bucket of an object store: whether a key exists, whether a folder has any, and listings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.failures import NothingThere
from svc_jupyter.service.storage.locations import Location
from svc_jupyter.service.storage.object_stores import LOOK_UP_RETRIES, client_faults, object_store

if TYPE_CHECKING:
    from obstore.store import ObjectStore

LISTED_AT_ONCE = 1000
"""Keys in one answer of a store."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing; `size` in bytes. The marker of a folder has size 0 and its key without the slash."""

    key: str
    size: int


class Bucket:
    """One bucket, safe for several threads. Its client is slow to create, so the first request creates it."""

    def __init__(self, account: AccountStorage) -> None:
        self._account = account
        self._client: ObjectStore | None = None
        self._lock = threading.Lock()

    def has(self, location: Location) -> bool:
        """Return whether an object exists at `location`. Raises `StorageFailure` when the store does not answer."""
        import obstore

        try:
            with client_faults(location, self._account):
                obstore.head(self._client_for(location), location.key)
        except NothingThere:
            return False
        return True

    def has_anything_in(self, location: Location) -> bool:
        """Return whether objects exist under `location`, other than the folder's marker. Raises as `has` does."""
        folder = location.key.rstrip("/")
        return any(listed.key != folder for listed in next(self.listing(location, folder), []))

    def listing(self, location: Location, folder: str, after: str | None = None) -> Iterator[list[Listed]]:
        """Yield the objects in `folder` at any depth, from the key after `after` on, in the order of the keys.

        `location`, one of them, is named in failures.
        """
        import obstore

        with client_faults(location, self._account):
            chunks = iter(
                obstore.list(self._client_for(location), folder or None, offset=after, chunk_size=LISTED_AT_ONCE)
            )
        while True:
            with client_faults(location, self._account):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield [Listed(item["path"], item["size"]) for item in chunk]

    def _client_for(self, location: Location) -> ObjectStore:
        with self._lock:
            if self._client is None:
                self._client = object_store(location, self._account, LOOK_UP_RETRIES)
            return self._client
