"""Searches for notes, dashboards, notebooks and their folders by name or id; for notes and notebooks by text, too."""

from __future__ import annotations

import errno
import json
import os
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.service.workspace.test_admission import under

from svc_jupyter.api.account import FeaturesUpdate
from svc_jupyter.api.dashboards import DashboardCreate
from svc_jupyter.api.folders import DASHBOARDS, NOTES, FolderContents, FolderCreate
from svc_jupyter.api.jupyter_contents import ContentsSave
from svc_jupyter.api.notes import NoteClone, NoteCreate, NoteUpdate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Resource
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.workspace import searches
from svc_jupyter.service.workspace.contents_files import Wanted
from svc_jupyter.service.workspace.file_tree import FileTree
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.searches import SearchText
from svc_jupyter.service.workspace.workspace import Workspace

ALL = Page(1, 100)
ANN = "Users/ann@example.org"
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def ids(workspace: Workspace, ann: Caller) -> dict[str, int]:
    """Folders and notes of ann and in `Common`, by their paths, and two dashboards."""
    found = {}
    for parent, name in (
        (ANN, "Delays"),
        (f"{ANN}/Delays", "old"),
        ("Common", "reports"),
        ("Common/reports", "a"),
        ("Common", "new reports"),
    ):
        folder = workspace.folders.create(FolderCreate(name=name, location=parent, type=NOTES), by=ann)
        found[folder.location] = folder.id
    for location, name in (
        (f"{ANN}/Delays/old", "per day"),
        ("Common/reports/a", "Arrival delays"),
        ("Common", "delay"),
        ("Common", "Été %"),
    ):
        note = workspace.notes.create(NoteCreate(name=name, location=location), by=ann).summary
        found[f"{location}/{name}"] = note.id
    for location in ("Common", ANN):
        board = DashboardCreate(note_id=found["Common/delay"], name="delay board", location=location)
        found[f"{location}/delay board"] = workspace.dashboards.create(board, by=ann).summary.id
    return found


def paths(contents: FolderContents) -> list[str]:
    objects = [*contents.notes, *contents.notebook_dashboards]
    return [folder.location for folder in contents.folders] + [f"{one.location}/{one.name}" for one in objects]


def found(
    workspace: Workspace, text: str, by: Caller, location: str | None = None, folder_type: str = NOTES
) -> list[str]:
    return paths(workspace.lists.search(folder_type, location, SearchText(text), ALL, by=by))


def test_a_search_finds_folders_and_notes_by_a_part_of_the_name_or_the_id(
    workspace: Workspace, ann: Caller, ids: dict[str, int]
):
    assert found(workspace, "DELAY", ann) == [f"{ANN}/Delays", "Common/reports/a/Arrival delays", "Common/delay"]
    assert found(workspace, unicodedata.normalize("NFD", "éTÉ %"), ann) == ["Common/Été %"]
    assert found(workspace, "%", ann) == ["Common/Été %"]
    by_id = {path: workspace.lists.search(NOTES, None, SearchText(str(one)), ALL, by=ann) for path, one in ids.items()}
    assert [note.name for note in by_id["Common/delay"].notes] == ["delay"]
    assert [folder.location for folder in by_id["Common/reports"].folders] == ["Common/reports"]
    assert found(workspace, "None", ann) == []
    assert found(workspace, "Common", ann) == []
    assert found(workspace, "report", ann) == ["Common/new reports", "Common/reports"]
    assert found(workspace, "delay", ann, folder_type=DASHBOARDS) == ["Common/delay board", f"{ANN}/delay board"]


def paragraphs(*texts: str) -> list[dict[str, Any]]:
    return [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]


def test_a_note_is_found_by_what_is_written_in_it(workspace: Workspace, ann: Caller, bob: Caller, ids: dict[str, int]):
    written: list[dict[str, Any]] = [
        {
            "id": "p1",
            "title": "Straße nach Süden",
            "text": "%sql\nSELECT origin\nFROM flights_2025",
            "results": {"msg": "77 km"},
        },
        {"id": "p2", "text": "%md 90 % on time"},
        {"id": "p3"},
        {"id": "p4", "text": None, "title": "nul \0 \ud83d \U0001d4d0"},
    ]
    body = NoteCreate(name="n", location=ANN, paragraphs=written)
    workspace.notes.create(body, by=ann)
    here = [f"{ANN}/n"]
    for text in ("select ORIGIN", "origin\nfrom", "STRASSE", "0 % on", "ts_2", unicodedata.normalize("NFD", "SÜDEN")):
        assert found(workspace, text, ann) == here, text
    assert found(workspace, "nul \0 \ufffd \U0001d4d0", ann) == here
    for text in ("tsx2", "%%", "km", "results", "p2", "None"):  # no wildcards; nothing that nobody wrote
        assert found(workspace, text, ann) == [], text
    assert found(workspace, "flights_2025", ann, ANN) == here
    assert found(workspace, "flights_2025", ann, "Common") == []
    assert found(workspace, "flights_2025", bob) == []
    same_id = ids[f"{ANN}/Delays/old/per day"]
    assert ids["Common/delay board"] == same_id
    workspace.notes.update(same_id, NoteUpdate(paragraphs=written), by=ann)
    assert found(workspace, "flights_2025", ann, folder_type=DASHBOARDS) == []


def test_a_note_is_found_by_its_newest_text(workspace: Workspace, ann: Caller, ids: dict[str, int]):
    def both() -> tuple[list[str], list[str]]:
        return found(workspace, "first words", ann), found(workspace, "second words", ann)

    note = workspace.notes.create(NoteCreate(name="n", location="Common", paragraphs=paragraphs("First words")), by=ann)
    here, copy = ["Common/n"], "Common/m"
    assert both() == (here, [])
    workspace.notes.update(note.summary.id, NoteUpdate(paragraphs=paragraphs("Second words", "x")), by=ann)
    workspace.notes.update(note.summary.id, NoteUpdate(name="n"), by=ann)
    assert both() == ([], here)
    workspace.notes.keep_results(note.summary.id, lambda document: document | {"info": {"ran": "first words"}}, by=ann)
    assert both() == ([], here)
    workspace.history.restore(note.summary.id, 1, None, by=ann)
    assert both() == (here, [])
    workspace.notes.clone(note.summary.id, NoteClone(name="m"), by=ann)
    assert both() == ([copy, *here], [])
    workspace.notes.delete(note.summary.id, by=ann)
    assert both() == ([copy], [])


def test_a_search_in_a_folder_finds_what_is_below_it(workspace: Workspace, ann: Caller, ids: dict[str, int]):
    assert found(workspace, "e", ann, "Common/reports") == ["Common/reports/a/Arrival delays"]
    assert found(workspace, "delay", ann, "Users") == [f"{ANN}/Delays"]
    assert found(workspace, "delays", ann, "Common") == ["Common/reports/a/Arrival delays"]
    assert found(workspace, "e", ann, "Common", DASHBOARDS) == ["Common/delay board"]
    with pytest.raises(NotFound, match="there is no folder Common/nowhere of notes"):
        found(workspace, "e", ann, "Common/nowhere")


def test_a_root_that_was_never_used_has_nothing(workspace: Workspace, bob: Caller):
    assert found(workspace, "e", bob) == found(workspace, "e", bob, "Users/bob@example.org") == []


def test_found_objects_are_paged(workspace: Workspace, ann: Caller, ids: dict[str, int]):
    pages = [workspace.lists.search(NOTES, None, SearchText("delay"), Page(one, 2), by=ann) for one in (1, 2, 3)]
    assert [paths(page) for page in pages] == [
        [f"{ANN}/Delays", "Common/reports/a/Arrival delays"],
        ["Common/delay"],
        [],
    ]
    assert [page.paging_info.next_page for page in pages] == [2, None, None]


def test_a_search_finds_what_its_caller_would_see_in_open_folders(
    workspace: Workspace, admin: Caller, bob: Caller, ids: dict[str, int]
):
    in_common = ["Common/reports/a/Arrival delays", "Common/delay"]
    assert found(workspace, "delay", admin) == [f"{ANN}/Delays", *in_common]
    assert found(workspace, "delay", bob) == in_common
    with pytest.raises(Forbidden, match="another user's folder"):
        found(workspace, "delay", bob, ANN)
    denied = ("deny", ["read"])
    without_reports = under(bob, {(Resource.FOLDER, ids["Common/reports"]): denied})
    assert found(workspace, "delay", without_reports) == ["Common/delay"]
    with pytest.raises(Forbidden, match="permission to read folder"):
        found(workspace, "e", without_reports, "Common/reports")
    without_the_note = under(bob, {(Resource.NOTE, ids["Common/delay"]): denied})
    assert found(workspace, "delay", without_the_note) == ["Common/reports/a/Arrival delays"]
    shared = under(bob, {(Resource.FOLDER, ids[f"{ANN}/Delays"]): ("allow", ["read"])})
    for guest in (shared, replace(shared, groups=frozenset())):
        assert found(workspace, "day", guest, f"{ANN}/Delays") == [f"{ANN}/Delays/old/per day"]
    with pytest.raises(Forbidden, match="permission to read folder"):
        found(workspace, "day", guest)


@pytest.fixture
def files(contents: JupyterContents, ann: Caller) -> JupyterContents:
    """Notebooks and folders of ann and in `Common`."""
    for path in ("Common/Delays", "Common/a", "Common/a/b", f"{ANN}/work"):
        contents.save(path, ContentsSave(type="directory"), by=ann)
    for path in ("Common/a/b/delay.ipynb", "Common/a/Delay.txt", f"{ANN}/work/delays.ipynb", f"{ANN}/none.ipynb"):
        contents.save(path, ContentsSave(), by=ann)
    return contents


def found_files(contents: JupyterContents, text: str, by: Caller, path: str = "") -> list[str]:
    model = contents.get(path, Wanted(), SearchText(text), by=by)
    assert (model.type, model.path, model.message) == ("directory", path, None)
    return [child.path for child in model.content]


@on_sqlite
def test_a_search_finds_files_and_folders_the_nearest_first(files: JupyterContents, ann: Caller, admin: Caller):
    in_common = ["Common/Delays", "Common/a/Delay.txt", "Common/a/b/delay.ipynb"]
    everywhere = ["Common/Delays", "Common/a/Delay.txt", f"{ANN}/work/delays.ipynb", "Common/a/b/delay.ipynb"]
    assert found_files(files, "dELay", ann) == found_files(files, "delay", admin) == everywhere
    assert found_files(files, "delay", ann, "Common") == in_common
    assert found_files(files, "delay", ann, "Common/a") == in_common[1:]
    assert found_files(files, "delay", ann, "Users") == found_files(files, "delay", ann, ANN) == everywhere[2:3]
    assert found_files(files, "a", ann, "Common/a") == in_common[1:]
    assert found_files(files, "None", ann) == [f"{ANN}/none.ipynb"]
    kinds = [child.type for child in files.get("", Wanted(), SearchText("delay"), by=ann).content]
    assert kinds == ["directory", "file", "notebook", "notebook"]


def notebook(*sources: Any, **members: Any) -> bytes:
    cells = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, **members}).encode()


@on_sqlite
def test_a_notebook_is_found_by_what_is_written_in_its_cells(
    common: Path, files: JupyterContents, ann: Caller, bob: Caller
):
    written = notebook(["%%svc_db --tap flights\n", 'SELECT "Straße"'], "df.mean()", metadata={"author": "km"})
    (common / "a" / "b" / "n.ipynb").write_bytes(written)
    (common / "a" / "n.txt").write_bytes(written)
    (common / "a" / "x.ipynb").mkdir()
    for name, data in {
        "odd": notebook(None),
        "list": b'[{"source": "select"}]',
        "deep": b"[" * 100_000,
        "none": b"",
        "half": written[:-9],
    }.items():
        (common / "a" / f"{name} .ipynb").write_bytes(data)
    here = ["Common/a/b/n.ipynb"]
    for text in ("SELECT", 'flights\nselect "STRASSE', "df.MEAN()"):
        assert found_files(files, text, bob) == found_files(files, text, bob, "Common/a/b") == here, text
    for text in ("author", "km", "cells", "select\n"):
        assert found_files(files, text, bob) == [], text
    files.save(f"{ANN}/work/mine.ipynb", ContentsSave(content=json.loads(written)), by=ann)
    assert found_files(files, "strasse", ann) == [f"{ANN}/work/mine.ipynb", *here]
    assert found_files(files, "strasse", bob) == here


@on_sqlite
def test_a_search_says_which_notebooks_were_searched_by_name_only(
    common: Path, files: JupyterContents, ann: Caller, monkeypatch: pytest.MonkeyPatch
):
    written = notebook("select delay")
    for name in ("1", "2", "3"):
        (common / "Delays" / f"{name}.ipynb").write_bytes(written)
    (common / "Delays" / "delay.ipynb").write_bytes(written * 2)
    monkeypatch.setattr(searches, "SOURCES_LIMIT_BYTES", len(written) * 2)
    model = files.get("Common/Delays", Wanted(), SearchText("delay"), by=ann)
    assert [child.name for child in model.content] == ["1.ipynb", "2.ipynb", "delay.ipynb"]
    assert model.message == (
        "some notebooks were searched by name only, as they are too large or too many: search in a folder"
    )
    monkeypatch.setattr(searches, "SOURCES_LIMIT_BYTES", len(written) * 3)
    monkeypatch.setattr(searches, "READ_LIMIT_BYTES", len(written) - 1)
    model = files.get("Common/Delays", Wanted(), SearchText("select"), by=ann)
    assert (model.content, bool(model.message)) == ([], True)


@on_sqlite
def test_a_search_leaves_out_the_files_of_others_and_those_that_are_not_served(
    common: Path, files: JupyterContents, bob: Caller, tmp_path: Path
):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "delays elsewhere").touch()
    (common / "delays link").symlink_to(tmp_path / "elsewhere")
    (common / "a link").symlink_to(tmp_path / "elsewhere")
    (common / ".delays").mkdir()
    (common / ".delays" / "delay").touch()
    assert found_files(files, "delay", bob) == ["Common/Delays", "Common/a/Delay.txt", "Common/a/b/delay.ipynb"]
    with pytest.raises(Forbidden, match="another user's folder"):
        found_files(files, "delay", bob, ANN)


@on_sqlite
def test_a_search_goes_as_deep_as_a_path_can_name(common: Path, files: JupyterContents, ann: Caller):
    common.joinpath("a", *["deep"] * 70).mkdir(parents=True)
    found = found_files(files, "deep", ann)
    assert len(found) == 62
    assert len(found[-1].split("/")) == 64
    assert files.get(found[-1], Wanted(), by=ann).path == found[-1]


@on_sqlite
@pytest.mark.parametrize(
    ("path", "found", "closed"),
    [
        ("", ["Common/Delays", "Common/a/Delay.txt"], f"{ANN}/work and 1 more"),
        ("Common", ["Common/Delays", "Common/a/Delay.txt"], "Common/a/b"),
        ("Common/Delays", [], None),
    ],
)
def test_a_search_says_what_the_service_cannot_read(
    files: JupyterContents,
    ann: Caller,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    found: list[str],
    closed: str | None,
):
    entries = FileTree.entries

    def refusing(tree: FileTree, parts: Sequence[str]) -> dict[str, os.stat_result]:
        if parts[-1] in ("b", "work"):
            raise PermissionError(errno.EACCES, "Permission denied", parts[-1])
        return entries(tree, parts)

    monkeypatch.setattr(FileTree, "entries", refusing)
    model = files.get(path, Wanted(), SearchText("delay"), by=ann)
    assert [child.path for child in model.content] == found
    assert model.message == (closed and f"not searched, as the service may not read it: {closed}")


@on_sqlite
def test_a_search_goes_on_without_a_notebook_that_cannot_be_read(
    common: Path, files: JupyterContents, ann: Caller, monkeypatch: pytest.MonkeyPatch
):
    failures = {"gone.ipynb": FileNotFoundError(errno.ENOENT, ""), "closed.ipynb": PermissionError(errno.EACCES, "")}
    for name in (*failures, "open.ipynb"):
        (common / "a" / name).write_bytes(notebook("select 1"))
    read = FileTree.read

    def failing(tree: FileTree, parts: Sequence[str], limit: int) -> tuple[bytes, os.stat_result]:
        if parts[-1] in failures:
            raise failures[parts[-1]]
        return read(tree, parts, limit)

    monkeypatch.setattr(FileTree, "read", failing)
    model = files.get("Common", Wanted(), SearchText("select"), by=ann)
    assert [child.path for child in model.content] == ["Common/a/open.ipynb"]
    assert model.message == "not searched, as the service may not read it: Common/a/closed.ipynb"


@on_sqlite
@pytest.mark.parametrize("path", ["", "Users", "Common"])
def test_a_search_is_refused_while_notebooks_are_off(
    files: JupyterContents, access: Access, admin: Caller, ann: Caller, path: str
):
    access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=False), by=admin)
    with pytest.raises(Forbidden, match="switched off for this account"):
        files.get(path, Wanted(), SearchText("delay"), by=ann)


@on_sqlite
def test_a_search_needs_a_folder(files: JupyterContents, ann: Caller):
    with pytest.raises(Invalid, match=r"path: Common/a/Delay.txt is a file; search in a folder"):
        files.get("Common/a/Delay.txt", Wanted(), SearchText("delay"), by=ann)
    with pytest.raises(Invalid, match="type: Common is a directory, not a notebook"):
        files.get("Common", Wanted(type="notebook"), SearchText("delay"), by=ann)
    with pytest.raises(NotFound, match="there is no file or folder Common/nowhere"):
        files.get("Common/nowhere", Wanted(), SearchText("delay"), by=ann)


@on_sqlite
@pytest.mark.parametrize(
    ("limits", "paths", "message"),
    [
        ({"FILES_FOUND_LIMIT": 3}, 3, None),
        ({"FILES_FOUND_LIMIT": 2}, 2, "only the first 2 are listed: search for a longer text, or in a folder"),
        ({"FILES_SEARCHED_LIMIT": 5}, 3, None),
        ({"FILES_SEARCHED_LIMIT": 4}, 2, "only the first 4 files and folders were searched: search in a folder"),
    ],
)
def test_what_a_search_leaves_out_is_said(
    files: JupyterContents,
    ann: Caller,
    monkeypatch: pytest.MonkeyPatch,
    limits: dict[str, Any],
    paths: int,
    message: str | None,
):
    for name, limit in limits.items():
        monkeypatch.setattr(searches, name, limit)
    model = files.get("Common", Wanted(), SearchText("delay"), by=ann)
    assert (len(model.content), model.message) == (paths, message)
