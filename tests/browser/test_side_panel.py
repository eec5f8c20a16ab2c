"""The side panel itself: what it asks while nobody looks, what it remembers, how another service is entered."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect
from tests.browser.conftest import switch_on
from tests.browser.lab_page import LabPage
from tests.browser.lab_process import LabProcess
from tests.support.service_process import ServiceProcess

TEN_MINUTES = 600_000


def test_a_hidden_panel_asks_nothing_while_nothing_is_under_way(
    new_service: Callable[..., ServiceProcess],
    new_lab: Callable[..., LabProcess],
    new_page: Callable[..., LabPage],
) -> None:
    service = new_service().start()
    switch_on(service)
    page = new_page(new_lab(service))
    page.page.clock.install()
    page.open()
    tree = page.panel.get_by_role("treegrid", name="Notebooks")
    expect(tree).to_contain_text("Users/")  # all that is read once has been read
    with page.page.expect_request("**/svc-jupyter/api/commands*"):
        page.page.clock.fast_forward(10_000)
    page.run("application:toggle-left-area")
    page.panel.wait_for(state="hidden")
    hear_of_all_requests(page)
    before = len(page.traffic.to_the_extension())
    page.page.clock.fast_forward(TEN_MINUTES)
    hear_of_all_requests(page)
    assert [request.url for request in page.traffic.to_the_extension()[before:]] == []
    with page.page.expect_request("**/svc-jupyter/api/commands*"):
        page.show_panel()


def hear_of_all_requests(page: LabPage) -> None:
    """Return once the test knows of everything that the page has asked for by now: requests are told in their order."""
    with page.page.expect_request("**/static/heard"):
        page.page.evaluate("() => void fetch('static/heard')")


def test_a_closed_section_is_closed_after_a_reload_and_opens_by_the_keyboard(own_page: LabPage) -> None:
    page = own_page
    page.open()
    title = page.panel.get_by_role("button", name="Clusters", exact=True)
    expect(title).to_have_attribute("aria-expanded", "true")
    with page.page.expect_response(lambda answer: '"collapsed":["clusters"]' in (answer.request.post_data or "")):
        title.press("Enter")
    expect(title).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(page.panel.get_by_text("connected ·")).to_be_visible()
    expect(title).to_have_attribute("aria-expanded", "false")
    title.press("Enter")
    expect(title).to_have_attribute("aria-expanded", "true")


def test_another_service_is_entered_and_its_token_stays_in_the_server(
    service: ServiceProcess, new_lab: Callable[..., LabProcess], new_page: Callable[..., LabPage]
) -> None:
    lab = new_lab(service, SvcJupyterServer={"profile": "mine"})
    page = new_page(lab)
    page.traffic.expect_errors("401|503")
    page.open()
    expect(page.panel).to_contain_text("There is no [profiles.mine]")
    form = page.panel.get_by_role("form", name="Another service")
    form.get_by_label("Address of the service").fill(service.base_url)
    form.get_by_label("Token").fill("not-the-token")
    form.get_by_role("button", name="Connect").click()
    expect(page.panel.get_by_role("alert")).to_contain_text("token")
    expect(form.get_by_label("Token")).to_have_value("")
    form.get_by_label("Token").fill(service.token)
    form.get_by_role("button", name="Connect").click()
    expect(page.panel.get_by_text("connected ·")).to_be_visible()
    expect(form).to_be_hidden()
    assert service.token not in page.page.content()
    assert service.token in (lab.folder / "home" / ".config" / "svc-jupyter" / "config.toml").read_text()


def test_sections_whose_code_did_not_come_are_loaded_by_trying_again(own_page: LabPage) -> None:
    page = own_page
    page.traffic.expect_errors("ChunkLoadError|ERR_FAILED")
    page.open(panel=False)
    code = "**/svc-jupyter-labextension/static/*.js*"
    page.page.route(code, lambda route: route.abort())
    page.show_panel()
    commands = page.panel.get_by_role("region", name="Commands")
    expect(commands.get_by_role("alert")).to_contain_text("The Jupyter server did not send this part.")
    again = page.panel.get_by_role("button", name="Try again")
    # Each section, and the filter in the bar of the commands.
    expect(again).to_have_count(6)
    again.first.click()
    expect(again).to_have_count(6)
    page.page.unroute(code)
    for left in range(5, -1, -1):
        again.first.click()
        expect(again).to_have_count(left)
    expect(page.panel.get_by_role("treegrid", name="Notebooks")).to_contain_text("Users/")
