"""The page of a command, as a browser gets it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from tests.support.service_process import ServiceProcess

from svc_jupyter.durations import duration

HOSTILE = "echo '<script>alert(1)</script>' \"$2\"; echo '<b>log</b> & more' >&2"


class _Texts(HTMLParser):
    """Collects the texts of a page and the names of its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def browser(shared_service: ServiceProcess) -> httpx.Client:
    """A client at the service's root, without a token."""
    port = shared_service.http.base_url.port
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=90) as client:
        yield client


@pytest.fixture
def token(shared_service: ServiceProcess) -> str:
    return shared_service.http.headers["X-AUTH-TOKEN"]


def page_of(browser: httpx.Client, token: str, command_id: int) -> httpx.Response:
    return browser.get("/v2/analyze", params={"command_id": command_id}, auth=("any", token))


def test_a_page_shows_state_source_log_and_result_as_texts(
    shared_service: ServiceProcess, browser: httpx.Client, token: str
) -> None:
    command_id = shared_service.submit(HOSTILE, name="nightly")["id"]
    shared_service.ended(command_id)
    answer = page_of(browser, token, command_id)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "Refresh" not in answer.headers
    page = _Texts(answer.text)
    assert not page.tags & {"script", "b", "img", "link", "iframe"}
    for text in (f"Command {command_id}", "✓ done", "shell", "nightly", HOSTILE, "<b>log</b> & more\n"):
        assert text in page.texts
    assert page.texts[-1].startswith("<script>alert(1)</script>")
    assert token not in answer.text


def test_a_page_says_how_long_its_command_took(
    shared_service: ServiceProcess, browser: httpx.Client, token: str
) -> None:
    command_id = shared_service.submit("true")["id"]
    record = shared_service.ended(command_id)
    page = _Texts(page_of(browser, token, command_id).text)
    start, end = (datetime.fromisoformat(record[name]) for name in ("started_at", "ended_at"))
    assert page.texts[page.texts.index("Took") + 1] == duration((end - start).total_seconds())


@pytest.fixture
def rows_of(shared_service: ServiceProcess, tmp_path: Path) -> Callable[[str], int]:
    """Return the id of a command that gave the rows of a query."""
    file = shared_service.data_dir / "storage" / f"{tmp_path.name}.db"
    file.parent.mkdir(exist_ok=True)
    sqlite3.connect(file).close()
    tap = {"name": f"page-{tmp_path.name}", "db_type": "sqlite", "db_name": str(file)}
    tap_id = shared_service.http.post("/db_taps", json=tap).json()["id"]

    def rows_of(query: str) -> int:
        body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap_id, "query": query}
        command_id: int = shared_service.http.post("/commands", json=body).json()["id"]
        shared_service.ended(command_id)
        return command_id

    return rows_of


def test_a_page_of_rows_shows_the_first_of_them(
    browser: httpx.Client, token: str, rows_of: Callable[[str], int]
) -> None:
    query = (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1000) "
        "SELECT n, '<i>' || n AS \"a<b\" FROM t"
    )
    page = _Texts(page_of(browser, token, rows_of(query)).text)
    assert "1,000 rows, of which 200 are shown" in page.texts
    place = page.texts.index("a<b")
    assert page.texts[place - 1 : place + 5] == ["n", "a<b", "1", "<i>1", "2", "<i>2"]
    assert page.texts[-2:] == ["200", "<i>200"]


def test_a_page_shows_a_row_that_is_empty(browser: httpx.Client, token: str, rows_of: Callable[[str], int]) -> None:
    query = "SELECT 'a' AS name UNION ALL SELECT '' UNION ALL SELECT 'c'"
    text = page_of(browser, token, rows_of(query)).text
    assert "<td>a</td></tr><tr><td></td></tr><tr><td>c</td></tr></table>" in text


def test_a_page_of_a_running_command_asks_again(
    shared_service: ServiceProcess, browser: httpx.Client, token: str
) -> None:
    command_id = shared_service.submit("sleep 60")["id"]
    try:
        answer = page_of(browser, token, command_id)
        assert answer.headers["Refresh"] == "5"
        assert {"◐ running", "◌ waiting"} & set(_Texts(answer.text).texts)
    finally:
        shared_service.http.put(f"/commands/{command_id}", json={"status": "kill"})


def test_a_page_wants_a_token_of_someone_who_may_read_the_command(
    shared_service: ServiceProcess, browser: httpx.Client, token: str, done: int
) -> None:
    for auth in (None, ("any", "wrong"), ("any", "")):
        answer = browser.get("/v2/analyze", params={"command_id": done}, auth=auth)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Basic realm=")
        assert "to the log" not in answer.text
    assert browser.get("/v2/analyze", params={"command_id": done}, headers={"X-AUTH-TOKEN": token}).status_code == 200
    for wrong in ("", "x", "0", str(2**63)):
        answer = browser.get("/v2/analyze", params={"command_id": wrong}, auth=("any", token))
        assert answer.status_code == 422
        assert "command_id must be the number of a command, as in /v2/analyze?command_id=7" in _Texts(answer.text).texts
    unknown = page_of(browser, token, 2**62)
    assert unknown.status_code == 404
    assert f"there is no command {2**62}" in _Texts(unknown.text).texts
