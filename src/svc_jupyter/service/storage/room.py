"""The limits of a write to disk: a budget in bytes and entries, and free disk space to preserve."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.sizes import readable_size

_CHECK_EVERY_BYTES = 4 * 2**20


class Stopped(Exception):
    """The caller cancelled the work."""


class Room:
    """A budget for writes under `folder`. Each piece of work has its own."""

    def __init__(
        self, folder: Path, *, what: str, max_bytes: int, min_free_bytes: int, max_entries: int | None = None
    ) -> None:
        self.used_bytes = 0
        self.used_entries = 0
        self.max_bytes = max_bytes
        self.max_entries = max_entries
        self.stop = threading.Event()
        self._folder = folder
        self._what = what
        self._min_free_bytes = min_free_bytes
        self._unchecked = _CHECK_EVERY_BYTES

    def expect(self, size: int) -> None:
        """Refuse a size announced in advance that does not fit, before anything is written."""
        if self.used_bytes + size > self.max_bytes:
            raise self._too_large()
        self._check_disk(size)

    def take(self, size: int) -> None:
        """Use up `size` bytes, about to be written.

        Raises `StorageFailure` when they do not fit, and `Stopped` when the work was cancelled.
        """
        if self.stop.is_set():
            raise Stopped
        self.used_bytes += size
        if self.used_bytes > self.max_bytes:
            raise self._too_large()
        self._unchecked += size
        if self._unchecked >= _CHECK_EVERY_BYTES:
            self._check_disk(size)
            self._unchecked = 0

    def take_entry(self) -> None:
        """Use up one file, folder or link; raises as `take` does."""
        if self.stop.is_set():
            raise Stopped
        self.used_entries += 1
        if self.max_entries is not None and self.used_entries > self.max_entries:
            raise StorageFailure(
                f"{self._what} holds more than {self.max_entries} files and folders, the limit of this service",
                may_retry=False,
            )

    def _too_large(self) -> StorageFailure:
        return StorageFailure(
            f"{self._what} is larger than {readable_size(self.max_bytes)}, the limit of this service", may_retry=False
        )

    def _check_disk(self, size: int) -> None:
        disk = os.statvfs(self._folder)
        free = disk.f_bavail * disk.f_frsize
        if free - size < self._min_free_bytes:
            raise StorageFailure(
                f"{self._what} does not fit on the service's disk: {readable_size(free)} are free, of which "
                f"{readable_size(self._min_free_bytes)} are kept; free some space and try again"
            )
