"""Notes, their revisions and their dashboards, on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.workspace.note_samples import ZPLN

from svc_jupyter.api.dashboards import DashboardClone, DashboardCreate, DashboardUpdate
from svc_jupyter.api.folders import DASHBOARDS, NOTES, FolderCreate
from svc_jupyter.api.notes import NoteClone, NoteCreate, NoteImport, NoteUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Resource
from svc_jupyter.service.access.policy_book import PolicyBook, entries_of
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.workspace import note_files
from svc_jupyter.service.workspace.note_store import KEPT_REVISIONS
from svc_jupyter.service.workspace.notes import ReadNote
from svc_jupyter.service.workspace.workspace import Workspace

Make = Callable[..., ReadNote]
WHOLE = Page(1, 100)


@pytest.fixture
def make(workspace: Workspace, ann: Caller) -> Make:
    """Makes notes with one paragraph."""

    def make(name: str = "n", location: str = "Common", text: str = "first", by: Caller = ann) -> ReadNote:
        body = NoteCreate(name=name, location=location, paragraphs=[{"id": "p", "text": text}])
        return workspace.notes.create(body, by=by)

    return make


def paragraphs(text: str) -> list[dict[str, Any]]:
    return [{"id": "p", "text": text}]


def text_of(note: ReadNote) -> str:
    return str(note.document["paragraphs"][0]["text"])


def test_a_note_lives_from_creation_to_deletion(workspace: Workspace, ann: Caller, bob: Caller):
    made = workspace.notes.create(NoteCreate(name="Delays", location="Common", cluster_id=7), by=ann).summary
    assert (made.note_type, made.cluster_id, made.version, made.revision) == ("spark", 7, 1, 1)
    assert (made.user_id, made.updated_by, made.location) == (ann.user_id, ann.user_id, "Common")
    workspace.folders.create(FolderCreate(name="f", location="Common", type=NOTES), by=ann)
    body = NoteUpdate(paragraphs=[{"text": "%sql select 1"}], noteParams={"a": 1}, name="Late", location="Common/f")
    saved = workspace.notes.update(made.id, body, by=bob)
    assert (saved.summary.version, saved.summary.revision, saved.summary.updated_by) == (2, 2, bob.user_id)
    read = workspace.notes.get(made.id, by=ann)
    assert read == saved
    assert (read.summary.name, read.summary.location, read.summary.cluster_id) == ("Late", "Common/f", 7)
    assert (read.document["paragraphs"][0]["text"], read.document["noteParams"]) == ("%sql select 1", {"a": 1})
    assert read.document["paragraphs"][0]["id"].startswith("paragraph_")
    unbound = workspace.notes.update(made.id, NoteUpdate(cluster_id=0), by=ann).summary
    assert (unbound.cluster_id, unbound.version, unbound.revision) == (None, 3, 2)
    assert workspace.notes.delete(made.id, by=ann).notebook_dashboards == 0
    for call in (
        workspace.notes.get,
        workspace.notes.delete,
        lambda one, by: workspace.history.list(one, WHOLE, by=by),
    ):
        with pytest.raises(NotFound, match=f"there is no note {made.id} in this account"):
            call(made.id, by=ann)


def test_a_save_that_says_nothing_new_is_no_edit(workspace: Workspace, ann: Caller, make: Make):
    note = make().summary
    body = NoteUpdate(name="n", location="Common", paragraphs=paragraphs("first"), config={})
    assert workspace.notes.update(note.id, body, by=ann).summary == note.model_copy(
        update={"version": 2, "revision": 2, "updated_at": workspace.notes.get(note.id, by=ann).summary.updated_at}
    )
    assert workspace.notes.update(note.id, body, by=ann).summary.version == 2


def test_an_edit_by_somebody_else_is_noticed(workspace: Workspace, ann: Caller, bob: Caller, make: Make):
    note = make().summary
    workspace.notes.update(note.id, NoteUpdate(paragraphs=paragraphs("of bob")), '"1"', by=bob)
    for stale in ('"1"', 'W/"1"', '"7", "8"', "nonsense", ""):
        with pytest.raises(StateConflict, match=rf"note {note.id} was changed meanwhile: it is of version 2 since 20"):
            workspace.notes.update(note.id, NoteUpdate(paragraphs=paragraphs("of ann")), stale, by=ann)
    with pytest.raises(StateConflict):
        workspace.notes.delete(note.id, '"1"', by=ann)
    with pytest.raises(StateConflict):
        workspace.history.restore(note.id, 1, '"1"', by=ann)
    assert text_of(workspace.notes.get(note.id, by=ann)) == "of bob"
    for number, current in enumerate(('"2"', 'W/"3"', "*", '"1", "5"')):
        body = NoteUpdate(paragraphs=paragraphs(f"of ann {number}"))
        workspace.notes.update(note.id, body, current, by=ann)
    assert workspace.notes.delete(note.id, '"6"', by=ann).id == note.id


def test_saves_that_race_lose_nothing(workspace: Workspace, ann: Caller, make: Make):
    note = make().summary
    barrier = Barrier(4)

    def save(part: str, number: int) -> None:
        barrier.wait(10)
        workspace.notes.update(note.id, NoteUpdate.model_validate({part: {"number": number}}), by=ann)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, ("noteParams", "noteForms", "config", "info"), range(4)))
    read = workspace.notes.get(note.id, by=ann)
    found = [read.document[part]["number"] for part in ("noteParams", "noteForms", "config", "info")]
    assert (found, read.summary.version, read.summary.revision) == ([0, 1, 2, 3], 5, 5)
    revisions = workspace.history.list(note.id, WHOLE, by=ann).revisions
    assert [one.number for one in revisions] == [5, 4, 3, 2, 1]


def test_a_name_is_there_once_in_a_folder(workspace: Workspace, ann: Caller, make: Make):
    first, second = make("a").summary, make("b").summary
    taken = rf"name: there is a note Common/a already \(note {first.id}\)"
    with pytest.raises(Invalid, match=taken):
        make("a")
    with pytest.raises(Invalid, match=taken):
        workspace.notes.update(second.id, NoteUpdate(name="a", paragraphs=paragraphs("new")), by=ann)
    assert text_of(workspace.notes.get(second.id, by=ann)) == "first"
    with pytest.raises(Invalid, match=taken):
        workspace.notes.clone(second.id, NoteClone(name="a"), by=ann)
    mine = make("a", "Users/ann@example.org").summary
    with pytest.raises(Invalid, match=taken):
        workspace.notes.update(mine.id, NoteUpdate(location="Common"), by=ann)
    workspace.folders.create(FolderCreate(name="a", location="Common", type=NOTES), by=ann)
    for name in ("..", "a/b", "\x00", "é" * 200):
        with pytest.raises(Invalid, match="name: "):
            make(name)
    workspace.folders.create(FolderCreate(name="boards", location="Common", type=DASHBOARDS), by=ann)
    with pytest.raises(Invalid, match="Common/boards is a folder of notebook_dashboards, not of notes"):
        workspace.notes.update(mine.id, NoteUpdate(location="Common/boards"), by=ann)
    with pytest.raises(NotFound, match="there is no folder Common/gone of notes"):
        workspace.notes.update(mine.id, NoteUpdate(location="Common/gone"), by=ann)


def test_a_copy_is_a_note_of_its_own(workspace: Workspace, ann: Caller, bob: Caller, make: Make):
    note = make("long" + "x" * 251, text="deep").summary
    workspace.notes.update(note.id, NoteUpdate(cluster_id=3), by=ann)
    copies = [workspace.notes.clone(note.id, NoteClone(), by=bob) for _ in range(2)]
    assert [copy.summary.name for copy in copies] == ["long" + "x" * 245 + f"-Copy{number}" for number in (1, 2)]
    assert [(text_of(copy), copy.summary.cluster_id, copy.summary.version) for copy in copies] == [("deep", 3, 1)] * 2
    assert copies[0].summary.user_id == bob.user_id
    again = workspace.notes.clone(copies[0].summary.id, NoteClone(location="Users/bob@example.org"), by=bob).summary
    assert (again.name, again.location) == ("long" + "x" * 245 + "-Copy1", "Users/bob@example.org")
    workspace.notes.update(copies[0].summary.id, NoteUpdate(paragraphs=paragraphs("changed")), by=bob)
    assert text_of(workspace.notes.get(note.id, by=ann)) == "deep"


def test_another_users_notes_are_theirs(workspace: Workspace, admin: Caller, ann: Caller, bob: Caller, make: Make):
    note = make(location="Users/ann@example.org").summary
    refused: list[Callable[[], object]] = [
        lambda: workspace.notes.get(note.id, by=bob),
        lambda: workspace.notes.update(note.id, NoteUpdate(name="x"), by=bob),
        lambda: workspace.notes.clone(note.id, NoteClone(location="Common"), by=bob),
        lambda: workspace.notes.delete(note.id, by=bob),
        lambda: workspace.history.list(note.id, WHOLE, by=bob),
        lambda: workspace.history.get(note.id, 1, by=bob),
        lambda: workspace.history.restore(note.id, 1, None, by=bob),
        lambda: workspace.dashboards.create(DashboardCreate(note_id=note.id, name="d", location="Common"), by=bob),
        lambda: workspace.dashboards.of_note(note.id, WHOLE, by=bob),
    ]
    for call in refused:
        # As one that is not there: it is not told which ids there are, nor whose they are.
        with pytest.raises(NotFound, match=f"^there is no note {note.id} in this account$"):
            call()
    with pytest.raises(Forbidden, match=r"Users/ann@example\.org is another user's folder"):
        make("theirs", "Users/ann@example.org", by=bob)
    own = make("own", "Users/bob@example.org", by=bob).summary
    with pytest.raises(Forbidden, match=r"Users/ann@example\.org is another user's folder"):
        workspace.notes.update(own.id, NoteUpdate(location="Users/ann@example.org"), by=bob)
    assert workspace.notes.get(note.id, by=admin).summary.name == "n"


def test_a_former_state_comes_back(workspace: Workspace, ann: Caller, bob: Caller, make: Make):
    note = make(text="1").summary
    for number in (2, 3):
        workspace.notes.update(note.id, NoteUpdate(paragraphs=paragraphs(str(number))), by=bob)
    former = workspace.history.get(note.id, 1, by=ann)
    assert (former.revision.user_id, former.document["paragraphs"]) == (ann.user_id, paragraphs("1"))
    assert former.revision.size == len(json.dumps(former.document, separators=(",", ":")))
    restored = workspace.history.restore(note.id, 1, '"3"', by=ann)
    assert (text_of(restored), restored.summary.version, restored.summary.revision) == ("1", 4, 4)
    listed = workspace.history.list(note.id, Page(1, 3), by=ann)
    assert [(one.number, one.user_id) for one in listed.revisions] == [
        (4, ann.user_id),
        (3, bob.user_id),
        (2, bob.user_id),
    ]
    assert listed.paging_info.next_page == 2
    assert workspace.history.restore(note.id, 4, None, by=ann).summary.version == 4
    with pytest.raises(NotFound, match=f"note {note.id} has no revision 5"):
        workspace.history.restore(note.id, 5, None, by=ann)


def test_the_oldest_states_are_forgotten(workspace: Workspace, ann: Caller, make: Make, database: Database):
    note = make(text="0").summary
    for number in range(1, KEPT_REVISIONS + 3):
        workspace.notes.update(note.id, NoteUpdate(paragraphs=paragraphs(str(number))), by=ann)
    with database.connect() as connection:
        count = connection.execute(sa.text("SELECT count(*) FROM note_revisions")).scalar()
    assert count == KEPT_REVISIONS
    with pytest.raises(NotFound, match="the newest 100 are kept"):
        workspace.history.get(note.id, 3, by=ann)
    assert workspace.history.get(note.id, 4, by=ann).document["paragraphs"] == paragraphs("3")


def test_no_password_reaches_the_database(workspace: Workspace, ann: Caller, make: Make, database: Database):
    settings = {"params": {"pin": "hunter2"}, "forms": {"pin": {"type": "Password", "defaultValue": "hunter2"}}}
    secret = [{"id": "p", "text": "${password:pin}", "settings": settings}]
    note = make().summary
    workspace.notes.update(note.id, NoteUpdate(paragraphs=secret), by=ann)
    body = NoteImport.model_validate({"name": "i", "location": "Common", "paragraphs": secret})
    imported = workspace.notes.store(body, note_files.imported(body).document, by=ann)
    assert "hunter2" not in json.dumps([imported.document, workspace.notes.get(note.id, by=ann).document])
    for number in (1, 2):
        assert "hunter2" not in json.dumps(workspace.history.get(note.id, number, by=ann).document)


def test_documents_that_cannot_be_are_refused(workspace: Workspace, ann: Caller, make: Make):
    note = make().summary
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"paragraphs": [{"text": 7}]}, r"paragraphs\.0\.text: must be a string"),
        ({"paragraphs": [{}, {"title": ["x"]}]}, r"paragraphs\.1\.title: must be a string"),
        ({"paragraphs": [{"id": 5}]}, r"paragraphs\.0\.id: must be a string"),
        ({"paragraphs": [{"id": "x" * 256}]}, r"paragraphs\.0\.id: must be a string of at most 255"),
        ({"paragraphs": [{"id": "x"}, {"id": "x"}]}, "paragraphs: two have the id 'x'"),
        ({"paragraphs": [{"progress": float("nan")}]}, "the document is not JSON"),
        ({"config": {"x": float("inf")}}, "the document is not JSON"),
    ]
    for parts, words in refusals:
        with pytest.raises(Invalid, match=words):
            workspace.notes.update(note.id, NoteUpdate.model_validate(parts), by=ann)
    odd = paragraphs("\x00 \ud83d \U0001f98a")
    assert workspace.notes.update(note.id, NoteUpdate(paragraphs=odd), by=ann).summary.version == 2
    assert workspace.notes.get(note.id, by=ann).document["paragraphs"] == odd


def test_an_invalid_document_is_not_imported():
    def refusal(given: dict[str, Any]) -> str:
        body = NoteImport.model_validate({"name": "n", "location": "Common", **given})
        with pytest.raises(Invalid) as refused:
            note_files.imported(body)
        return refused.value.message

    neither = "paragraphs: give the paragraphs of a .zpln document, or the cells of an .ipynb"
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, neither),
        (
            {"cells": [], "paragraphs": []},
            "cells: give the paragraphs of a .zpln document or the cells of an .ipynb, not both",
        ),
        ({"noteParams": {}}, neither),
        (
            {"cells": [7]},
            "cells: this is not a notebook: it lacks a part of a notebook, or has one of a wrong type",
        ),
    ]
    assert [(given, refusal(given)) for given, _ in refused] == refused


def test_an_import_says_what_of_a_notebook_was_repaired():
    cell = {"cell_type": "code", "source": "%sql\nSELECT 1", "metadata": {"tags": ["a", "a"]}, "outputs": []}
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell | {"execution_count": None}]}
    body = NoteImport.model_validate({"name": "n", "location": "Common", **notebook})
    document, message = note_files.imported(body)
    assert [paragraph["text"] for paragraph in document["paragraphs"]] == ["%sql\nSELECT 1"]
    assert message == "the notebook was repaired: tags that were no list of different words were put right"
    cell["metadata"] = {}
    body = NoteImport.model_validate(
        {"name": "n", "location": "Common", **notebook, "cells": [cell | {"execution_count": 1}]}
    )
    assert note_files.imported(body).message is None


def test_a_note_travels_as_a_file_of_either_format(workspace: Workspace, ann: Caller):
    body = NoteImport.model_validate({**ZPLN, "name": "a", "location": "Common", "unknown": {"kept": [None]}})
    note = workspace.notes.store(body, note_files.imported(body).document, by=ann)
    expected = {**ZPLN, "unknown": {"kept": [None]}}
    for number, file_format in enumerate(("zpln", "ipynb", "zpln")):
        content = json.loads(note_files.exported(note, file_format))  # type: ignore[arg-type]
        body = NoteImport.model_validate({**content, "name": f"a{number}", "location": "Common"})
        note = workspace.notes.store(body, note_files.imported(body).document, by=ann)
        exported = json.loads(note_files.exported(note, "zpln"))
        assert exported == {**expected, "name": f"a{number}"}
    assert note_files.disposition(note, "ipynb") == "attachment; filename*=UTF-8''a2.ipynb"


def test_a_bare_note_is_a_file_that_others_can_read(workspace: Workspace, ann: Caller):
    note = workspace.notes.create(NoteCreate(name="é/".strip("/"), location="Common"), by=ann)
    content = json.loads(note_files.exported(note, "zpln"))
    assert set(content) >= {"paragraphs", "name", "id", "defaultInterpreterGroup", "version", "noteParams", "config"}
    assert note_files.disposition(note, "zpln").endswith("%C3%A9.zpln")


def test_a_dashboard_stays_as_it_was_published(workspace: Workspace, ann: Caller, bob: Caller, make: Make):
    note = make(location="Users/ann@example.org", text="old").summary
    workspace.folders.create(FolderCreate(name="boards", location="Common", type=DASHBOARDS), by=ann)
    body = DashboardCreate(note_id=note.id, name="b", location="Common/boards", config={"width": 2})
    board = workspace.dashboards.create(body, by=ann).summary
    workspace.notes.update(note.id, NoteUpdate(paragraphs=paragraphs("new")), by=ann)
    read = workspace.dashboards.get(board.id, by=bob)
    assert (read.document, read.summary.note_revision) == ({"paragraphs": paragraphs("old"), "config": {"width": 2}}, 1)
    with pytest.raises(NotFound, match=f"there is no note {note.id} in this account"):
        workspace.dashboards.update(board.id, DashboardUpdate(refresh=True), by=bob)
    fresh = workspace.dashboards.update(board.id, DashboardUpdate(refresh=True, name="c"), '"1"', by=ann)
    assert (fresh.document["paragraphs"], fresh.summary.note_revision) == (paragraphs("new"), 2)
    assert workspace.dashboards.update(board.id, DashboardUpdate(refresh=True), by=ann).summary.version == 2
    with pytest.raises(StateConflict, match=f"dashboard {board.id} was changed meanwhile"):
        workspace.dashboards.update(board.id, DashboardUpdate(config={}), '"1"', by=bob)
    copies = [workspace.dashboards.clone(board.id, DashboardClone(), by=bob).summary for _ in range(2)]
    assert [copy.name for copy in copies] == ["c-Copy1", "c-Copy2"]
    moved = DashboardUpdate(location="Users/bob@example.org")
    workspace.dashboards.update(copies[0].id, moved, by=bob)
    seen = workspace.dashboards.of_note(note.id, Page(1, 2), by=ann)
    assert [one.id for one in seen.notebook_dashboards] == [copies[1].id, board.id], "bob's own are bob's"
    assert seen.paging_info.next_page is None
    with pytest.raises(Invalid, match="there is a dashboard Common/boards/c already"):
        workspace.dashboards.update(copies[1].id, DashboardUpdate(name="c"), by=ann)
    with pytest.raises(Invalid, match="Common/boards is a folder of notebook_dashboards, not of notes"):
        make("x", "Common/boards")
    workspace.dashboards.delete(copies[1].id, by=ann)
    assert workspace.notes.delete(note.id, by=ann).notebook_dashboards == 2
    with pytest.raises(NotFound, match=f"there is no dashboard {board.id} in this account"):
        workspace.dashboards.get(board.id, by=ann)


def listed(workspace: Workspace, by: Caller, page: Page = WHOLE) -> list[str]:
    return [one.name for one in workspace.notes.list(page, by=by).notes]


def test_a_list_has_the_notes_of_all_folders_newest_first(workspace: Workspace, ann: Caller, make: Make):
    workspace.folders.create(FolderCreate(name="f", location="Common", type=NOTES), by=ann)
    make("a"), make("b", "Common/f"), make("c", f"Users/{ann.email}")
    assert listed(workspace, ann) == ["c", "b", "a"]
    page = workspace.notes.list(Page(2, 1), by=ann)
    assert [(one.name, one.location) for one in page.notes] == [("b", "Common/f")]
    assert (page.paging_info.next_page, page.paging_info.previous_page) == (3, 1)
    assert page.notes[0] == workspace.notes.get(page.notes[0].id, by=ann).summary


def with_policy(caller: Caller, access: str, *objects: tuple[Resource, int], **changes: Any) -> Caller:
    """Return a caller whom a policy of each object lets read it, or not."""
    entry = {"access": access, "condition": {"service_users": [caller.user_id]}, "action": ["read"]}
    return replace(caller, policies=PolicyBook(1, {key: entries_of([entry]) for key in objects}), **changes)


def test_a_list_hides_what_may_not_be_read(workspace: Workspace, ann: Caller, bob: Caller, admin: Caller, make: Make):
    shared = workspace.folders.create(FolderCreate(name="f", location=f"Users/{ann.email}", type=NOTES), by=ann)
    inner = workspace.folders.create(FolderCreate(name="g", location=shared.location, type=NOTES), by=ann)
    common, own = make("common").summary, make("own", f"Users/{ann.email}").summary
    below = make("below", inner.location).summary
    assert (listed(workspace, bob), listed(workspace, admin)) == (["common"], ["below", "own", "common"])
    reader = with_policy(bob, "allow", (Resource.FOLDER, shared.id))
    assert listed(workspace, reader) == ["below", "common"]
    assert listed(workspace, with_policy(bob, "allow", (Resource.NOTE, own.id))) == ["own", "common"]
    assert listed(workspace, with_policy(bob, "deny", (Resource.NOTE, common.id))) == []
    assert listed(workspace, with_policy(ann, "deny", (Resource.FOLDER, inner.id))) == ["own", "common"]
    guest = with_policy(bob, "allow", (Resource.NOTE, below.id), groups=frozenset())
    assert listed(workspace, guest) == ["below"]
    with pytest.raises(Forbidden, match="read note"):
        listed(workspace, replace(bob, groups=frozenset()))
    for caller in (bob, reader, guest):
        for one in workspace.notes.list(WHOLE, by=caller).notes:
            assert workspace.notes.get(one.id, by=caller).summary == one
