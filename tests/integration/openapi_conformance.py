"""The interface against its own document: generated requests never meet a 5xx, and every answer is as documented.

Run by `test_openapi.py`, in a process of its own: the cases are made while the tests are collected, and each worker of
a test run would make them all.
"""

from __future__ import annotations

import os
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
from tests.integration.openapi_cases import Existing, aim, make_harmless
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings

DATA_DIR = "TESTED_DATA_DIR"
"""The variable with the data folder of a running service, which the requests change in every way they can."""
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
def service() -> Iterator[ServiceProcess]:
    service = ServiceProcess.found(Path(os.environ[DATA_DIR]))
    yield service
    service.http.close()


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
