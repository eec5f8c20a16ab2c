"""The interface against its own document."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hive import end_metastore_of
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.installs.engine import Engine

_CASES = Path(__file__).with_name("openapi_conformance.py")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    """A service of its own, since the requests change whatever can be changed."""
    engine_at_once(Engine.HIVE_METASTORE)  # which a request would not wait for
    service = ServiceProcess(tmp_path / "data", running_limit=2, kill_grace_seconds=0).start()
    yield service
    service.kill()
    end_commands_of(service.data_dir)
    end_metastore_of(service.data_dir)


@pytest.mark.timeout(900)
def test_every_answer_is_as_documented_and_the_service_is_well_afterwards(service: ServiceProcess):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(_CASES)],
        env=os.environ | {"TESTED_DATA_DIR": str(service.data_dir)},
        cwd=_CASES.parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    record = service.submit("echo still here")
    assert service.ended(record["id"], 60)["status"] == "done"
    assert service.exceptions() == []
