"""A real browser, a real JupyterLab and a real service, once for all tests here; most of them share a page, too."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.chromium import running_chromium
from tests.browser.lab_page import WINDOW, LabPage
from tests.browser.lab_process import LabProcess
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of, start_cluster, use_hadoop
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine

_FAILED = pytest.StashKey[bool]()
_NODE_SECONDS = 240.0
"""How long nodes that a test has left may take to go, on a busy machine."""


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here share one browser, so they run in one process; a cold page takes seconds on a busy machine."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.timeout(600))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Remember for the page's fixture whether the test failed, and report what its page showed then."""
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
        page = item.funcargs.get("page") if isinstance(item, pytest.Function) else None
        if report.failed and isinstance(page, LabPage):
            report.sections.append(("the page", "\n".join([*page.traffic.unexpected_errors, page.text_of_panel()])))
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The machine's Chromium."""
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """One service for all tests here that do not stop it."""
    service = ServiceProcess(tmp_path_factory.mktemp("service") / "data", kill_grace_seconds=1).start()
    try:
        switch_on(service)
        yield service
    finally:
        service.kill()
        end_clusters_of(service.data_dir)
        end_commands_of(service.data_dir)


@pytest.fixture(scope="package")
def lab(service: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabProcess]:
    """One JupyterLab for all tests here that do not configure it, on a root folder of its own."""
    lab = LabProcess(tmp_path_factory.mktemp("lab"), service)
    try:
        yield lab.start()
    finally:
        lab.stop()


@pytest.fixture(scope="package")
def shared_cluster(service: ServiceProcess) -> Iterator[str]:
    """The cluster `default` of the service, UP on real Hadoop, with the nodes that the last test has left."""
    with ThreadPoolExecutor(1) as thread:  # this thread has the browser's loop
        thread.submit(engine_at_once, Engine.HADOOP).result()
    use_hadoop(service, initial_nodes=1, max_nodes=3)
    try:
        start_cluster(service)
        yield "default"
    finally:
        end_clusters_of(service.data_dir)


@pytest.fixture
def up_cluster(service: ServiceProcess, shared_cluster: str) -> str:
    """The cluster `default` of the service, UP on real Hadoop with one of at most three workers.

    Whatever another test has added or begun, also one that failed in the middle, is over.
    """
    nodes = f"/clusters/{shared_cluster}/nodes"

    def workers() -> list[dict[str, Any]]:
        state = service.http.get(f"/clusters/{shared_cluster}/state").json()
        return [node for node in state["nodes"] if node["role"] == "worker"]

    def is_settled() -> bool:
        running = [node["private_dns"] for node in workers() if node["status"] == "RUNNING"]
        for name in running[1:]:  # it is refused while a command of another test still changes the node
            service.http.request("DELETE", nodes, params={"private_dns": name})
        return [node["status"] for node in workers()] == ["RUNNING"]

    wait_until(is_settled, "one worker alone", _NODE_SECONDS)
    return shared_cluster


@pytest.fixture
def new_lab(tmp_path: Path) -> Iterator[Callable[..., LabProcess]]:
    """Makes started JupyterLabs of other services, tokens and configurations."""
    made: list[LabProcess] = []

    def make(service: ServiceProcess, **arguments: Any) -> LabProcess:
        lab = LabProcess(tmp_path / f"lab-{len(made)}", service, **arguments)
        made.append(lab)
        return lab.start()

    yield make
    for lab in made:
        lab.stop()


class KeptPage:
    """A page that tests use one after the other, as loading Lab costs seconds; a failure or another Lab ends it."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: Page | None = None
        self._lab: LabProcess | None = None

    def of(self, lab: LabProcess) -> Page:
        """Return the page, which is cleared or new."""
        if self._page is None or self._lab is not lab:
            self.close()
            self._page = self._browser.new_context(viewport=WINDOW).new_page()
            self._lab = lab
        return self._page

    def close(self) -> None:
        """Close the page, if there is one; the next one is new."""
        if self._page is not None:
            self._page.context.close()
            self._page = None


@pytest.fixture(scope="package")
def kept_page(browser: Browser) -> Iterator[KeptPage]:
    """What holds the page of `page` between the tests."""
    kept = KeptPage(browser)
    yield kept
    kept.close()


@pytest.fixture
def page(kept_page: KeptPage, lab: LabProcess, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabPage]:
    """A page of the shared JupyterLab, to be opened, with a folder of its own; fails where it has complained.

    It is not loaded again for each test. A test that loads it again, or that sets its clock or anything else that
    `clear` does not put back, takes `own_page`.
    """
    page = LabPage(kept_page.of(lab), lab)
    yield page
    failed = request.node.stash.get(_FAILED, True)
    page.traffic.stop()
    errors = page.traffic.unexpected_errors
    is_cleared = False
    try:
        if failed or errors:
            page.page.screenshot(path=tmp_path / "page.png")
        else:
            page.clear()
            is_cleared = True
    finally:
        if not is_cleared:
            kept_page.close()
    page.lab.end_kernels()
    assert failed or not errors, "\n".join(errors)


@pytest.fixture
def new_page(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., LabPage]]:
    """Makes pages of a JupyterLab, each in a browser profile of its own; fails where one has complained.

    The picture of a page whose test fails is kept in the test's temporary folder.
    """
    made: list[LabPage] = []

    def make(lab: LabProcess, *, kind: type[LabPage] = LabPage, **options: Any) -> LabPage:
        context = browser.new_context(viewport=WINDOW, **options)
        made.append(kind(context.new_page(), lab))
        return made[-1]

    yield make
    errors = [error for page in made for error in page.traffic.unexpected_errors]
    failed = request.node.stash.get(_FAILED, True)
    for number, page in enumerate(made):
        if (failed or errors) and not page.page.is_closed():
            page.page.screenshot(path=tmp_path / f"page-{number}.png")
        page.page.context.close()
    assert failed or not errors, "\n".join(errors)


@pytest.fixture
def own_page(new_page: Callable[..., LabPage], lab: LabProcess) -> LabPage:
    """A new page of the shared JupyterLab, not opened yet, with a folder and a workspace of its own."""
    return new_page(lab)


@pytest.fixture
def signal(tmp_path: Path) -> Iterator[Path]:
    """A file that does not exist; a command that waits for it goes on when it is made, at the latest after the test."""
    file = tmp_path / "go on"
    yield file
    file.touch()


@pytest.fixture
def completed_tap(service: ServiceProcess) -> Iterator[str]:
    """A tap of a database with two tables, whose catalogue has been read; its name."""
    folder = service.data_dir / "storage"
    folder.mkdir(exist_ok=True)
    file = folder / "completion.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            'CREATE TABLE flights (flight_id INTEGER, dep_delay REAL); CREATE TABLE "fleet of 2013" ("Größe" TEXT);'
        )
    body = {"name": "completion", "db_type": "sqlite", "db_name": str(file)}
    number = service.http.post("/db_taps", json=body).raise_for_status().json()["id"]
    catalogue = f"/db_taps/{number}/catalogue"
    wait_until(lambda: service.http.get(catalogue, params={"wait": 30}).json()["state"] == "ready", "the catalogue")
    yield "completion"
    service.http.delete(f"/db_taps/{number}")
    file.unlink()


def switch_on(service: ServiceProcess) -> None:
    """Switch the service's account features on, as for a laptop."""
    features = {"jupyter_notebooks": True, "package_management": True}
    service.http.put("/account/features", json=features).raise_for_status()
