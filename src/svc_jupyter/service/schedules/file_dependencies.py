"""Looks up the files that actions wait for, in the account's storage and in other stores."""

from __future__ import annotations

from collections.abc import Sequence

from svc_jupyter.service.schedules.dependencies import Needed
from svc_jupyter.service.storage.storage import Storage


class FileDependencies:
    """The `DependencyChecker` of files; it finds nothing of another kind."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return the files that exist now: for a `done_flag` the file, for a path a file or a non-empty folder.

        Raises `Invalid` for a location that the service may not read and `StorageFailure` when a store fails.
        """
        there: set[Needed] = set()
        for may_be_folder in (False, True):
            asked = [item for item in keys if item.kind == "file" and item.may_be_folder is may_be_folder]
            if asked:
                paths = {item.key for item in asked}
                existing = await self._storage.existing(account_id, paths, or_folders=may_be_folder)
                there.update(item for item in asked if item.key in existing)
        return there
