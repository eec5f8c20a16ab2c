"""A Jupyter Server, and a service of which Jupyter notebooks are switched on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import end_commands_of
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """One service for all tests here that do not stop it."""
    service = ServiceProcess(tmp_path_factory.mktemp("service") / "data", kill_grace_seconds=1).start()
    service.http.put("/account/features", json={"jupyter_notebooks": True}).raise_for_status()
    yield service
    service.kill()
    end_commands_of(service.data_dir)


@pytest.fixture(scope="session")
def jupyter(service: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterProcess]:
    """One Jupyter Server for all tests that do not configure it."""
    folder = tmp_path_factory.mktemp("jupyter")
    server = JupyterProcess(folder, base_url=service.base_url, token=service.token).start()
    yield server
    server.stop()


@pytest.fixture
def new_jupyter(tmp_path: Path) -> Iterator[Callable[..., JupyterProcess]]:
    """Makes started Jupyter Servers of other configurations."""
    made: list[JupyterProcess] = []

    def make(**arguments: Any) -> JupyterProcess:
        server = JupyterProcess(tmp_path, **arguments)
        made.append(server)
        return server.start()

    yield make
    for server in made:
        server.stop()
