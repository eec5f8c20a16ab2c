"""What is left behind when a page is left: it comes back, however short before it was made."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.lab_page import LabPage


def test_a_view_that_was_opened_a_moment_ago_comes_back_after_a_reload(own_page: LabPage) -> None:
    page = own_page
    page.open()
    cluster = page.panel.get_by_role("grid", name="Clusters").get_by_role("row").filter(has_text="presto")
    cluster.click()
    view = page.page.get_by_role("article")
    expect(view).to_be_visible()
    page.reload()
    expect(view.get_by_role("heading")).to_have_text("presto")
    expect(view.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_a_section_that_was_folded_a_moment_ago_is_folded_after_a_reload(own_page: LabPage) -> None:
    page = own_page
    page.open()
    expect(page.panel.get_by_text("connected ·")).to_be_visible()
    title = page.panel.get_by_role("button", name="Clusters", exact=True)
    expect(title).to_have_attribute("aria-expanded", "true")
    title.press("Enter")
    expect(title).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(page.panel.get_by_text("connected ·")).to_be_visible()
    expect(title).to_have_attribute("aria-expanded", "false")
