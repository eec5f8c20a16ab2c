from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage import downloads
from svc_jupyter.service.storage.account_storage import resolve_under
from svc_jupyter.service.storage.failures import StorageFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


async def test_a_location_without_a_scheme_lies_in_the_account_s_storage(storage, settings, account_id, tmp_path):
    (settings.storage_dir / "daily").mkdir()
    (settings.storage_dir / "daily" / "run it.sh").write_bytes(b"echo\n" * 1_000_000)
    location = await storage.locate(account_id, "daily/run it.sh")
    assert str(location) == f"file://{settings.storage_dir}/daily/run it.sh"
    assert await storage.fetch(account_id, location, tmp_path / "copy") == 5_000_000
    assert (tmp_path / "copy").read_bytes() == b"echo\n" * 1_000_000


async def test_other_folders_are_read_when_the_operator_allows_them(storage, settings, account_id, tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a").write_text("x")
    with pytest.raises(Invalid, match="file_roots"):
        await storage.locate(account_id, f"file://{tmp_path}/lake/a")
    settings.file_roots.append(tmp_path / "lake")
    location = await storage.locate(account_id, f"file://{tmp_path}/lake/a")
    assert await storage.fetch(account_id, location, tmp_path / "copy") == 1


async def test_the_service_s_own_files_are_not_read(storage, settings, account_id):
    for text in (f"file://{settings.data_dir}/service.db", f"file://{settings.data_dir}/secret.key", "../secret.key"):
        with pytest.raises(Invalid, match=r"outside the folders|must not hold"):
            await storage.locate(account_id, text)


async def test_a_link_made_after_the_check_leads_nowhere(storage, settings, account_id, tmp_path):
    location = await storage.locate(account_id, "a.sh")
    (tmp_path / "outside").write_text("not for you")
    (settings.storage_dir / "a.sh").symlink_to(tmp_path / "outside")
    with pytest.raises(Invalid, match="outside the folders"):
        await storage.fetch(account_id, location, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


async def test_a_folder_that_becomes_a_link_while_its_file_is_opened_leads_nowhere(
    storage, settings, account_id, tmp_path, monkeypatch
):
    folder, outside = settings.storage_dir / "folder", tmp_path / "outside"
    for one in (folder, outside):
        one.mkdir()
        (one / "a.sh").write_text("not for you")
    location = await storage.locate(account_id, "folder/a.sh")

    def resolve_and_swap(path: Path, roots: Iterable[Path]) -> Path:
        resolved = resolve_under(path, roots)
        folder.rename(tmp_path / "moved")
        folder.symlink_to(outside)
        return resolved

    monkeypatch.setattr(downloads, "resolve_under", resolve_and_swap)
    with pytest.raises(StorageFailure, match="was moved or replaced while it was opened"):
        await storage.fetch(account_id, location, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


async def test_a_location_that_is_not_a_regular_file_is_reported(storage, settings, account_id, tmp_path):
    (settings.storage_dir / "folder").mkdir()
    os.mkfifo(settings.storage_dir / "pipe")
    for name, reason in (
        ("folder", "is a folder"),
        ("pipe", "not a regular file"),
        ("nothing", "does not exist"),
        ("pipe/below", "does not exist"),
    ):
        location = await storage.locate(account_id, name)
        with pytest.raises(StorageFailure, match=reason) as failure:
            await storage.fetch(account_id, location, tmp_path / "copy")
        assert str(location) in failure.value.message
        assert not (tmp_path / "copy").exists()


async def test_a_file_over_the_limit_is_not_fetched(storage, settings, account_id, tmp_path):
    (settings.storage_dir / "big").write_bytes(bytes(5000))
    settings.max_fetched_bytes = 4999
    with pytest.raises(StorageFailure, match=r"larger than 5\.0 kB") as failure:
        await storage.fetch(account_id, await storage.locate(account_id, "big"), tmp_path / "copy")
    assert not failure.value.may_retry
    assert not (tmp_path / "copy").exists()
    settings.max_fetched_bytes = 5000
    assert await storage.fetch(account_id, await storage.locate(account_id, "big"), tmp_path / "copy") == 5000


async def test_a_disk_without_room_is_reported_before_anything_is_written(storage, settings, account_id, tmp_path):
    (settings.storage_dir / "a").write_bytes(b"x")
    settings.min_free_disk_bytes = 2**60
    with pytest.raises(StorageFailure, match="does not fit on the service's disk"):
        await storage.fetch(account_id, await storage.locate(account_id, "a"), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


async def test_a_target_that_is_there_already_is_never_overwritten(storage, settings, account_id):
    (settings.storage_dir / "a").write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        await storage.fetch(account_id, await storage.locate(account_id, "a"), settings.storage_dir / "a")
    assert (settings.storage_dir / "a").read_bytes() == b"kept"


async def test_text_is_read_up_to_its_limit(storage, settings, account_id):
    (settings.storage_dir / "q.sql").write_bytes("\ufeffSELECT 'é'\r\n".encode())
    assert await storage.read_text(account_id, "q.sql", 1000) == "SELECT 'é'\r\n"
    with pytest.raises(StorageFailure, match=r"q\.sql is larger than 10 bytes"):
        await storage.read_text(account_id, "q.sql", 10)
    (settings.storage_dir / "q.bin").write_bytes(b"SELECT \xff")
    with pytest.raises(StorageFailure, match=r"q\.bin is not UTF-8 text \(byte 7\)"):
        await storage.read_text(account_id, "q.bin", 1000)
