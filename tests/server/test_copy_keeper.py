"""The removal of copies, where the service does not answer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from svc_jupyter.client.errors import SvcError
from svc_jupyter.server import copy_keeper
from svc_jupyter.server.copy_keeper import CopiesFile, CopyKeeper
from svc_jupyter.server.scheduled_copies import CopyPaths


class SilentService:
    """A connection whose calls are never answered."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def answer(self, _call: Any) -> None:
        self.asked.set()
        await asyncio.Event().wait()


async def test_a_removal_without_an_answer_keeps_nobody_from_scheduling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def places(_keeper: CopyKeeper) -> CopyPaths:
        return CopyPaths("ann@example.org", "this-server")

    monkeypatch.setattr(copy_keeper, "REMOVAL_SECONDS", 0.2)
    monkeypatch.setattr(CopyKeeper, "places", places)
    service, file = SilentService(), tmp_path / "copies"
    removal = asyncio.create_task(CopyKeeper(service, CopiesFile(file, "/")).remove_unused())  # type: ignore[arg-type]
    await service.asked.wait()
    async with asyncio.timeout(10), CopiesFile(file, "/").in_the_making():
        pass
    with pytest.raises(SvcError, match=r"more than 0\.2 s"):
        await removal
