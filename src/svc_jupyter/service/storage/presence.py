"""Checks whether objects exist at locations: many at once, with as few requests as the kind of store allows.

All functions block; `storage.py` runs them in worker threads.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.service.storage.account_storage import AccountStorage, resolve_under
from svc_jupyter.service.storage.failures import NothingThere, file_failure
from svc_jupyter.service.storage.locations import Location, Scheme
from svc_jupyter.service.storage.object_stores import LOOK_UP_RETRIES, client_faults, object_store
from svc_jupyter.service.storage.web import web_source

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


_LISTED_FROM = 3
"""Minimum of keys in one folder for a listing instead of a request per key."""
_CHUNKS = 2
"""Limit of answers of a listing: beyond it the folder holds too many other objects."""
_STARTS_ANYWHERE = frozenset({Scheme.S3, Scheme.GS})
"""Stores that can list from a key on; others would list the folder from its beginning."""
_BEHIND_SLASH = "0"
"""The character after `/`: keys that begin with `key0` sort after everything in the folder `key`."""
_WEB_CHUNK = 1 << 12


class Search:
    """Looks up locations in pieces; any number of threads may work on it. `found` holds the existing ones."""

    def __init__(
        self, locations: Iterable[Location], account: AccountStorage, roots: Iterable[Path], *, or_folders: bool
    ) -> None:
        self.found: set[Location] = set()
        self.stop = threading.Event()
        """Set when the rest is no longer needed."""
        self._account = account
        self._roots = list(roots)
        self._or_folders = or_folders
        self._pieces = deque(self._planned(dict.fromkeys(locations)))

    @property
    def pieces(self) -> int:
        """The maximum number of threads that can be busy with it."""
        return len(self._pieces)

    def work(self) -> None:
        """Look up pieces until none is left. Raises `StorageFailure` or `Invalid`; other threads then stop too."""
        try:
            while not self.stop.is_set():
                try:
                    piece = self._pieces.popleft()
                except IndexError:
                    return
                piece()
        except BaseException:
            self.stop.set()
            raise

    def _planned(self, locations: Iterable[Location]) -> list[Callable[[], None]]:
        pieces: list[Callable[[], None]] = []
        buckets: defaultdict[tuple[Location, bool], list[Location]] = defaultdict(list)
        for location in locations:
            if location.scheme is Scheme.FILE:
                pieces.append(partial(self._note, location, self._is_file_there))
            elif location.is_http:
                pieces.append(partial(self._note, location, self._is_url_there))
            else:
                bucket = Location(location.scheme, location.store, "", location.account_name)
                buckets[bucket, self._account.opens(location)].append(location)
        for inside in buckets.values():
            pieces += self._planned_in_bucket(inside)
        return pieces

    def _planned_in_bucket(self, locations: list[Location]) -> list[Callable[[], None]]:
        bucket = Bucket(self._account)
        folders: defaultdict[str, list[Location]] = defaultdict(list)
        ask = partial(self._is_object_there, bucket)
        pieces: list[Callable[[], None]] = []
        for location in locations:
            name = location.key.rstrip("/")
            if name:
                folders[name.rpartition("/")[0]].append(location)
            else:
                pieces.append(partial(self._note, location, ask))
        for folder, inside in folders.items():
            if len(inside) >= _LISTED_FROM and inside[0].scheme in _STARTS_ANYWHERE:
                pieces.append(partial(self._list, bucket, folder, inside))
            else:
                pieces += [partial(self._note, location, ask) for location in inside]
        return pieces

    def _note(self, location: Location, is_there: Callable[[Location], bool]) -> None:
        if is_there(location):
            self.found.add(location)

    def _is_file_there(self, location: Location) -> bool:
        path = resolve_under(Path(location.path), self._roots)
        try:
            mode = path.stat().st_mode
            if not stat.S_ISDIR(mode):
                return stat.S_ISREG(mode) and _may_be_file(location)
            with os.scandir(path) as entries:
                return self._or_folders and next(entries, None) is not None
        except OSError as error:
            failure = file_failure(location, error)
            if isinstance(failure, NothingThere):
                return False
            raise failure from error

    def _is_url_there(self, location: Location) -> bool:
        try:
            with web_source(location, self._account, _WEB_CHUNK):
                return True
        except NothingThere:
            return False

    def _is_object_there(self, bucket: Bucket, location: Location) -> bool:
        if _may_be_file(location) and bucket.has(location):
            return True
        return self._or_folders and bucket.has_anything_in(location)

    def _list(self, bucket: Bucket, folder: str, locations: list[Location]) -> None:
        """Find the keys of one folder in its listing, and look up individually those that it leaves open."""
        named: defaultdict[str, list[Location]] = defaultdict(list)
        for location in locations:
            named[location.key.rstrip("/")].append(location)
        unclear: set[str] = set()
        left = sorted(named)
        chunk: list[Listed] = []
        for chunk in islice(bucket.listing(locations[0], folder, _just_before(left[0])), _CHUNKS):
            for listed in chunk:
                name = _child(listed.key, folder)
                if name == listed.key and not listed.size:
                    unclear.add(name)  # an empty file, or the marker of a folder
                else:
                    self._note_all(named.get(name, []), is_file=name == listed.key)
            left = [name for name in left if name + _BEHIND_SLASH > chunk[-1].key]
            if not left or self.stop.is_set():
                break
        if len(chunk) == LISTED_AT_ONCE:
            unclear.update(left)
        for location in [location for name in unclear & named.keys() for location in named[name]]:
            if self.stop.is_set():
                return
            self._note(location, partial(self._is_object_there, bucket))

    def _note_all(self, locations: Iterable[Location], *, is_file: bool) -> None:
        for location in locations:
            if _may_be_file(location) if is_file else self._or_folders:
                self.found.add(location)


def _may_be_file(location: Location) -> bool:
    return bool(location.key) and not location.key.endswith("/")


def _child(key: str, folder: str) -> str:
    """Return the prefix of the key that names a direct child of `folder`."""
    start = len(folder) + 1 if folder else 0
    return key[: start + len(key[start:].partition("/")[0])]


def _just_before(key: str) -> str:
    """Return a text that sorts shortly before `key`."""
    return key[:-1] + chr(ord(key[-1]) - 1) if key[-1].isascii() else key[:-1]
