"""Every view as axe sees it: light, dark, in high contrast, and narrow with a sidebar as narrow as it can be.

And a view that opens first has its own styles.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.browser import views
from tests.browser.lab_page import DARK, HIGH_CONTRAST, LIGHT, LabPage
from tests.support.service_process import ServiceProcess

_PANEL = "#svc-jupyter-panel"
_OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe about colours: a theme changes nothing else, so in the others the rest would be found again."""
_THEMES: dict[str, tuple[str, ...]] = {LIGHT: (), DARK: _OF_COLOURS, HIGH_CONTRAST: _OF_COLOURS}


@pytest.fixture(scope="module")
def ids(service: ServiceProcess) -> Iterator[dict[str, int]]:
    ids = views.furnish(service)
    yield ids
    views.clear(service, ids)


@pytest.mark.parametrize("width", [1360, 700])
def test_no_view_has_a_finding_of_any_grade(page: LabPage, ids: dict[str, int], width: int) -> None:
    page.page.set_viewport_size({"width": width, "height": 850})
    page.open()
    if width < 1000:
        page.narrow_the_sidebar()
    found = {}
    for theme, rules in _THEMES.items():
        page.run("apputils:change-theme", theme=theme)
        for name, view in views.VIEWS.items():
            view(page, ids)
            ours = [_PANEL] if name in ("panel", "notebook") else [_PANEL, views.MAIN_AREA]
            found[name, theme] = page.accessibility_findings(*ours, rules=rules)
        # It would stand beside the views of the next theme.
        page.page.get_by_role("form", name="Schedule report.ipynb").get_by_role("button", name="Cancel").click()
    assert {place: findings for place, findings in found.items() if findings} == {}


def test_both_runs_of_a_comparison_are_in_view_although_nothing_else_was_opened(
    page: LabPage, ids: dict[str, int]
) -> None:
    page.open()
    shown = views.comparison(page, ids)
    for side in shown.locator(".jp-SvcComparison-sides > *").all():
        expect(side).to_be_in_viewport(ratio=1)
        expect(side).to_contain_text("✓ done · command")
    box = shown.locator(".jp-SvcComparison-sides").bounding_box()
    assert box is not None
    assert box["height"] < 60
    expect(shown.locator(".jp-SvcLines td").first).to_have_css("white-space", "pre-wrap")
