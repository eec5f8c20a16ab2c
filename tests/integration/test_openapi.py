"""The interface against its own document: generated requests never meet a 5xx, and every answer is as documented."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import schemathesis
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.conftest import end_commands_of
from tests.integration.openapi_cases import Existing, aim, make_harmless
from tests.support.engines import engine_at_once
from tests.support.hive import end_metastore_of
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.engine import Engine

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]
schema = schemathesis.openapi.from_dict(create_app(Service.of(Settings(data_dir=Path("/nonexistent")))).openapi())
"""The document as the service gives it out; nothing is opened or started for it."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service of its own, since the requests change whatever can be changed."""
    engine_at_once(Engine.HIVE_METASTORE)  # which a request would not wait for
    folder: Path = tmp_path_factory.mktemp("openapi")
    service = ServiceProcess(folder / "data", running_limit=2, kill_grace_seconds=0).start()
    yield service
    service.kill()
    end_commands_of(service.data_dir)
    end_metastore_of(service.data_dir)


@pytest.fixture(scope="module")
def existing(service: ServiceProcess) -> Existing:
    return Existing.on(service)


@schema.parametrize()
@hypothesis.settings(
    max_examples=6,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
def test_every_answer_is_as_documented(case: Case, service: ServiceProcess, existing: Existing):
    aim(case, existing)
    make_harmless(case)
    case.call_and_validate(service.base_url, checks=CHECKS, headers={"X-AUTH-TOKEN": service.token}, timeout=90)


def test_the_service_is_well_afterwards(service: ServiceProcess):
    """Run after the others: whatever they submitted has come to an end."""
    record = service.submit("echo still here")
    assert service.ended(record["id"], 60)["status"] == "done"
    assert '"level": "error"' not in service.log_file.read_text()
