"""The session's Hadoop cluster for Pig's tests, with data in its service's storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.engines import engine_at_once
from tests.support.hadoop import SharedHadoop, shared_hadoop
from tests.support.pig import put_data

from svc_jupyter.service.installs.engine import Engine


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedHadoop]:
    """A service whose cluster `default` is UP, shared by all processes of the session."""
    engine_at_once(Engine.PIG)
    with shared_hadoop(tmp_path_factory) as service:
        put_data(service)
        yield service
