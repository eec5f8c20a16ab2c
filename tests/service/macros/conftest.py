from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from svc_jupyter.service.macros.macros import resolve
from svc_jupyter.service.macros.sandbox import MacroSandbox

NOMINAL_TIME = datetime(2024, 3, 5, 7, 8, 9, 123_000, tzinfo=UTC)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[MacroSandbox]:
    sandbox = MacroSandbox()
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def value_of(sandbox: MacroSandbox) -> Callable[..., Any]:
    """Return a function that evaluates one expression."""

    def value_of(expression: str, nominal_time: datetime = NOMINAL_TIME, time_zone: str = "UTC") -> Any:
        return resolve([{"x": expression}], nominal_time, time_zone, sandbox=sandbox)[0]["x"]

    return value_of
