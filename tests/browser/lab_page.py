"""A page of JupyterLab, in the words of a person who uses it."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from axe_playwright_python.sync_playwright import Axe
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Error, Locator, Page, ViewportSize, expect
from tests.browser.lab_process import LabProcess
from tests.browser.traffic import Traffic
from tests.server.jupyter_process import TOKEN

SECONDS = 60.0
"""How long something may take on a busy machine before a test calls it missing."""
LIGHT, DARK, HIGH_CONTRAST = "JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"
_PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
_AXE = Axe().axe_script
_DONE = re.compile(r"\[\d+\]:")
_SIDEBAR_AT_ITS_LEAST = 150
"""Where its edge is dragged to; it becomes 250 pixels wide, and is folded up from half of that on."""
WINDOW: ViewportSize = {"width": 1280, "height": 800}
_CLEAR = """async () => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute('apputils:dismiss-notification');
  const open = [...shell.widgets('main'), ...shell.widgets('down')];
  for (const isVisible of [false, true]) {
    open.filter(widget => widget.isVisible === isVisible && !widget.isDisposed).forEach(widget => widget.dispose());
  }
  shell.activateById('filebrowser');
  document.querySelectorAll('.jp-SvcSection-title[aria-expanded=false]').forEach(title => title.click());
}"""
"""Away with all tabs, saved or not, and with all toasts; the panel with its sections open is behind another one.

The tabs in sight go last: one that comes into sight for a moment makes Lab lay out a toolbar that is gone.
"""
_BEGIN = """async ([folder, notebook, theme]) => {
  const { commands, shell } = window.jupyterapp;
  await commands.execute('filebrowser:go-to-path', { path: folder, dontShowBrowser: true });
  if (document.body.dataset.jpThemeName !== theme) { await commands.execute('apputils:change-theme', { theme }); }
  const before = [...shell.widgets('main')];
  await (notebook === null
    ? commands.execute('launcher:create', { cwd: folder })
    : commands.execute('docmanager:open', { path: `${folder}/${notebook}` }));
  before.forEach(widget => widget.dispose());
}"""
"""What a new page begins with: the folder in the file browser, and a launcher or a notebook alone in the main area."""
_numbers = itertools.count(1)
expect.set_options(timeout=SECONDS * 1000)


class LabPage:
    """One browser page with a folder of its own, and with a workspace where it is new."""

    def __init__(self, page: Page, lab: LabProcess) -> None:
        self.lab = lab
        self.name = f"test-{os.getpid()}-{next(_numbers)}"
        self.folder = lab.root / self.name
        self.folder.mkdir(parents=True)
        self.page = page
        self.page.set_default_timeout(SECONDS * 1000)
        self.traffic = Traffic(self.page)
        self._edge_at_first: float | None = None

    # ------------------------------------------------------------------------------------------------- opening

    def open(self, notebook: str | None = None, *, theme: str = LIGHT, panel: bool = True) -> LabPage:
        """Open Lab in this test's folder, with one of its notebooks and with the side panel "Service".

        A page with Lab in it, which `clear` has cleared, is not loaded again, which would cost seconds.
        """
        self.lab.change_setting("@jupyterlab/apputils-extension:themes", theme=theme)
        is_kept = self.has_lab
        if is_kept:
            self.page.evaluate(_BEGIN, [self.name, notebook, theme])
            expect(self.page.locator(f"body[data-jp-theme-name='{theme}']")).to_be_attached()
            self.page.locator("#jupyterlab-splash").wait_for(state="detached")
        else:
            path = self.name if notebook is None else f"{self.name}/{notebook}"
            self.page.goto(f"{self.lab.base_url}lab/workspaces/{self.name}/tree/{path}?reset&token={TOKEN}")
            self.wait_until_restored()
        if notebook is None:
            # It comes once the file browser is in the folder, and takes the keyboard from whoever has it by then.
            expect(self.page.locator(".jp-Launcher")).to_be_focused()
        else:
            self.notebook.wait_for()
        if panel:
            self.show_panel()
        if panel and is_kept:
            # A list stays where another test has scrolled it, and has only the rows in sight.
            self.panel.locator(".jp-SvcList").evaluate_all("lists => lists.forEach(list => { list.scrollTop = 0; })")
            self.panel.locator(".jp-SvcHeader").get_by_role("button", name="Refresh").click()
        return self

    @property
    def has_lab(self) -> bool:
        """Whether Lab is in the page already."""
        return bool(self.page.evaluate("window.jupyterapp !== undefined"))

    def clear(self) -> None:
        """Put Lab back in order for another test: nothing is open, and the panel is hidden, so that it asks nothing."""
        self.page.unroute_all()
        if self._edge_at_first is not None:
            self._drag_the_edge(self._edge_at_first)
        self.page.set_viewport_size(WINDOW)
        if self.has_lab:
            self.page.evaluate(_CLEAR)

    def reload(self) -> LabPage:
        """Load a page that was new again, as a person does: the layout comes back."""
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

    def text_of_panel(self) -> str:
        """The words in the side panel now, or why the page does not tell them."""
        try:
            return "\n".join(self.panel.all_inner_texts())
        except Error as error:
            return error.message

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

    def accessibility_findings(self, *selectors: str, rules: Sequence[str] = ()) -> list[str]:
        """Return axe's findings of every grade within the elements of these selectors, by default of all its rules."""
        options: dict[str, Any] = {"resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = {"type": "rule", "values": list(rules)}
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(_AXE)
        violations = self.page.evaluate(
            "async ([context, options]) => (await axe.run(context, options)).violations",
            [{"include": [[selector] for selector in selectors]}, options],
        )
        return [
            f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html'][:300]}"
            for violation in violations
            for node in violation["nodes"]
        ]

    def narrow_the_sidebar(self) -> None:
        """Drag the left sidebar's edge to the left, as far as Lab lets it."""
        self._edge_at_first = self._drag_the_edge(_SIDEBAR_AT_ITS_LEAST)

    def _drag_the_edge(self, to: float) -> float:
        """Drag the left sidebar's edge to a place in pixels from the left; return where it was."""
        handle = self.page.locator("#jp-main-split-panel > .lm-SplitPanel-handle:not(.lm-mod-hidden)").first
        box = handle.bounding_box()
        assert box is not None
        middle = box["x"] + box["width"] / 2
        self.page.mouse.move(middle, box["y"] + 200)
        self.page.mouse.down()
        self.page.mouse.move(to, box["y"] + 200, steps=5)
        self.page.mouse.up()
        return middle
