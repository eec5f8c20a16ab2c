"""Policies of folders and of what is in them: the nearest one that names the caller decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from svc_jupyter.api.folders import DASHBOARDS, NOTES, FolderCreate, FolderMove, FolderReference
from svc_jupyter.api.notes import NoteCreate, NoteUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.policy_book import PolicyBook, entries_of
from svc_jupyter.service.ground.errors import Forbidden
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.workspace.workspace import Workspace

WHOLE = Page(1, 100)
Policies = Mapping[tuple[Resource, int], tuple[str, list[str]]]


def under(caller: Caller, policies: Policies) -> Caller:
    """The caller as the policies, one entry each, make them."""
    book = {
        key: entries_of([{"access": access, "condition": {"service_users": [caller.user_id]}, "action": actions}])
        for key, (access, actions) in policies.items()
    }
    return replace(caller, policies=PolicyBook(1, book))


@pytest.fixture
def ids(workspace: Workspace, ann: Caller) -> dict[str, int]:
    """Folders and notes of ann: her folder `a` with `a/b`, a note in each, and one in `Common`."""
    found = {}
    for parent, name in (("Users/ann@example.org", "a"), ("Users/ann@example.org/a", "b"), ("Common", "c")):
        found[name] = workspace.folders.create(FolderCreate(name=name, location=parent, type=NOTES), by=ann).id
    for location in ("Users/ann@example.org/a", "Users/ann@example.org/a/b", "Common/c"):
        note = workspace.notes.create(NoteCreate(name="n", location=location), by=ann).summary
        found[f"n in {location[-1]}"] = note.id
    return found


def test_sharing_a_folder_shares_what_is_in_it(workspace: Workspace, bob: Caller, ids: dict[str, int]):
    reader = under(bob, {(Resource.FOLDER, ids["a"]): ("allow", ["read"])})
    assert workspace.notes.get(ids["n in b"], by=reader).summary.location == "Users/ann@example.org/a/b"
    shown = workspace.lists.list(NOTES, "Users/ann@example.org/a", WHOLE, by=reader)
    assert [one.id for one in (*shown.folders, *shown.notes)] == [ids["b"], ids["n in a"]]
    with pytest.raises(Forbidden, match="another user's folder"):
        workspace.lists.list(NOTES, "Users/ann@example.org", WHOLE, by=reader)
    with pytest.raises(Forbidden, match=r"another user's folder.*permission to update note"):
        workspace.notes.update(ids["n in b"], NoteUpdate(name="x"), by=reader)
    writer = under(bob, {(Resource.FOLDER, ids["a"]): ("allow", ["read", "update"])})
    assert workspace.notes.create(NoteCreate(name="new", location="Users/ann@example.org/a/b"), by=writer)
    move = FolderMove(folder_id=ids["c"], destination_location="Users/ann@example.org/a", type=NOTES)
    assert workspace.folders.move(move, by=writer).folder.location == "Users/ann@example.org/a/c"
    with pytest.raises(Forbidden, match="permission to delete folder"):
        workspace.folders.delete(FolderReference(folder_id=ids["b"], type=NOTES), by=writer)


def test_the_nearest_policy_decides(workspace: Workspace, admin: Caller, bob: Caller, ids: dict[str, int]):
    policies: dict[tuple[Resource, int], tuple[str, list[str]]] = {
        (Resource.FOLDER, ids["a"]): ("allow", ["all"]),
        (Resource.FOLDER, ids["b"]): ("deny", ["read"]),
    }
    caller = under(bob, policies)
    with pytest.raises(Forbidden, match=f"of folder {ids['b']}: entry 1 of the object's policy denies"):
        workspace.notes.get(ids["n in b"], by=caller)
    shown = workspace.lists.list(NOTES, "Users/ann@example.org/a", WHOLE, by=caller)
    assert [one.id for one in (*shown.folders, *shown.notes)] == [ids["n in a"]]
    caller = under(bob, {**policies, (Resource.NOTE, ids["n in b"]): ("allow", ["read"])})
    assert workspace.notes.get(ids["n in b"], by=caller).summary.id == ids["n in b"]
    denied = {(Resource.FOLDER, ids["a"]): ("deny", ["all"])}
    assert workspace.notes.get(ids["n in a"], by=under(admin, denied)).summary.id == ids["n in a"]


def test_lists_hide_what_may_not_be_read(workspace: Workspace, ann: Caller, bob: Caller, ids: dict[str, int]):
    notes = [
        workspace.notes.create(NoteCreate(name=f"x{number}", location="Common/c"), by=ann).summary.id
        for number in range(4)
    ]
    caller = under(bob, {(Resource.NOTE, one): ("deny", ["read"]) for one in notes[:2]})
    shown = workspace.lists.list(NOTES, "Common/c", Page(1, 3), by=caller)
    assert [one.id for one in shown.notes] == [ids["n in c"], *notes[2:]]
    assert shown.paging_info.next_page is None
    closed = under(bob, {(Resource.FOLDER, ids["c"]): ("deny", ["update", "delete"])})
    with pytest.raises(Forbidden, match="denies"):
        workspace.notes.create(NoteCreate(name="y", location="Common/c"), by=closed)
    with pytest.raises(Forbidden, match="denies"):
        workspace.notes.update(notes[0], NoteUpdate(name="y"), by=closed)


def test_a_folder_is_not_deleted_over_what_a_policy_keeps(workspace: Workspace, bob: Caller, ids: dict[str, int]):
    note = (Resource.NOTE, ids["n in c"])
    with pytest.raises(Forbidden, match=rf"note {ids['n in c']} \(n\) is in it.*denies you the permission to delete"):
        workspace.folders.delete(
            FolderReference(location="Common/c", type=NOTES), by=under(bob, {note: ("deny", ["delete"])})
        )
    assert workspace.folders.delete(
        FolderReference(location="Common/c", type=NOTES), by=under(bob, {note: ("deny", ["update"])})
    ).deleted.notes


def test_a_role_without_a_permission_does_not_give_it(workspace: Workspace, ann: Caller, ids: dict[str, int]):
    reader = replace(ann, groups=frozenset({"readers"}), rights={(Action.READ, Resource.NOTE): "reading"})
    assert workspace.notes.get(ids["n in a"], by=reader).summary.id
    refused: list[Callable[[], Any]] = [
        lambda: workspace.notes.update(ids["n in a"], NoteUpdate(name="x"), by=reader),
        lambda: workspace.notes.delete(ids["n in a"], by=reader),
        lambda: workspace.notes.create(NoteCreate(name="x", location="Common"), by=reader),
        lambda: workspace.lists.list(NOTES, None, WHOLE, by=reader),
        lambda: workspace.lists.list(DASHBOARDS, "Common", WHOLE, by=reader),
        lambda: workspace.folders.create(FolderCreate(name="x", location="Common", type=NOTES), by=reader),
        lambda: workspace.notes.delete(4711, by=reader),
        lambda: workspace.folders.delete(FolderReference(folder_id=4711, type=NOTES), by=reader),
        lambda: workspace.dashboards.delete(4711, by=reader),
    ]
    for call in refused:
        with pytest.raises(Forbidden, match=r"permission to \w+ (note|folder|notebook_dashboard)"):
            call()
