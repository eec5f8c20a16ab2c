"""The folder browser's widgets, pressed as a front end presses them, with a real service behind."""

import threading

import pytest
from ipywidgets.widgets.widget import _instances
from tests.support.bare_front import BareFront
from tests.support.displayed import mime_bundle_of
from tests.support.service_process import wait_until
from tests.support.workplace import Workplace
from tests.widgets.conftest import ONE_TRY
from tests.widgets.screen import Screen, finish

from svc_jupyter.client import Client
from svc_jupyter.widgets.folders.model import open_folders
from svc_jupyter.widgets.folders.panel import FolderPanel


@pytest.fixture
def workplace(shared_service):
    place = Workplace(shared_service)
    yield place
    place.close()


@pytest.fixture
def front(shared_service):
    """What the browser talks to: the service, which a test can hold up, and let refuse."""
    with BareFront(shared_service.base_url, missing=()) as front:
        yield front


@pytest.fixture
def open_panel(front, shared_service, monkeypatch):
    """Open browsers, and close them at the end. They wait longer for a name after Enter than people would."""
    monkeypatch.setattr("svc_jupyter.widgets.folders.panel.NAME_SECONDS", 20)
    opened = []
    with Client(front.base_url, shared_service.token, retries=ONE_TRY) as client:

        def open_one(location, folder_type="notes"):
            opened.append(Browser(FolderPanel(open_folders(lambda: client, folder_type, location))))
            return opened[-1]

        yield open_one
        for browser in opened:
            browser.panel.close()


@pytest.fixture
def panel(workplace, open_panel):
    """A browser at the test's own folder, in which are the folders `a` and `b`, and the note `late`."""
    workplace.folder("a")
    workplace.folder("b")
    workplace.note("late")
    return open_panel(workplace.location)


STEPS = ("New folder…", "Rename…", "Move…", "Delete…")


class Browser(Screen):
    """The folder browser on the screen."""

    def settle(self):
        super().settle()
        wait_until(lambda: "working" not in self.text)

    @property
    def lines(self):
        """The buttons of the items."""
        return self.panel.box.children[0].children

    @property
    def confirmation(self):
        """The button to the right of "No, leave it"."""
        return self.parts[self.parts.index(self.button("No, leave it")) + 1]

    def inside(self, location):
        """The lines of what is in a folder or below it, each with an icon for what it is."""
        found = [one for one in self.lines if f" {location}/" in one.tooltip]
        return [f"{one.icon} {one.description}".strip() for one in found]


def test_it_opens_at_a_location_with_both_trees(panel, workplace):
    assert panel.button("folders of notes").description == "Notes"
    assert panel.button("folders of dashboards").description == "Dashboards"
    mine = panel.button(f"folder {workplace.location} ({workplace.folder_id}), open")
    assert mine.style.font_weight == "bold"
    assert f"folder {workplace.location} · id {workplace.folder_id}" in panel.text
    assert panel.inside(workplace.location) == ["caret-right a", "caret-right b", "file late"]
    assert panel.enabled(*STEPS) == {"New folder…", "Rename…", "Move…", "Delete…"}


def test_a_folder_is_fetched_when_it_is_opened_and_not_before(panel, workplace, front):
    workplace.note("inside", "/a")
    front.requests.clear()
    panel.press(f"folder {workplace.location}/a ")
    assert len(front.requests) == 1
    assert panel.inside(f"{workplace.location}/a") == ["file inside"]
    panel.press(f"folder {workplace.location}/a ")
    assert panel.inside(f"{workplace.location}/a") == []
    panel.press(f"folder {workplace.location}/b ")
    assert panel.inside(f"{workplace.location}/b") == []
    assert "(nothing in it)" in [line.description for line in panel.lines]
    assert len(front.requests) == 2


def test_choosing_an_open_folder_does_not_close_it(panel, workplace):
    panel.press(f"note {workplace.location}/late")
    assert panel.enabled(*STEPS) == {"Rename…", "Move…", "Delete…"}
    panel.press(f"folder {workplace.location} ")
    assert len(panel.inside(workplace.location)) == 3
    assert "New folder…" in panel.enabled(*STEPS)


def test_a_root_stays_as_it_is(panel):
    panel.press(f"folder Common ({panel.panel.model.branches.at('notes', 'Common').id})")
    assert panel.enabled(*STEPS) == {"New folder…"}


def test_a_large_folder_comes_in_parts(workplace, open_panel, monkeypatch):
    monkeypatch.setattr("svc_jupyter.widgets.folders.branches.PAGE", 2)
    for number in range(5):
        workplace.note(f"n{number}")
    panel = open_panel(workplace.location)

    def mine():
        notes = [one.description for one in panel.lines if workplace.location in one.tooltip]
        return [name for name in notes if name != workplace.name]

    assert mine() == ["n0", "n1", "Show more …"]
    panel.press(f"more of {workplace.location}")
    assert mine() == ["n0", "n1", "n2", "n3", "Show more …"]
    panel.press(f"more of {workplace.location}")
    assert mine() == ["n0", "n1", "n2", "n3", "n4"]


def test_a_folder_is_made_by_enter_and_is_the_chosen_one(panel, workplace):
    panel.press("New folder…")
    assert panel.buttons("No, leave it")
    assert f"New folder in {workplace.location}:" in panel.text
    panel.enter("name", "c")
    assert workplace.names() == ["a", "b", "c", "late"]
    assert panel.button(f"folder {workplace.location}/c ").style.font_weight == "bold"
    assert panel.buttons("No, leave it") == []


def test_a_name_is_changed_by_the_button_too(panel, workplace):
    panel.press(f"note {workplace.location}/late")
    panel.press("Rename…")
    assert panel.field("name").value == "late"
    panel.field("name").value = "early"
    panel.press("Rename late")
    assert workplace.names() == ["a", "b", "early"]
    assert f"{workplace.location}/late is called early now" in panel.text


def test_without_a_name_nothing_is_made(panel, workplace):
    panel.press("New folder…")
    panel.enter("name", "  ")
    assert workplace.names() == ["a", "b", "late"]
    assert panel.buttons("No, leave it")


def test_a_move_says_what_moves_and_takes_a_possible_destination_only(panel, workplace):
    here = workplace.location
    workplace.note("inside", "/a")
    panel.press(f"folder {here}/a ")
    panel.press("Move…")
    assert f"Move {here}/a with all that is in it: choose the folder" in panel.text
    assert panel.confirmation.disabled
    panel.press(f"folder {here} ")
    assert "it is in" in panel.text
    assert panel.confirmation.disabled
    panel.press(f"folder {here}/b ")
    assert f"into {here}/b?" in panel.text
    assert workplace.names() == ["a", "b", "late"]
    panel.press(f"Move a into {here}/b")
    assert workplace.names("/b/a") == ["inside"]
    assert f"{here}/a is in {here}/b now" in panel.text
    assert panel.button(f"folder {here}/b/a ").style.font_weight == "bold"
    assert panel.button(f"note {here}/b/a/inside")


def test_notes_and_dashboards_are_moved_and_deleted(workplace, open_panel):
    here, number = workplace.location, workplace.note("late")
    workplace.folder("sub", folder_type="notebook_dashboards")
    workplace.board("shown", number)
    panel = open_panel(here, "notebook_dashboards")
    panel.press(f"dashboard {here}/shown")
    panel.press("Move…")
    panel.press(f"folder {here}/sub ")
    panel.press(f"Move shown into {here}/sub")
    assert workplace.names("/sub", "notebook_dashboards") == ["shown"]
    panel.press("Rename…")
    panel.enter("name", "seen")
    panel.press("Delete…")
    panel.press("Delete seen")
    assert workplace.names("/sub", "notebook_dashboards") == []
    assert f"dashboard {here}/sub/seen was deleted" in panel.text


def test_a_note_moves_and_goes_with_its_dashboards(panel, workplace):
    here = workplace.location
    number = next(item.id for item in panel.panel.model.branches.items() if item.location == f"{here}/late")
    workplace.board("shown", number)
    panel.press(f"note {here}/late")
    panel.press("Move…")
    panel.press(f"folder {here}/a ")
    panel.press(f"Move late into {here}/a")
    assert workplace.names("/a") == ["late"]
    panel.press("Delete…")
    panel.press("Delete late")
    assert f"note {here}/a/late was deleted, with 1 of its dashboards" in panel.text


def test_a_deletion_asks_once_says_how_much_goes_and_defaults_to_no(panel, workplace, monkeypatch):
    here = workplace.location
    workplace.note("inside", "/a")
    panel.press(f"folder {here}/a ")
    focused = []
    monkeypatch.setattr("ipywidgets.Button.focus", lambda button: focused.append(button.description))
    panel.press("Delete…")
    assert f"Delete folder {here}/a? Deleting {here}/a takes 1 folder, 1 note, 0 dashboards" in panel.text
    assert focused == ["No, leave it"]
    assert panel.enabled(*STEPS) == set()
    panel.press("No, leave it")
    assert workplace.names() == ["a", "b", "late"]
    panel.press("Delete…")
    panel.press("Delete a")
    assert workplace.names() == ["b", "late"]
    assert "was deleted: 1 folder, 1 note, 0 dashboards" in panel.text
    assert panel.button(f"folder {here} ").style.font_weight == "bold"


def test_where_the_service_cannot_say_what_goes_the_question_says_all(workplace, shared_service):
    workplace.folder("a")
    with BareFront(shared_service.base_url) as bare, Client(bare.base_url, shared_service.token) as client:
        panel = Browser(FolderPanel(open_folders(lambda: client, "notes", f"{workplace.location}/a")))
        try:
            panel.press("Delete…")
            assert "All that is in it goes with it, for good." in panel.text
            panel.press("Delete a")
            assert workplace.names() == []
        finally:
            panel.panel.close()


def test_a_refused_rename_is_reported_and_changes_nothing(panel, workplace):
    panel.press(f"folder {workplace.location}/a ")
    panel.press("Rename…")
    panel.enter("name", "b")
    assert panel.buttons("Try again")
    assert "there is a folder" in panel.text
    assert workplace.names() == ["a", "b", "late"]
    panel.press("Try again")
    assert panel.buttons("Try again") == []


def test_a_folder_that_cannot_be_read_just_now_is_opened_by_trying_again(panel, workplace, front):
    workplace.note("inside", "/a")
    front.refusal = (403, "not just now <b>")
    panel.press(f"folder {workplace.location}/a ")
    assert "not just now &lt;b&gt;" in panel.text
    assert panel.inside(f"{workplace.location}/a") == []
    front.refusal = None
    panel.press("Try again")
    assert panel.buttons("Try again") == []
    assert panel.inside(f"{workplace.location}/a") == ["file inside"]


def test_a_service_that_hangs_does_not_hold_up_the_notebook(panel, front):
    front.held = threading.Event()
    panel.button("Refresh").click()  # returns at once
    assert "working" in panel.text
    assert panel.enabled(*STEPS) == set()
    front.held.set()
    panel.settle()
    assert "working" not in panel.text


def test_changes_by_others_are_shown_after_a_refresh(panel, workplace):
    workplace.folder("new")
    assert "caret-right new" not in panel.inside(workplace.location)
    panel.press("Refresh")
    assert "caret-right new" in panel.inside(workplace.location)


def test_nobody_is_asked_for_news_meanwhile(panel, front):
    front.requests.clear()
    panel.view(visible=True)
    panel.settle()
    assert front.requests == []


def test_a_line_that_stays_keeps_its_button(panel, workplace):
    button = panel.button(f"folder {workplace.location}/a ")
    panel.press("Refresh")
    panel.press(f"folder {workplace.location}/b ")
    assert panel.button(f"folder {workplace.location}/a ") is button


def test_besides_the_widgets_there_is_a_text(panel, workplace):
    bundle = mime_bundle_of(panel.panel)
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.panel.box.model_id
    assert bundle["text/plain"] == repr(panel.panel)
    assert f"▾ {workplace.name}  (folder {workplace.folder_id})" in repr(panel.panel)


def test_a_closed_browser_leaves_no_thread_and_no_widget(workplace, open_panel):
    workplace.note("late")
    before = set(_instances)
    panel = open_panel(workplace.location)
    panel.press("Rename…")
    assert set(_instances) - before
    thread = finish(panel.panel.model.worker)
    panel.panel.close()
    thread.join(20)
    assert not thread.is_alive()
    assert set(_instances) - before == set()
