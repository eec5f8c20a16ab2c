"""Whether files and URLs are there. Buckets are in test_presence_s3.py."""

from __future__ import annotations

import asyncio
import os

import pytest

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage import storage as storage_module
from svc_jupyter.service.storage.failures import StorageFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def existing(storage, account_id):
    """Looks locations up; with `or_folders` unless told otherwise."""

    async def existing(*texts: str, or_folders: bool = True) -> set[str]:
        return await storage.existing(account_id, texts, or_folders=or_folders)

    return existing


@pytest.fixture
def lake(settings):
    """Files and folders in the account's storage."""
    root = settings.storage_dir
    (root / "day/21").mkdir(parents=True)
    (root / "day/21/_SUCCESS").touch()
    (root / "day/22").mkdir()
    (root / "flights.csv").write_text("a,b")
    return root


async def test_files_and_filled_folders_are_there(existing, lake):
    asked = ("flights.csv", "/flights.csv", "day/21", "day/21/", "day/21/_SUCCESS", f"file://{lake}/flights.csv")
    assert await existing(*asked) == set(asked)


async def test_empty_folders_and_missing_files_are_not(existing, lake):
    assert await existing("day/22", "day/23", "nothing.csv", "flights.csv/x", "flights.csv/", "no/such/folder") == set()


async def test_where_a_file_is_meant_a_folder_will_not_do(existing, lake):
    assert await existing("day/21", "day/21/_SUCCESS", or_folders=False) == {"day/21/_SUCCESS"}


async def test_a_pipe_or_a_dangling_link_is_not_found(existing, lake):
    os.mkfifo(lake / "pipe")
    (lake / "dangling").symlink_to("nowhere")
    (lake / "link").symlink_to("flights.csv")
    assert await existing("pipe", "dangling", "link") == {"link"}


async def test_a_thousand_files_are_looked_up_at_once(existing, lake):
    for number in range(0, 1000, 2):
        (lake / f"{number}.csv").touch()
    there = await existing(*(f"{number}.csv" for number in range(1000)))
    assert there == {f"{number}.csv" for number in range(0, 1000, 2)}


async def test_nothing_is_asked_for_nothing(existing):
    assert await existing() == set()


async def test_files_outside_the_allowed_folders_are_refused(existing, lake, tmp_path):
    (tmp_path / "secret").write_text("x")
    (lake / "way-out").symlink_to(tmp_path)
    for text in (f"file://{tmp_path}/secret", "way-out/secret"):
        with pytest.raises(Invalid, match="outside the folders that this service may read"):
            await existing("flights.csv", text)


async def test_an_error_of_the_file_system_is_a_storage_failure(existing, lake):
    with pytest.raises(StorageFailure, match="cannot be read: File name too long"):
        await existing("x" * 300)


async def test_urls_are_there_when_they_are_answered(existing, web):
    there = web.answer("/a.csv", b"a" * 100_000)
    moved = web.answer("/moved.csv", b"", status=302, headers={"Location": "/a.csv"})
    gone = web.answer("/gone.csv", b"", status=410)
    assert await existing(there, moved, gone, f"{web.url}/nothing") == {there, moved}


async def test_a_url_that_is_forbidden_or_fails_is_a_failure(existing, web):
    for status, words in ((403, "access denied"), (503, "the server answered 503")):
        with pytest.raises(StorageFailure, match=words):
            await existing(web.answer(f"/{status}", b"", status=status))


async def test_a_failure_ends_the_whole_look_up(existing, web, monkeypatch):
    monkeypatch.setattr(storage_module, "_LOOK_UPS_AT_ONCE", 1)
    down = web.answer("/down", b"", status=500)
    later = [web.answer(f"/later{number}", b"x") for number in range(20)]
    with pytest.raises(StorageFailure, match="the server answered 500"):
        await existing(down, *later)
    assert [path for path, _ in web.requests] == ["/down"]


async def test_a_cancelled_look_up_asks_no_further(existing, web, monkeypatch):
    monkeypatch.setattr(storage_module, "_LOOK_UPS_AT_ONCE", 1)
    monkeypatch.setattr(storage_module, "_STOP_SECONDS", 30)  # the request under way ends first
    urls = [web.answer(f"/{number}", b"x") for number in range(2000)]
    task = asyncio.create_task(existing(*urls))
    await asyncio.to_thread(web.was_asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    asked = len(web.requests)
    assert asked < 2000
    assert await existing(urls[0]) == {urls[0]}
    assert len(web.requests) == asked + 1
