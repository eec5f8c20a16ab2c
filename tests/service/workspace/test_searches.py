"""Searches for notes, dashboards, notebooks and their folders by name or id."""

from __future__ import annotations

import errno
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
from svc_jupyter.api.notes import NoteCreate
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
        ({"FILES_FOUND_LIMIT": 2}, 2, "only the first 2 are listed: search for more of the name, or in a folder"),
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
