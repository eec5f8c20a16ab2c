"""The session's Hadoop cluster for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.hadoop import SharedHadoop, shared_hadoop


@pytest.fixture(scope="session")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedHadoop]:
    """A service whose cluster `default` is UP, shared by all processes of the session."""
    with shared_hadoop(tmp_path_factory) as service:
        yield service
