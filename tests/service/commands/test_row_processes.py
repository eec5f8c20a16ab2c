"""The processes that show rows, as the service begins and ends them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.service.commands.row_views.job import SOCKET, Ask, Question, RowsJob
from svc_jupyter.service.commands.row_views.views import ClientGone, RowsFile, RowViews


class SlowWorkers:
    """Stands for a process that has connected, and whose start does not end."""

    def __init__(self) -> None:
        self.has_connected = asyncio.Event()
        self.side: Any = None

    async def start(self, job: RowsJob) -> None:
        self.side = await asyncio.open_unix_connection(job.folder / SOCKET)
        self.has_connected.set()
        await asyncio.sleep(600)


async def test_the_connection_of_a_process_for_a_reader_who_has_gone_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "rows.arrow"
    file.write_bytes(b"")
    workers: Any = SlowWorkers()
    views = RowViews(workers)
    with pytest.raises(ClientGone):
        await views.answer(RowsFile.at(file, is_text=False), Question(Ask.PAGE), workers.has_connected.wait)
    reader, writer = workers.side
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()
