"""The history server that a script's client needs."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.kinds.pig.on_cluster import PigOnCluster


async def test_it_is_started_once_the_database_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc_jupyter.service.ground.background.RETRY_SECONDS", 0)
    engine = Mock(ensure_history_server=AsyncMock())
    clusters = Mock(up_instance=AsyncMock(side_effect=[DatabaseAway("away"), "an instance"]))
    task = Task(id=1, account_id=1, user_id=1, attempt=1, command={}, root=tmp_path, cluster_id=1)
    await PigOnCluster(clusters, engine, Mock(), tmp_path).keep_history(task, print)
    engine.ensure_history_server.assert_awaited_once_with("an instance", print)
