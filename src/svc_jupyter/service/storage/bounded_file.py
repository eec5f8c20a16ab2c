"""A file for archive readers that limits single reads and the total read."""

from __future__ import annotations

import io
import os
from typing import IO

from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.room import Room, Stopped

_STEP = 1 << 20


class BoundedFile(io.RawIOBase):
    """Wraps `file`. Archive headers declare their own length and are read whole into memory, so a single read has a
    limit.

    With `max_total` the total read or skipped has one, too: a compressed file of a few kB can contain a TB of skipped
    data, which no count of written bytes would include.
    """

    def __init__(
        self, file: IO[bytes], source: str, room: Room, *, max_read: int, max_total: int | None = None
    ) -> None:
        super().__init__()
        self.last = b""
        """The result of the last read."""
        self._file = file
        self._source = source
        self._room = room
        self._max_read = max_read
        self._left = max_total

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Return up to `size` bytes. Raises `StorageFailure` when that is more than a valid archive needs."""
        if self._room.stop.is_set():
            raise Stopped
        if size is None or size < 0:
            size = self._max_read + 1
        data = self._file.read(min(size, self._max_read + 1))
        if len(data) > self._max_read:
            raise self._too_much()
        self._use(len(data))
        self.last = data
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move; data that a compressed file must unpack on the way counts."""
        if self._left is None:
            return self._file.seek(offset, whence)
        missing = offset - self._file.tell()
        if whence != os.SEEK_SET or missing < 0:
            raise io.UnsupportedOperation("only forwards")
        while missing > 0:
            skipped = len(self.read(min(missing, _STEP, self._max_read)))
            if not skipped:
                break
            missing -= skipped
        return self._file.tell()

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def _use(self, size: int) -> None:
        if self._left is None:
            return
        self._left -= size
        if self._left < 0:
            raise self._too_much()

    def _too_much(self) -> StorageFailure:
        return StorageFailure(
            f"{self._source} cannot be unpacked: it is larger inside than the limits of this service allow",
            may_retry=False,
        )
