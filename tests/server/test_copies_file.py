"""The file that names a Jupyter server, and by which its processes wait for each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tornado.web import HTTPError

from svc_jupyter.server.copy_keeper import CopiesFile


async def test_a_servers_name_is_that_of_its_data_folder_and_root(tmp_path: Path) -> None:
    name = await CopiesFile(tmp_path / "one" / "copies", "/home/ann").server()
    assert name == await CopiesFile(tmp_path / "one" / "copies", "/home/ann").server()
    assert name != await CopiesFile(tmp_path / "one" / "copies", "/srv").server()
    assert name != await CopiesFile(tmp_path / "two" / "copies", "/home/ann").server()
    assert (tmp_path / "one" / "copies").stat().st_mode & 0o777 == 0o600


async def test_a_half_written_name_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / "copies").write_text("0a1b")
    name = await CopiesFile(tmp_path / "copies", "/").server()
    assert name == await CopiesFile(tmp_path / "copies", "/").server()
    assert len((tmp_path / "copies").read_text()) == 32


async def test_copies_are_not_removed_while_another_process_makes_one(tmp_path: Path) -> None:
    one, other = CopiesFile(tmp_path / "copies", "/"), CopiesFile(tmp_path / "copies", "/")
    order: list[str] = []

    async def remove() -> None:
        async with other.alone():
            order.append("removed")

    async with one.in_the_making(), other.in_the_making():
        removal = asyncio.create_task(remove())
        for _ in range(10):
            await asyncio.sleep(0)
        order.append("made")
    await removal
    assert order == ["made", "removed"]


async def test_a_data_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(HTTPError, match="Jupyter's data folder") as caught:
        await CopiesFile(tmp_path / "data" / "copies", "/").server()
    assert caught.value.status_code == 503
