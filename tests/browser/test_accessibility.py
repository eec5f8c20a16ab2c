"""Every view as axe sees it, light, dark and in high contrast; the sidebar is as narrow as it can be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.browser import views
from tests.browser.lab_page import DARK, HIGH_CONTRAST, LIGHT, LabPage
from tests.support.service_process import ServiceProcess

_PANEL = "#svc-jupyter-panel"
_THEMES = (LIGHT, DARK, HIGH_CONTRAST)


@pytest.fixture(scope="module")
def ids(service: ServiceProcess) -> Iterator[dict[str, int]]:
    ids = views.furnish(service)
    yield ids
    views.clear(service, ids)


def test_no_view_has_a_serious_finding(page: LabPage, ids: dict[str, int]) -> None:
    page.open()
    page.traffic.expect_errors("removeChild")  # JupyterLab takes its splash away twice when themes follow each other
    page.narrow_the_sidebar()
    found = {}
    for name, view in views.VIEWS.items():
        view(page, ids)
        ours = [_PANEL] if name in ("panel", "notebook") else [_PANEL, views.MAIN_AREA]
        for theme in _THEMES:
            page.run("apputils:change-theme", theme=theme)
            found[name, theme] = page.accessibility_findings(*ours)
    assert {place: findings for place, findings in found.items() if findings} == {}
