"""A page of JupyterLab, in the words of a person who uses it."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import Any

import nbformat
from axe_playwright_python.sync_playwright import Axe
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import BrowserContext, Locator, Page, expect
from tests.browser.lab_process import LabProcess
from tests.browser.traffic import Traffic
from tests.server.jupyter_process import TOKEN

SECONDS = 60.0
"""How long something may take on a busy machine before a test calls it missing."""
LIGHT, DARK, HIGH_CONTRAST = "JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"
_PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
_DONE = re.compile(r"\[\d+\]:")
_SIDEBAR_AT_ITS_LEAST = 150
"""Where its edge is dragged to; it becomes 250 pixels wide, and is folded up from half of that on."""
_numbers = itertools.count(1)
expect.set_options(timeout=SECONDS * 1000)


class LabPage:
    """One browser page with a folder and a workspace of its own."""

    def __init__(self, context: BrowserContext, lab: LabProcess) -> None:
        self.lab = lab
        self.name = f"test-{os.getpid()}-{next(_numbers)}"
        self.folder = lab.root / self.name
        self.folder.mkdir(parents=True)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(SECONDS * 1000)
        self.traffic = Traffic(self.page)

    # ------------------------------------------------------------------------------------------------- opening

    def open(self, notebook: str | None = None, *, theme: str = LIGHT, panel: bool = True) -> LabPage:
        """Open Lab in this test's folder, with one of its notebooks and with the side panel "Service"."""
        path = self.name if notebook is None else f"{self.name}/{notebook}"
        self.lab.change_setting("@jupyterlab/apputils-extension:themes", theme=theme)
        self.page.goto(f"{self.lab.base_url}lab/workspaces/{self.name}/tree/{path}?reset&token={TOKEN}")
        self.wait_until_restored()
        if notebook is None:
            # It comes once the file browser is in the folder, and takes the keyboard from whoever has it by then.
            expect(self.page.locator(".jp-Launcher")).to_be_focused()
        else:
            self.notebook.wait_for()
        if panel:
            self.show_panel()
        return self

    def reload(self) -> LabPage:
        """Load the page again, as a person does: the layout comes back."""
        self.page.goto(f"{self.lab.base_url}lab/workspaces/{self.name}")
        self.wait_until_restored()
        return self

    def wait_until_restored(self) -> None:
        """Wait until Lab has started and has put its widgets back."""
        self.page.wait_for_function("window.jupyterapp?.restored !== undefined")
        self.page.evaluate("window.jupyterapp.restored.then(() => undefined)")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def show_panel(self) -> Locator:
        """Show the side panel "Service" and return it."""
        self.page.evaluate("window.jupyterapp.shell.activateById('svc-jupyter-panel')")
        self.panel.wait_for()
        return self.panel

    # --------------------------------------------------------------------------------------------------- parts

    @property
    def panel(self) -> Locator:
        """The side panel "Service"."""
        return self.page.locator("#svc-jupyter-panel")

    @property
    def notebook(self) -> Locator:
        """The notebook that is visible in the main area."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")

    @property
    def dialog(self) -> Locator:
        """The modal question that stands open."""
        return self.page.locator(".jp-Dialog")

    def answer_dialog(self, button: str) -> None:
        """Answer the modal question by the button of this name."""
        self.dialog.get_by_role("button", name=button, exact=True).click()
        self.dialog.wait_for(state="detached")

    # ------------------------------------------------------------------------------------------------- actions

    def write_notebook(self, name: str, *cells: str | NotebookNode) -> Path:
        """Save a notebook of Python in this test's folder; a text is the source of a code cell."""
        nodes = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        file = self.folder / name
        file.write_text(nbformat.writes(new_notebook(cells=nodes, metadata={"kernelspec": _PYTHON})))
        return file

    def run(self, command: str, **arguments: Any) -> None:
        """Execute one of Lab's commands by its id, and wait until it is done."""
        self.page.evaluate(
            "([id, args]) => window.jupyterapp.commands.execute(id, args).then(() => undefined)", [command, arguments]
        )

    def wait_for_kernel(self) -> None:
        """Wait until the open notebook has a kernel that answers."""
        self.page.evaluate(
            "async () => { const context = window.jupyterapp.shell.currentWidget.sessionContext;"
            " await context.ready; await context.session.kernel.info; }"
        )

    def run_cell(self, number: int, *, wait: bool = True) -> Locator:
        """Run a cell of the open notebook, from 0; return its outputs, by default as soon as it is done."""
        self.wait_for_kernel()  # a cell that is run before its notebook has one is not run at all
        cell = self.notebook.locator(".jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        if wait:
            expect(cell.locator(".jp-InputPrompt")).to_have_text(_DONE, timeout=SECONDS * 1000)
        return cell.locator(".jp-OutputArea")

    # -------------------------------------------------------------------------------------------------- checks

    def accessibility_findings(self, *selectors: str) -> list[str]:
        """Return axe's serious and critical findings within the elements of these selectors."""
        found = Axe().run(self.page, context={"include": [[selector] for selector in selectors]})
        return [
            f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html'][:300]}"
            for violation in found.response["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]

    def narrow_the_sidebar(self) -> None:
        """Drag the left sidebar's edge to the left, as far as Lab lets it."""
        handle = self.page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:not(.lm-mod-hidden)").first
        box = handle.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 200)
        self.page.mouse.down()
        self.page.mouse.move(_SIDEBAR_AT_ITS_LEAST, box["y"] + 200, steps=5)
        self.page.mouse.up()
