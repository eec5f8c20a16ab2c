"""The service's token is nowhere in the browser, and no other page can use the way to the service."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser import views
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.traffic import Traffic
from tests.support.service_process import ServiceProcess

_ELSEWHERE = "http://127.0.0.1:59999/"
"""Another origin of the same machine: a browser sends it the cookies of all the machine's servers."""
_STORES = """async () => {
  const stores = { local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie };
  for (const { name } of await indexedDB.databases()) {
    const db = await new Promise(done => { indexedDB.open(name).onsuccess = event => done(event.target.result); });
    for (const store of db.objectStoreNames) {
      const all = db.transaction(store).objectStore(store).getAll();
      stores[`${name} ${store}`] = await new Promise(done => { all.onsuccess = () => done(all.result); });
    }
    db.close();
  }
  return JSON.stringify(stores);
}"""


def test_the_token_is_nowhere_in_the_browser(
    new_page: Callable[..., LabPage], lab: LabProcess, service: ServiceProcess, tmp_path: Path
) -> None:
    archive = tmp_path / "all.har"
    page = new_page(lab, record_har_path=archive, record_har_url_filter=re.compile(r"^(?!.*/static/)"))
    ids = views.furnish(service)
    page.open()
    for view in views.VIEWS.values():
        view(page, ids)
    views.clear(service, ids)
    stored = page.page.evaluate(_STORES)
    shown = page.page.content()
    page.page.context.close()  # writes the archive of all requests and answers
    talk = archive.read_text()
    assert "/svc-jupyter/api/commands" in talk
    assert "nightly load" in talk
    assert "nightly load" in shown
    assert "jupyterlab" in stored.lower()
    for place in (talk, stored, shown, str(page.traffic.frames), lab.log_file.read_text()):
        assert service.token not in place


@pytest.mark.parametrize(
    "request_options",
    [
        {"method": "GET", "credentials": "include"},
        {"method": "POST", "credentials": "include", "mode": "no-cors", "body": "{}"},
        {"method": "DELETE", "credentials": "include"},
    ],
    ids=lambda options: options["method"],
)
def test_a_page_of_another_origin_is_refused(page: LabPage, lab: LabProcess, request_options: dict[str, Any]) -> None:
    page.open(panel=False)
    elsewhere = page.page.context.new_page()  # with the cookies of somebody who has Lab open
    traffic = Traffic(elsewhere)
    elsewhere.route(f"{_ELSEWHERE}**", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    elsewhere.goto(_ELSEWHERE)
    answer = elsewhere.evaluate(
        "([url, options]) => fetch(url, options).then(answer => answer.text(), error => error.name)",
        [f"{lab.base_url}svc-jupyter/api/folders?location=Common&type=notes", request_options],
    )
    assert answer in ("TypeError", "")
    traffic.expect_errors("blocked by CORS|403|ERR_FAILED")
    assert traffic.unexpected_errors == []
    statuses = [response.status for response in traffic.responses if "/svc-jupyter/api/folders" in response.url]
    assert not [status for status in statuses if status < 400 and request_options["method"] != "GET"]
    elsewhere.close()
