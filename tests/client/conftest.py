"""A service double and a client of it: by default one with our extensions, and the client for asyncio.

A test that is marked `both_services` also runs against a service without the extensions, where the client goes other
ways; one that is marked `both_clients` also with the blocking client, which is made from the other one but for a few
modules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.client.blocking import Blocking
from tests.client.clock import Clock
from tests.support.double.service import TOKEN, ServiceDouble

from svc_jupyter.client import AsyncClient, Client, Retries
from svc_jupyter.client.asynchronous import handles, sender
from svc_jupyter.client.commands import waiting

QUICK = Retries(attempts=4, first=0.001, longest=0.002, total=5.0, outage=5.0)


@pytest.fixture(autouse=True)
def empty_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No settings of whoever runs the tests get in."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("SVC_BASE_URL", "SVC_API_TOKEN", "SVC_PROFILE", "SVC_DATA_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that is marked `both_clients` with the blocking client, too."""
    if "connect" in metafunc.fixturenames:
        both = metafunc.definition.get_closest_marker("both_clients")
        metafunc.parametrize("connect", ["sync", "async"] if both else ["async"], indirect=True)


@pytest.fixture
def service(request: pytest.FixtureRequest) -> ServiceDouble:
    return ServiceDouble(bare=getattr(request, "param", False))


@pytest.fixture
def extended() -> ServiceDouble:
    return ServiceDouble()


@pytest.fixture
def bare() -> ServiceDouble:
    return ServiceDouble(bare=True)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the asyncio client's retries and waits."""
    clock = Clock()
    for module in (sender, handles):
        monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(module, "asyncio", clock)
    monkeypatch.setattr(waiting, "time", clock)
    return clock


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A function that returns a client of a service double, the blocking one or the asyncio one."""
    with asyncio.Runner() as runner:
        opened: list[Any] = []

        def to(service: ServiceDouble, **options: Any) -> Any:
            options = {"transport": service.transport(), "retries": QUICK, **options}
            if request.param == "sync":
                client: Any = Client(service.base_url, TOKEN, **options)
            else:
                client = Blocking(runner, AsyncClient(service.base_url, TOKEN, **options))
            opened.append(client)
            return client

        yield to
        for client in opened:
            client.close() if isinstance(client, Client) else client.aclose()


@pytest.fixture
def client(connect: Any, service: ServiceDouble) -> Any:
    return connect(service)
