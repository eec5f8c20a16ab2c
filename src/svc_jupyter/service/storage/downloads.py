"""Bytes of a location, from this machine's files, an object store or a web server, in chunks: memory stays constant.

All functions block; `storage.py` runs them in worker threads. Web servers are read directly rather than through the
object store client, which rejects answers without a Content-Length.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from svc_jupyter.service.storage.account_storage import AccountStorage, resolve_under
from svc_jupyter.service.storage.failures import StorageFailure, file_failure
from svc_jupyter.service.storage.locations import Location, Scheme
from svc_jupyter.service.storage.object_stores import client_faults, object_store
from svc_jupyter.service.storage.room import Room, Stopped
from svc_jupyter.service.storage.web import TransientFailure, web_source

CHUNK_BYTES = 1 << 20
_ATTEMPTS = 3
_FIRST_DELAY_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Source:
    """An opened location: its chunks, and its size in bytes if the store reports it."""

    chunks: Iterable[bytes]
    size: int | None


def download(location: Location, account: AccountStorage, roots: Iterable[Path], target: Path, room: Room) -> int:
    """Write the contents of `location` to the new file `target` and return its size in bytes.

    Raises `StorageFailure`, and `Stopped` when the work is cancelled; `target` is removed then.
    """
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:

            def write(chunk: bytes) -> None:
                view = memoryview(chunk)
                while view:
                    view = view[file.write(view) :]

            def begin() -> None:
                file.seek(0)
                file.truncate()

            return _transfer(location, account, roots, room, begin=begin, write=write)
    except OSError as error:
        _remove(target)
        raise StorageFailure(f"{location} could not be written to the service's disk: {error.strerror}") from error
    except BaseException:
        _remove(target)
        raise


def read_bytes(location: Location, account: AccountStorage, roots: Iterable[Path], room: Room) -> bytes:
    """Return the contents of `location`, at most what `room` allows. Raises as `download` does."""
    data = bytearray()
    _transfer(location, account, roots, room, begin=data.clear, write=data.extend)
    return bytes(data)


def _transfer(
    location: Location,
    account: AccountStorage,
    roots: Iterable[Path],
    room: Room,
    *,
    begin: Callable[[], None],
    write: Callable[[bytes], object],
) -> int:
    """Copy once, and again from the start after a web server broke off."""
    delay = _FIRST_DELAY_SECONDS
    for attempts_left in reversed(range(_ATTEMPTS)):
        begin()
        before = room.used_bytes
        try:
            with _opened(location, account, roots) as source:
                if source.size is not None:
                    room.expect(source.size)
                for chunk in source.chunks:
                    room.take(len(chunk))
                    write(chunk)
            return room.used_bytes - before
        except TransientFailure:
            if not attempts_left:
                raise
        room.used_bytes = before
        if room.stop.wait(delay):
            raise Stopped
        delay *= 4
    raise AssertionError("the last attempt returns or raises")


def _opened(location: Location, account: AccountStorage, roots: Iterable[Path]) -> AbstractContextManager[Source]:
    if location.is_http:
        return _web(location, account)
    if location.scheme is Scheme.FILE:
        return _file(location, roots)
    return _object(location, account)


@contextmanager
def _web(location: Location, account: AccountStorage) -> Iterator[Source]:
    with web_source(location, account, CHUNK_BYTES) as (chunks, size):
        yield Source(chunks, size)


@contextmanager
def _file(location: Location, roots: Iterable[Path]) -> Iterator[Source]:
    path = resolve_under(Path(location.path), roots)
    try:
        # Non-blocking: opening a pipe must not wait for its writer. The last part cannot have become a link meanwhile.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise file_failure(location, error) from error
    if not _is_opened(descriptor, path):
        os.close(descriptor)
        raise StorageFailure(f"{location} was moved or replaced while it was opened", may_retry=False)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise StorageFailure(f"{location} is {kind}", may_retry=False)
    with os.fdopen(descriptor, "rb", buffering=0) as file:

        def chunks() -> Iterator[bytes]:
            try:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
            except OSError as error:
                raise file_failure(location, error) from error

        yield Source(chunks(), status.st_size)


@contextmanager
def _object(location: Location, account: AccountStorage) -> Iterator[Source]:
    import obstore

    store = object_store(location, account)
    with client_faults(location, account):
        result = obstore.get(store, location.key)

    def chunks() -> Iterator[bytes]:
        stream = iter(result.stream(min_chunk_size=CHUNK_BYTES))
        while True:
            with client_faults(location, account):
                chunk = next(stream, b"")
            if not chunk:
                return
            yield chunk

    yield Source(chunks(), result.meta["size"])


def _remove(file: Path) -> None:
    with suppress(FileNotFoundError):
        file.unlink()


def _is_opened(descriptor: int, path: Path) -> bool:
    """Return whether a descriptor is the file at this path: a folder on the way may have become a link after its check.

    Always true where the system does not tell (without /proc).
    """
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == str(path)
    except OSError:
        return True
