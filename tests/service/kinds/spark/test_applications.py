"""Applications of their own on a cluster, as they are watched."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.kinds.spark.applications import Applications


async def test_progress_is_told_also_after_the_database_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_jupyter.service.kinds.spark.applications._LOOK_SECONDS", 0.01)
    told = asyncio.Event()

    async def wait() -> int:
        await asyncio.wait_for(told.wait(), 10)
        return 0

    def tell(percent: int) -> None:
        assert percent == 40
        told.set()

    on_yarn = Mock(configuration=Mock(custom_settings={"spark.master": "yarn"}))
    clusters = Mock(up_instance=AsyncMock(side_effect=[DatabaseAway("away"), on_yarn, on_yarn]))
    running = [{"application_id": "application_1_0001", "status": "RUNNING", "progress": 40}]
    jobs = Mock(find=AsyncMock(return_value=running))
    task = Task(id=1, account_id=1, user_id=1, attempt=1, command={}, root=tmp_path, cluster_id=1)
    task.folder.mkdir()
    (task.folder / "out").write_text("done\n")
    applications = Applications(Mock(), clusters, jobs, Mock(), {})
    outcome = await applications.outcome(Mock(wait=wait), task, Mock(progress=tell))
    assert outcome.succeeded
