"""The folder browser's widgets, pressed as a front end presses them, with a real service behind."""

import threading

import pytest
from ipywidgets.widgets.widget import _instances
from tests.magics.service_double import wait_until
from tests.support.bare_front import BareFront
from tests.support.workplace import Workplace
from tests.widgets.conftest import ONE_TRY

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
def open_panel(front, shared_service):
    """Open browsers, and close them at the end."""
    opened = []
    with Client(front.base_url, shared_service.token, retries=ONE_TRY) as client:

        def open_one(location, folder_type="notes"):
            opened.append(FolderPanel(open_folders(lambda: client, folder_type, location)))
            return opened[-1]

        yield open_one
        for panel in opened:
            panel.close()


@pytest.fixture
def panel(workplace, open_panel):
    """A browser at the test's own folder, in which are the folders `a` and `b`, and the note `late`."""
    workplace.folder("a")
    workplace.folder("b")
    workplace.note("late")
    return open_panel(workplace.location)


def settle(panel):
    """Wait until everything that was asked for is done."""
    done = threading.Event()
    panel.model.worker.submit(done.set)
    assert done.wait(30)
    wait_until(lambda: not panel.model.working)


def rows(panel, depth=2):
    """The lines from a depth on, each with an icon for what it is."""
    shown = []
    for row in panel.model.branches.rows():
        button = panel._rows._shown[row.line, row.item.key][1]
        if row.depth >= depth and row.item.folder_type == "notes":
            shown.append(f"{'  ' * (row.depth - depth)}{button.icon} {button.description}".rstrip())
    return shown


def row(panel, tooltip):
    """The button of the line that is told so to who rests on it."""
    [button] = [one for one in panel._rows.box.children if one.tooltip.startswith(tooltip)]
    return button


def press(panel, name):
    """Press a button of the browser, or a line."""
    named = [one for one in panel._parts if getattr(one, "description", None) == name]
    (named[0] if named else row(panel, name)).click()
    settle(panel)


def shown(part):
    return part.layout.display != "none"


def enabled(panel):
    return {step.value for step, button in panel._buttons.items() if not button.disabled}


def write(panel, name):
    """Write a name and press Enter: the front end tells of Enter first, of what is written right after it."""
    panel._name._handle_custom_msg({"event": "submit"}, [])
    panel._name.value = name
    settle(panel)


def test_it_opens_at_a_location_with_both_trees(panel, workplace):
    assert row(panel, "folders of notes").description == "Notes"
    assert row(panel, "folders of dashboards").description == "Dashboards"
    mine = row(panel, f"folder {workplace.location} ({workplace.folder_id}), open")
    assert mine.style.font_weight == "bold"
    assert f"folder {workplace.location} · id {workplace.folder_id}" in panel._selected.value
    shown_rows = [text.strip() for text in rows(panel, depth=3)]
    assert shown_rows == ["caret-right a", "caret-right b", "file late"]
    assert enabled(panel) == {"New folder", "Rename", "Move", "Delete"}


def test_a_folder_is_fetched_when_it_is_opened_and_not_before(panel, workplace, front):
    workplace.note("inside", "/a")
    front.requests.clear()
    press(panel, f"folder {workplace.location}/a ")
    assert len(front.requests) == 1
    assert [text.strip() for text in rows(panel, depth=4)] == ["file inside"]
    press(panel, f"folder {workplace.location}/a ")
    assert rows(panel, depth=4) == []
    press(panel, f"folder {workplace.location}/b ")
    assert [text.strip() for text in rows(panel, depth=4)] == ["(nothing in it)"]
    assert len(front.requests) == 2


def test_choosing_an_open_folder_does_not_close_it(panel, workplace):
    press(panel, f"note {workplace.location}/late")
    assert enabled(panel) == {"Rename", "Move", "Delete"}
    press(panel, f"folder {workplace.location} ")
    assert len(rows(panel, depth=3)) == 3
    assert "New folder" in enabled(panel)


def test_a_root_stays_as_it_is(panel):
    press(panel, f"folder Common ({panel.model.branches.at('notes', 'Common').id})")
    assert enabled(panel) == {"New folder"}


def test_a_large_folder_comes_in_parts(workplace, open_panel, monkeypatch):
    monkeypatch.setattr("svc_jupyter.widgets.folders.branches.PAGE", 2)
    for number in range(5):
        workplace.note(f"n{number}")
    panel = open_panel(workplace.location)

    def mine():
        notes = [one.description for one in panel._rows.box.children if workplace.location in one.tooltip]
        return [name for name in notes if name != workplace.name]

    assert mine() == ["n0", "n1", "Show more …"]
    press(panel, f"more of {workplace.location}")
    assert mine() == ["n0", "n1", "n2", "n3", "Show more …"]
    press(panel, f"more of {workplace.location}")
    assert mine() == ["n0", "n1", "n2", "n3", "n4"]


def test_a_folder_is_made_by_enter_and_is_the_chosen_one(panel, workplace):
    press(panel, "New folder…")
    assert shown(panel._asking)
    assert f"New folder in {workplace.location}:" in panel._question.value
    assert shown(panel._name)
    write(panel, "c")
    assert workplace.names() == ["a", "b", "c", "late"]
    assert row(panel, f"folder {workplace.location}/c ").style.font_weight == "bold"
    assert not shown(panel._asking)


def test_a_name_is_changed_by_the_button_too(panel, workplace):
    press(panel, f"note {workplace.location}/late")
    press(panel, "Rename…")
    assert panel._name.value == "late"
    panel._name.value = "early"
    press(panel, "Rename late")
    assert workplace.names() == ["a", "b", "early"]
    assert f"{workplace.location}/late is called early now" in panel._foot.value


def test_without_a_name_nothing_is_made(panel, workplace):
    press(panel, "New folder…")
    write(panel, "  ")
    assert workplace.names() == ["a", "b", "late"]
    assert shown(panel._asking)


def test_a_move_says_what_moves_and_takes_a_possible_destination_only(panel, workplace):
    here = workplace.location
    workplace.note("inside", "/a")
    press(panel, f"folder {here}/a ")
    press(panel, "Move…")
    assert f"Move {here}/a with all that is in it: choose the folder" in panel._question.value
    assert panel._yes.disabled
    press(panel, f"folder {here} ")
    assert "it lies in" in panel._question.value
    assert panel._yes.disabled
    press(panel, f"folder {here}/b ")
    assert f"into {here}/b?" in panel._question.value
    assert workplace.names() == ["a", "b", "late"]
    press(panel, f"Move a into {here}/b")
    assert workplace.names("/b/a") == ["inside"]
    assert f"{here}/a lies in {here}/b now" in panel._foot.value
    assert row(panel, f"folder {here}/b/a ").style.font_weight == "bold"
    assert row(panel, f"note {here}/b/a/inside")


def test_notes_and_dashboards_are_moved_and_deleted(workplace, open_panel):
    here, number = workplace.location, workplace.note("late")
    workplace.folder("sub", folder_type="notebook_dashboards")
    workplace.board("shown", number)
    panel = open_panel(here, "notebook_dashboards")
    press(panel, f"dashboard {here}/shown")
    press(panel, "Move…")
    press(panel, f"folder {here}/sub ")
    press(panel, f"Move shown into {here}/sub")
    assert workplace.names("/sub", "notebook_dashboards") == ["shown"]
    press(panel, "Rename…")
    write(panel, "seen")
    press(panel, "Delete…")
    press(panel, "Delete seen")
    assert workplace.names("/sub", "notebook_dashboards") == []
    assert f"dashboard {here}/sub/seen was deleted" in panel._foot.value


def test_a_note_moves_and_goes_with_its_dashboards(panel, workplace):
    here = workplace.location
    number = next(item.id for item in panel.model.branches.items() if item.location == f"{here}/late")
    workplace.board("shown", number)
    press(panel, f"note {here}/late")
    press(panel, "Move…")
    press(panel, f"folder {here}/a ")
    press(panel, f"Move late into {here}/a")
    assert workplace.names("/a") == ["late"]
    press(panel, "Delete…")
    press(panel, "Delete late")
    assert f"note {here}/a/late was deleted, with 1 of its dashboards" in panel._foot.value


def test_a_deletion_asks_once_says_how_much_goes_and_defaults_to_no(panel, workplace, monkeypatch):
    here = workplace.location
    workplace.note("inside", "/a")
    press(panel, f"folder {here}/a ")
    focused = []
    monkeypatch.setattr(panel._no, "focus", lambda: focused.append("no"))
    press(panel, "Delete…")
    assert f"Delete folder {here}/a? Deleting {here}/a takes 1 folder, 1 note, 0 dashboards" in panel._question.value
    assert focused == ["no"]
    assert enabled(panel) == set()
    press(panel, "No, leave it")
    assert workplace.names() == ["a", "b", "late"]
    press(panel, "Delete…")
    press(panel, "Delete a")
    assert workplace.names() == ["b", "late"]
    assert "was deleted: 1 folder, 1 note, 0 dashboards" in panel._foot.value
    assert row(panel, f"folder {here} ").style.font_weight == "bold"


def test_where_the_service_cannot_tell_what_goes_the_question_says_all(workplace, shared_service):
    workplace.folder("a")
    with BareFront(shared_service.base_url) as bare, Client(bare.base_url, shared_service.token) as client:
        panel = FolderPanel(open_folders(lambda: client, "notes", f"{workplace.location}/a"))
        try:
            press(panel, "Delete…")
            assert "All that is in it goes with it, for good." in panel._question.value
            press(panel, "Delete a")
            assert workplace.names() == []
        finally:
            panel.close()


def test_what_is_refused_is_told_and_nothing_changes(panel, workplace):
    press(panel, f"folder {workplace.location}/a ")
    press(panel, "Rename…")
    write(panel, "b")
    assert shown(panel._failing)
    assert "there is a folder" in panel._problem.value
    assert workplace.names() == ["a", "b", "late"]
    press(panel, "Try again")
    assert not shown(panel._failing)


def test_a_folder_that_cannot_be_read_just_now_is_opened_by_trying_again(panel, workplace, front):
    workplace.note("inside", "/a")
    front.refusal = (403, "not just now <b>")
    press(panel, f"folder {workplace.location}/a ")
    assert "not just now &lt;b&gt;" in panel._problem.value
    assert rows(panel, depth=4) == []
    front.refusal = None
    press(panel, "Try again")
    assert not shown(panel._failing)
    assert [text.strip() for text in rows(panel, depth=4)] == ["file inside"]


def test_a_service_that_hangs_does_not_hold_up_the_notebook(panel, front):
    front.held = threading.Event()
    panel._refresh.click()  # returns at once
    assert "working" in panel._foot.value
    assert enabled(panel) == set()
    front.held.set()
    settle(panel)
    assert "working" not in panel._foot.value


def test_what_others_did_is_there_after_a_refresh(panel, workplace):
    workplace.folder("new")
    assert "caret-right new" not in [text.strip() for text in rows(panel, depth=3)]
    press(panel, "Refresh")
    assert "caret-right new" in [text.strip() for text in rows(panel, depth=3)]


def test_nobody_is_asked_for_news_meanwhile(panel, front):
    front.requests.clear()
    panel.box._view_count = 1
    settle(panel)
    assert front.requests == []
    assert panel.model.worker._seconds_to_look() is None


def test_a_line_that_stays_keeps_its_button(panel, workplace):
    button = row(panel, f"folder {workplace.location}/a ")
    press(panel, "Refresh")
    press(panel, f"folder {workplace.location}/b ")
    assert row(panel, f"folder {workplace.location}/a ") is button


def test_beside_the_widgets_there_is_a_text(panel, workplace):
    bundle = panel._repr_mimebundle_()
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.box.model_id
    assert bundle["text/plain"] == repr(panel)
    assert f"▾ {workplace.name}  (folder {workplace.folder_id})" in repr(panel)


def test_a_closed_browser_leaves_no_thread_and_no_widget(workplace, open_panel):
    workplace.note("late")
    before = set(_instances)
    panel = open_panel(workplace.location)
    press(panel, "Rename…")
    assert set(_instances) - before
    thread = panel.model.worker._thread
    panel.close()
    thread.join(20)
    assert not thread.is_alive()
    assert set(_instances) - before == set()
