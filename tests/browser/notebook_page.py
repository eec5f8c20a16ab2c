"""A page of Notebook 7, in the words of a person who uses it."""

from __future__ import annotations

from playwright.sync_api import Locator
from tests.browser.lab_page import LIGHT, LabPage
from tests.server.jupyter_process import TOKEN


class NotebookPage(LabPage):
    """One page of Notebook 7 with a folder of its own: a notebook, or the list of files."""

    def open(self, notebook: str | None = None, *, theme: str = LIGHT, panel: bool = True) -> NotebookPage:
        """Open a notebook, or the list of the files in this test's folder, and the side panel "Service"."""
        self.lab.change_setting("@jupyterlab/apputils-extension:themes", theme=theme)
        path = f"tree/{self.name}" if notebook is None else f"notebooks/{self.name}/{notebook}"
        self.page.goto(f"{self.lab.base_url}{path}?token={TOKEN}")
        self.wait_until_restored()
        (self.files if notebook is None else self.notebook).wait_for()
        if panel:
            self.show_panel()
        return self

    @property
    def files(self) -> Locator:
        """The list of files."""
        return self.page.locator(".jp-DirListing-content")
