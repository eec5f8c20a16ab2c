"""The section "Notebooks": the service's notebooks and folders are browsed, moved, renamed, deleted and opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.lab_page import HIGH_CONTRAST, LabPage
from tests.support.service_process import ServiceProcess

HOSTILE = (
    "<img src=x onerror=document.title='broken'>.ipynb",
    "per%2ecent%2f.ipynb",
    "quo'te\".ipynb",
    "\N{PILE OF POO} 100%.ipynb",
)
_CELL = {"cell_type": "code", "id": "c", "execution_count": None, "metadata": {}, "outputs": [], "source": "40 + 2"}
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
NOTEBOOK = {"cells": [_CELL], "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}


class Tree:
    """The section's tree, in a directory of the service that one test has for itself."""

    def __init__(self, page: LabPage, service: ServiceProcess) -> None:
        self.page = page
        self.http = service.http
        self.root = f"Common/{page.name}"
        self.make("")

    def make(self, *paths: str) -> None:
        """Make directories, and notebooks where the name says so."""
        for path in paths:
            is_notebook = path.endswith(".ipynb")
            body: dict[str, Any] = {"type": "notebook", "content": NOTEBOOK} if is_notebook else {"type": "directory"}
            place = f"{self.root}/{path}".rstrip("/")
            self.http.put(f"/jupyter_notebooks/contents/{_quoted(place)}", json=body).raise_for_status()

    def remove(self, path: str) -> None:
        """Delete what is at a path, without the page knowing."""
        place = f"{self.root}/{path}".rstrip("/")
        self.http.delete(f"/jupyter_notebooks/contents/{_quoted(place)}").raise_for_status()

    def names(self, path: str = "") -> list[str]:
        """Return what the service has in a directory."""
        place = f"{self.root}/{path}".rstrip("/")
        answer = self.http.get(f"/jupyter_notebooks/contents/{_quoted(place)}").raise_for_status()
        return [child["name"] for child in answer.json()["content"]]

    def row(self, name: str) -> Locator:
        """The row of an item, by the name that it shows."""
        shown = self.page.page.get_by_text(name, exact=True)
        return self.page.panel.get_by_role("row").filter(has=shown)

    def open(self, *names: str) -> None:
        """Open folders one in the other, as one does with the keyboard; the first is in sight."""
        for name in names:
            self.row(name).click()
            if self.row(name).get_attribute("aria-expanded") == "false":
                self.press("ArrowRight")
            expect(self.row(name)).to_have_attribute("aria-expanded", "true")
            expect(self.page.panel.get_by_text("asking the service…")).to_have_count(0)

    def close(self, name: str) -> None:
        """Close a folder that is open, or is just about to be."""
        expect(self.row(name)).to_have_attribute("aria-expanded", "true")
        self.row(name).press("ArrowLeft")
        expect(self.row(name)).to_have_attribute("aria-expanded", "false")

    def put_back(self) -> None:
        """Open what is open at first and close what is not, for the next test in this page."""
        for name, is_open in (("Dashboards", False), ("Notes", False), ("Jupyter notebooks", True)):
            row = self.row(name)
            if row.is_visible() and row.get_attribute("aria-expanded") != str(is_open).lower():
                row.press("ArrowRight" if is_open else "ArrowLeft")

    def drag(self, name: str, to: str) -> None:
        """Drag an item onto another one by the mouse, with room for both: a list that scrolls under it moves others."""
        for title in ("Commands", "Schedules", "Clusters", "Data"):
            section = self.page.panel.get_by_role("button", name=title, exact=True)
            if section.get_attribute("aria-expanded") == "true":
                section.click()
        self.row(name).drag_to(self.row(to))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.page.keyboard.press(key)


@pytest.fixture
def tree(page: LabPage, service: ServiceProcess) -> Iterator[Tree]:
    """A tree whose directory is gone afterwards: in a full one the next test's would be out of sight."""
    tree = Tree(page, service)
    yield tree
    tree.remove("")
    tree.put_back()


def test_a_folder_is_moved_by_the_mouse_and_stays_when_the_service_refuses(tree: Tree) -> None:
    tree.make("here", "here/report.ipynb", "there", "there/here")
    tree.page.open()
    tree.open("Common", tree.page.name)
    tree.page.traffic.expect_errors(r"422")
    tree.drag("here", "there")
    expect(tree.page.panel.get_by_role("alert")).to_contain_text("there/here exists already")
    expect(tree.row("here")).to_have_attribute("aria-level", "4")
    assert sorted(tree.names()) == ["here", "there"]
    tree.remove("there/here")
    tree.drag("here", "there")
    expect(tree.row("there")).to_have_attribute("aria-expanded", "true")
    expect(tree.row("here")).to_have_attribute("aria-level", "5")
    assert tree.names() == ["there"]
    assert tree.names("there/here") == ["report.ipynb"]


def test_a_folder_is_moved_and_renamed_by_the_keyboard_alone(tree: Tree) -> None:
    tree.make("here", "here/report.ipynb", "there")
    tree.page.open()
    tree.open("Common", tree.page.name)
    tree.row(tree.page.name).press("ArrowRight")
    expect(tree.row("here")).to_be_focused()
    tree.press("Control+Shift+M")
    dialog = tree.page.dialog
    expect(dialog.get_by_role("row").filter(has_text=tree.page.name)).to_be_focused()
    expect(dialog.get_by_role("status")).to_contain_text("already")
    tree.press("ArrowRight")
    expect(dialog.get_by_role("row").filter(has_text="there")).to_be_visible()
    tree.press("ArrowRight", "ArrowDown")
    expect(dialog.get_by_role("status")).to_contain_text(f"with all that is in it into {tree.root}/there.")
    tree.press("Tab", "Tab", "Enter")
    expect(tree.row("here")).to_have_attribute("aria-level", "5")
    expect(tree.row("here")).to_be_focused()
    assert tree.names("there/here") == ["report.ipynb"]
    tree.press("F2")
    expect(dialog.get_by_role("textbox")).to_have_value("here")
    tree.press("Control+A")
    tree.page.page.keyboard.type("renamed")
    tree.press("Enter")
    expect(tree.row("renamed")).to_be_focused()
    assert tree.names("there") == ["renamed"]


def test_a_deletion_asks_once_by_name_and_its_answer_at_hand_is_no(tree: Tree) -> None:
    tree.make("old", "old/report.ipynb")
    tree.page.open()
    tree.open("Common", tree.page.name)
    tree.row("old").click()
    tree.press("Delete")
    expect(tree.page.dialog).to_contain_text(f"Delete folder {tree.root}/old?")
    expect(tree.page.dialog.get_by_role("button", name="No, leave it")).to_be_focused()
    tree.press("Enter")
    tree.page.dialog.wait_for(state="detached")
    assert tree.names() == ["old"]
    tree.press("Delete")
    tree.page.answer_dialog("Delete old")
    expect(tree.row("old")).to_have_count(0)
    expect(tree.row(tree.page.name)).to_be_focused()
    assert tree.names() == []


def test_hostile_names_are_text_and_lead_nowhere(tree: Tree) -> None:
    page = tree.page
    tree.make(*HOSTILE)
    page.open()
    tree.open("Common", page.name)
    for name in HOSTILE:
        tree.row(name).press("Enter")
        expect(page.page.locator(".lm-TabBar-tabLabel").get_by_text(name, exact=True)).to_be_visible()
        expect(page.notebook).to_contain_text("40 + 2")
        assert (page.folder / name).is_file()
        tree.row(name).press("Delete")
        page.answer_dialog(f"Delete {name}")
        expect(tree.row(name)).to_have_count(0)
    assert tree.names() == []
    assert "broken" not in page.page.title()
    page.traffic.expect_errors(r"422")
    tree.make("folder")
    page.panel.get_by_role("button", name="Refresh").last.click()
    tree.row("folder").press("F2")
    page.dialog.get_by_role("textbox").fill("../../Users")
    page.page.keyboard.press("Enter")
    expect(page.dialog).to_contain_text("begin with a dot")
    expect(page.dialog.get_by_role("textbox")).to_have_value("../../Users")
    page.page.keyboard.press("Escape")
    assert tree.names() == ["folder"]


def test_the_open_notebook_is_uploaded_as_it_is_on_the_screen_and_replaces_only_after_a_question(tree: Tree) -> None:
    page = tree.page
    page.write_notebook("report.ipynb", "first = 1")
    page.open("report.ipynb")
    tree.open("Common", page.name)
    upload = page.panel.get_by_role("button", name="Upload report.ipynb")
    upload.click()
    expect(tree.row("report.ipynb")).to_be_visible()
    page.notebook.locator(".cm-content").first.click()
    page.page.keyboard.type("second = 2; ")
    tree.row(page.name).click()
    upload.click()
    page.answer_dialog("No, leave it")
    path = _quoted(f"{tree.root}/report.ipynb")
    assert "second" not in tree.http.get(f"/jupyter_notebooks/contents/{path}").text
    upload.click()
    page.answer_dialog("Replace report.ipynb")
    expect(tree.row("report.ipynb")).to_have_attribute("aria-selected", "true")
    assert "second" in tree.http.get(f"/jupyter_notebooks/contents/{path}").text


def test_notes_lie_in_a_tree_of_their_own_and_what_a_deletion_takes_is_reported(
    tree: Tree, service: ServiceProcess
) -> None:
    page, name = tree.page, f"notes-{tree.page.name}"
    folder = {"name": name, "location": "Common", "type": "notes"}
    service.http.post("/folders", json=folder).raise_for_status()
    note = {"name": "late flights", "location": f"Common/{name}", "paragraphs": [{"text": "%sql\nselect 42"}]}
    service.http.post("/notebooks", json=note).raise_for_status()
    page.open()
    expect(tree.row("Common")).to_be_visible()
    tree.close("Jupyter notebooks")
    expect(tree.row("Common")).to_have_count(0)
    tree.open("Notes", "Common", name)
    tree.row("late flights").press("Enter")
    expect(page.notebook).to_contain_text("select 42")
    tree.row(name).press("Delete")
    expect(page.dialog).to_contain_text("takes 1 folder, 1 note, 0 dashboards")
    page.answer_dialog(f"Delete {name}")
    expect(tree.row(name)).to_have_count(0)


def test_a_note_is_made_in_a_folder_and_a_dashboard_of_a_note(tree: Tree, service: ServiceProcess) -> None:
    page, name = tree.page, f"notes-{tree.page.name}"
    folder = {"name": name, "location": "Common", "type": "notes"}
    service.http.post("/folders", json=folder).raise_for_status()
    page.open()
    tree.close("Jupyter notebooks")
    tree.open("Notes", "Common")
    _from_menu(tree, name, "New note…", without="New dashboard…")
    expect(page.dialog).to_contain_text(f"New note in Common/{name}")
    page.dialog.get_by_role("textbox").fill("delays")
    page.answer_dialog("Ok")
    expect(page.notebook).to_be_visible()
    expect(tree.row("delays")).to_have_attribute("aria-selected", "true")

    _from_menu(tree, "delays", "New dashboard…", without="New note…")
    expect(page.dialog).to_contain_text(f"New dashboard of Common/{name}/delays in Users/")
    expect(page.dialog.get_by_role("textbox")).to_have_value("delays")
    dashboard = f"delays of {page.name}"
    page.dialog.get_by_role("textbox").fill(dashboard)
    page.answer_dialog("Ok")
    expect(tree.row(dashboard)).to_have_attribute("aria-selected", "true")
    own = {"type": "notebook_dashboards", "location": "Users/admin@localhost"}
    made = service.http.get("/folders", params=own).json()["notebook_dashboards"]
    (note,) = service.http.get("/folders", params={"type": "notes", "location": f"Common/{name}"}).json()["notes"]
    assert {one["name"]: one["note_id"] for one in made}[dashboard] == note["id"]
    service.http.request("DELETE", "/folders/delete", json={"location": f"Common/{name}", "type": "notes"})


def _from_menu(tree: Tree, name: str, entry: str, *, without: str) -> None:
    """Choose an entry of an item's menu, which has another one not."""
    tree.row(name).click(button="right")
    entries = tree.page.page.locator(".lm-Menu-item")
    expect(entries.filter(has_text=entry)).to_be_visible()
    expect(entries.filter(has_text=without)).to_be_hidden()
    entries.filter(has_text=entry).click()


def test_a_note_is_saved_back_and_what_somebody_else_wrote_is_overwritten_only_when_asked_for(
    tree: Tree, service: ServiceProcess
) -> None:
    page, name = tree.page, f"note of {tree.page.name}"
    note = {"name": name, "location": "Common", "paragraphs": [{"id": "p", "text": "%sql\nselect 42"}]}
    address = f"/notebooks/{service.http.post('/notebooks', json=note).json()['id']}"
    page.traffic.expect_errors("409")
    page.open()
    tree.close("Jupyter notebooks")
    tree.open("Notes", "Common")
    tree.row(name).press("Enter")
    told = page.page.locator(".Toastify__toast")

    _write(page, "first ")
    expect(told.filter(has_text=f"The note {name} is saved in the service.")).to_be_visible()
    assert "first select 42" in service.http.get(address).json()["paragraphs"][0]["text"]

    other = {"paragraphs": [{"id": "p", "text": "%sql\nselect 'of somebody else'"}]}
    service.http.put(address, json=other).raise_for_status()
    _write(page, "second ")
    conflict = told.filter(has_text="was changed meanwhile")
    conflict.get_by_role("button", name="Open what it says now").click()
    expect(page.notebook).to_contain_text("of somebody else")
    page.run("application:activate-previous-tab")
    _write(page, "third ")
    told.filter(has_text="was changed meanwhile").get_by_role("button", name="Save over it").click()
    expect(told.filter(has_text=f"The note {name} is saved in the service.")).to_be_visible()
    assert "third second first select 42" in service.http.get(address).json()["paragraphs"][0]["text"]


def test_the_search_finds_what_no_folder_was_opened_for(tree: Tree, service: ServiceProcess) -> None:
    page, name = tree.page, f"late {tree.page.name}"
    tree.make("year", "year/day", f"year/day/{name}.ipynb", "year/day/early.ipynb", f"year/{name}", f"year/{name}/all")
    folder = {"name": f"notes-{page.name}", "location": "Common", "type": "notes"}
    service.http.post("/folders", json=folder).raise_for_status()
    note = {"name": f"{name} note", "location": f"Common/{folder['name']}", "paragraphs": [{"text": f"%md x{name}x"}]}
    service.http.post("/notebooks", json=note).raise_for_status()
    page.open()
    expect(tree.row("Common")).to_be_visible()
    search = page.panel.get_by_role("searchbox")
    search.fill(name.upper())
    for shown in ("year", "day", f"{name}.ipynb", name, "Notes", folder["name"], f"{name} note"):
        expect(tree.row(shown)).to_be_visible()
    expect(tree.row("early.ipynb")).to_have_count(0)
    tree.open(name)
    expect(tree.row("all")).to_be_visible()
    tree.close(name)
    expect(tree.row("all")).to_have_count(0)

    tree.row(f"{name}.ipynb").press("F2")
    page.dialog.get_by_role("textbox").fill(f"{name} again.ipynb")
    tree.press("Enter")
    expect(tree.row(f"{name} again.ipynb")).to_have_attribute("aria-selected", "true")
    assert tree.names("year/day") == ["early.ipynb", f"{name} again.ipynb"]
    tree.row(f"{name} again.ipynb").press("Enter")
    expect(page.notebook).to_contain_text("40 + 2")

    search.fill(f"x{name}x")
    expect(tree.row(name)).to_have_count(0)
    expect(tree.row(f"{name} note")).to_be_visible()

    search.fill("no-such-thing")
    nothing = "No notebook, note, dashboard or folder has “no-such-thing” in its name or text."
    expect(page.panel).to_contain_text(nothing)
    search.press("Escape")
    expect(tree.row("Common")).to_be_visible()
    expect(tree.row("year")).to_have_count(0)


def test_an_open_folder_stays_open_after_a_reload_and_an_empty_folder_is_labelled(
    own_page: LabPage, service: ServiceProcess
) -> None:
    tree = Tree(own_page, service)
    tree.make("empty")
    tree.page.open()
    kept = f"{tree.root}/empty"
    with tree.page.page.expect_response(lambda answer: kept in (answer.request.post_data or "")):
        tree.open("Common", tree.page.name, "empty")
    expect(tree.row("nothing in it")).to_be_visible()
    tree.page.reload()
    expect(tree.row("empty")).to_have_attribute("aria-expanded", "true")
    tree.remove("")


def test_notebooks_that_are_switched_off_say_so_and_can_be_tried_again(
    tree: Tree, service: ServiceProcess, request: pytest.FixtureRequest
) -> None:
    switch = _switch(service)
    request.addfinalizer(lambda: switch(is_on=True))
    switch(is_on=False)
    tree.page.traffic.expect_errors(r"403")
    tree.page.open()
    refused = tree.page.panel.get_by_role("row").filter(has_text="try again")
    expect(refused).to_contain_text("switch")
    switch(is_on=True)
    refused.press("Enter")
    expect(tree.row("Common")).to_be_visible()


def test_the_section_is_accessible_in_high_contrast(tree: Tree) -> None:
    tree.make("folder", "folder/report.ipynb")
    tree.page.open(theme=HIGH_CONTRAST)
    tree.open("Common", tree.page.name, "folder")
    expect(tree.row("report.ipynb")).to_be_visible()
    tree.page.narrow_the_sidebar()
    assert tree.page.accessibility_findings(".jp-SvcContents") == []
    tree.row("report.ipynb").press("Control+Shift+M")
    tree.page.dialog.wait_for()
    assert tree.page.accessibility_findings(".jp-Dialog") == []
    tree.press("Escape")


def _write(page: LabPage, text: str) -> None:
    """Type a text at the end of the magic's line of the open notebook's first cell, and save."""
    editor = page.notebook.locator(".jp-CodeCell .cm-content").first
    editor.click()
    for key in ("Control+Home", "ArrowDown", "Home"):
        page.page.keyboard.press(key)
    page.page.keyboard.type(text)
    page.page.keyboard.press("Control+S")


def _switch(service: ServiceProcess) -> Callable[..., None]:
    def switch(*, is_on: bool) -> None:
        service.http.put("/account/features", json={"jupyter_notebooks": is_on}).raise_for_status()

    return switch


def _quoted(path: str) -> str:
    return quote(path, safe="/@")
