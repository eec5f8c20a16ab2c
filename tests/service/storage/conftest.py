"""Archives to unpack, a storage to read with, an S3 server to read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database import Database
from svc_jupyter.service.secrets import SecretBox
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage import archives
from svc_jupyter.service.storage.room import Room
from svc_jupyter.service.storage.storage import Storage

Unpack = Callable[..., Path]


@pytest.fixture
def unpack(tmp_path: Path) -> Unpack:
    """Unpacks an archive into a folder beside which nothing must appear, and returns that folder."""
    work = tmp_path / "work"
    work.mkdir()

    def unpack(archive: Path, *, max_bytes: int = 10_000_000, max_entries: int = 1000) -> Path:
        folder = work / archive.name
        before = {entry.name for entry in work.iterdir()}
        room = Room(work, what=archive.name, max_bytes=max_bytes, min_free_bytes=0, max_entries=max_entries)
        try:
            archives.unpack(archive, folder, room)
        finally:
            assert {entry.name for entry in work.iterdir()} - before <= {archive.name}
            assert not (tmp_path / "outside").exists()
        return folder

    return unpack


@pytest.fixture
def storage(settings: Settings, database: Database, account_id: int) -> Iterator[Storage]:
    """The storage room on its own; the account has nothing stored yet."""
    settings.storage_dir.mkdir()
    storage = Storage(settings, database, SecretBox(settings.data_dir / "secret.key"))
    yield storage
    storage.close()


@pytest.fixture
def admin(account_id: int) -> Caller:
    """A system administrator of the account."""
    return Caller(1, account_id, "admin@example.org", frozenset({BuiltinGroup.ADMIN}), 1)


@pytest.fixture
def member(account_id: int) -> Caller:
    """An ordinary user of the account."""
    return Caller(2, account_id, "member@example.org", frozenset({BuiltinGroup.USER}), 2)
