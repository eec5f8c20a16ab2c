"""A client of the double that the magics are tested with, and panels that are closed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from tests.support.double.service import TOKEN, ServiceDouble
from tests.widgets.screen import Screen

from svc_jupyter.client import Client, Retries
from svc_jupyter.widgets.schedules.model import open_model
from svc_jupyter.widgets.schedules.panel import SchedulePanel

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ONE_TRY = Retries(attempts=1, first=0.001, longest=0.002, total=0.01, outage=0.01)


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[ServiceDouble]:
    """The double with our extensions; for a test that is marked `both_services` also without any."""
    with ServiceDouble(bare=getattr(request, "param", False), first_command=128) as double:
        yield double


@pytest.fixture
def client(service: ServiceDouble) -> Iterator[Client]:
    with Client(service.base_url, TOKEN, retries=ONE_TRY) as client:
        yield client


@pytest.fixture
def open_panel(client: Client) -> Iterator[Callable[[str | None], Screen]]:
    """Open panels whose present is NOW, and close them at the end."""
    opened: list[Screen] = []

    def open_one(wanted: str | None) -> Screen:
        opened.append(Screen(SchedulePanel(open_model(lambda: client, wanted, lambda: NOW))))
        return opened[-1]

    yield open_one
    for screen in opened:
        screen.panel.close()
