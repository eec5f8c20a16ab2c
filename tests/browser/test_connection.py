"""What the side panel says and does without the service, and with the wrong token."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect
from tests.browser.conftest import switch_on
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.browser.views import row_with
from tests.support.ports import free_port
from tests.support.service_process import ServiceProcess

_BACK_SECONDS = 60.0
"""It looks again after at most 30 s while there is no connection."""
_CUT_OFF = """panel => [...panel.querySelectorAll('*')].filter(
  one => one.offsetHeight > 1 && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline'
).map(one => one.outerHTML)"""


def test_a_service_that_stops_is_reported_and_found_again_without_a_press(
    new_service: Callable[..., ServiceProcess],
    new_lab: Callable[..., LabProcess],
    new_page: Callable[..., LabPage],
) -> None:
    port = str(free_port())
    service = new_service().start("--port", port)
    switch_on(service)
    service.submit("echo hi", name="before the stop")
    page = new_page(new_lab(service))
    page.traffic.expect_errors("50[23]")
    page.open()
    expect(page.panel).to_contain_text("connected · ")
    row_with(page, "before the stop").wait_for()

    service.kill()
    expect(page.panel).to_contain_text("not connected", timeout=_BACK_SECONDS * 1000)
    expect(page.panel).to_contain_text(service.base_url)
    assert page.accessibility_findings("#svc-jupyter-panel") == []

    service.start("--port", port)
    service.submit("echo hi", name="after the start")
    expect(row_with(page, "after the start")).to_be_visible(timeout=_BACK_SECONDS * 1000)


def test_a_refused_token_of_the_environment_is_reported_without_a_form_that_cannot_work(
    service: ServiceProcess, new_lab: Callable[..., LabProcess], new_page: Callable[..., LabPage]
) -> None:
    page = new_page(new_lab(service, token="not-a-token-of-this-service"))
    page.open()
    expect(page.panel).to_contain_text("not connected")
    with service.client("not-a-token-of-this-service") as stranger:
        words = stranger.get("/account").json()["error"]["error_message"]
    expect(page.panel).to_contain_text(f"The token of SVC_API_TOKEN is refused: {words}.")
    expect(page.panel).to_contain_text("SVC_BASE_URL in the environment of the Jupyter server sets the address.")
    expect(page.panel).not_to_contain_text("Enter another one below")
    expect(page.panel.get_by_role("form")).to_have_count(0)
    page.narrow_the_sidebar()
    assert page.panel.evaluate(_CUT_OFF) == []
    assert page.traffic.to_the_extension("commands") == []
