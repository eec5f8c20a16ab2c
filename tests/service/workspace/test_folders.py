"""Folders of notes and dashboards, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa

from svc_jupyter.api.dashboards import DashboardCreate
from svc_jupyter.api.folders import (
    DASHBOARDS,
    NOTES,
    Folder,
    FolderCreate,
    FolderMove,
    FolderReference,
    FolderRename,
)
from svc_jupyter.api.notes import NoteCreate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, ServiceError, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.workspace import folders
from svc_jupyter.service.workspace.workspace import Workspace

Make = Callable[..., Folder]
WHOLE = Page(1, 100)


@pytest.fixture
def make(workspace: Workspace, ann: Caller) -> Make:
    """Makes folders along a location, those that are missing."""

    def make(location: str, folder_type: str = NOTES, by: Caller = ann) -> Folder:
        *_, parent, name = location.rsplit("/", 1)
        return workspace.folders.create(FolderCreate(name=name, location=parent, type=folder_type), by=by)

    return make


def moved(workspace: Workspace, by: Caller, source: str, target: str, folder_type: str = NOTES) -> Folder:
    body = FolderMove(location=source, destination_location=target, type=folder_type)
    return workspace.folders.move(body, by=by).folder


def locations(workspace: Workspace, by: Caller, location: str | None = None, folder_type: str = NOTES) -> list[str]:
    return [folder.location for folder in workspace.lists.list(folder_type, location, WHOLE, by=by).folders]


def note_in(workspace: Workspace, location: str, name: str, by: Caller) -> int:
    return workspace.notes.create(NoteCreate(name=name, location=location), by=by).summary.id


def test_a_folder_lives_from_creation_to_deletion(workspace: Workspace, ann: Caller, make: Make):
    folder = make("Common/reports")
    assert (folder.name, folder.location, folder.type, folder.user_id) == (
        "reports",
        "Common/reports",
        NOTES,
        ann.user_id,
    )
    assert folder.created_at.endswith("Z")
    renamed = workspace.folders.rename(FolderRename(folder_id=folder.id, name="Reports", type=NOTES), by=ann)
    assert (renamed.id, renamed.location) == (folder.id, "Common/Reports")
    assert locations(workspace, ann, "Common") == ["Common/Reports"]
    gone = workspace.folders.delete(FolderReference(location="/Common/Reports/", type=NOTES), by=ann)
    assert (gone.success, gone.message) == (True, "Common/Reports was deleted: 1 folder, 0 notes, 0 dashboards")
    assert locations(workspace, ann, "Common") == []
    with pytest.raises(NotFound, match="there is no folder Common/Reports of notes"):
        workspace.lists.list(NOTES, "Common/Reports", WHOLE, by=ann)


def test_a_move_takes_the_whole_subtree_and_keeps_every_id(workspace: Workspace, ann: Caller, make: Make):
    top, target = make("Common/a"), make("Users/ann@example.org/target")
    inner = make("Common/a/b")
    note = note_in(workspace, "Common/a/b", "n", ann)
    folder = moved(workspace, ann, "Common/a", "Users/ann@example.org/target")
    assert (folder.id, folder.location, folder.parent_id) == (top.id, "Users/ann@example.org/target/a", target.id)
    found = workspace.notes.get(note, by=ann).summary
    assert (found.location, found.folder_id) == ("Users/ann@example.org/target/a/b", inner.id)
    assert locations(workspace, ann, "Common") == []
    # Back by its id; to where it lies already is not an error.
    back = FolderMove(folder_id=top.id, destination_location="Common", type=NOTES)
    assert workspace.folders.move(back, by=ann).message == "Users/ann@example.org/target/a is in Common now"
    assert workspace.folders.move(back, by=ann).folder.location == "Common/a"


def test_a_move_that_cannot_be_changes_nothing(workspace: Workspace, ann: Caller, make: Make, database: Database):
    for location in ("Common/a", "Common/a/b", "Common/c", "Common/c/a"):
        make(location)
    make("Common/boards", DASHBOARDS)
    with database.connect() as connection:
        before = connection.execute(sa.select(folders).order_by(folders.c.id)).all()
    refusals: list[tuple[str, str, type[ServiceError], str]] = [
        ("Common/a", "Common/a", Invalid, "destination_location: Common/a cannot be moved into itself"),
        ("Common/a", "Common/a/b", Invalid, "destination_location: Common/a cannot be moved into itself"),
        ("Common/a", "Common/c", Invalid, "destination_location: there is a folder Common/c/a already"),
        ("Common/a", "Common/boards", Invalid, "is a folder of notebook_dashboards, not of notes"),
        ("Common/boards", "Common/c", Invalid, "location: Common/boards is a folder of notebook_dashboards"),
        ("Common/a", "Common/nowhere", NotFound, "there is no folder Common/nowhere"),
        ("Common/nowhere", "Common/a", NotFound, "there is no folder Common/nowhere"),
        ("Common", "Common/a", Invalid, "Common is a root folder"),
        ("Users/ann@example.org", "Common/a", Invalid, "is a root folder"),
        ("Common/a", "Users", Invalid, "destination_location: Users holds the root folders only"),
        ("Common/a", "", Invalid, "destination_location: the empty location holds"),
        ("Common/a", "Elsewhere", NotFound, "there is nothing at 'Elsewhere'"),
        ("Common/a/../c", "Common", Invalid, "location: '..': names that begin with a dot"),
        ("Common/a\x00", "Common", Invalid, "holds a control character"),
        ("Common/" + "x" * 256, "Common", Invalid, "longer than 255 bytes"),
    ]
    for source, target, error, words in refusals:
        with pytest.raises(error, match=words):
            moved(workspace, ann, source, target)
    with database.connect() as connection:
        after = connection.execute(sa.select(folders).order_by(folders.c.id)).all()
    assert [row for row in after if row.root_of is None] == [row for row in before if row.root_of is None]


def test_names_may_be_of_any_script(workspace: Workspace, ann: Caller, make: Make):
    names = ["résumé", "Отчёты", "報告", "🦊 fox", "a & b <c>", "x" * 255]
    for name in names:
        make(f"Common/{name}")
        assert moved(workspace, ann, f"Common/{name}", "Users/ann@example.org").name == name
    found = locations(workspace, ann, "Users/ann@example.org")
    assert sorted(found) == sorted(f"Users/ann@example.org/{name}" for name in names)


def test_two_names_that_look_the_same_are_the_same(workspace: Workspace, ann: Caller, make: Make):
    folder = make("Common/re\u0301sume\u0301")
    assert folder.name == "r\u00e9sum\u00e9"
    with pytest.raises(Invalid, match="there is a folder Common/résumé already"):
        make("Common/r\u00e9sum\u00e9")
    make("Common/RÉSUMÉ")
    assert workspace.lists.list(NOTES, "Common/re\u0301sume\u0301", WHOLE, by=ann).folders == []


def test_a_name_that_cannot_be_is_refused(make: Make, workspace: Workspace, ann: Caller):
    folder = make("Common/a")
    refusals = {
        "a/b": "must not hold a slash",
        "..": "begin with a dot",
        ".hidden": "begin with a dot",
        " ": "must not be blank",
        "a\nb": "control character",
        "a\x00": "control character",
        "é" * 128: "longer than 255 bytes",
    }
    for name, words in refusals.items():
        with pytest.raises(Invalid, match=words):
            workspace.folders.create(FolderCreate(name=name, location="Common", type=NOTES), by=ann)
        with pytest.raises(Invalid, match=words):
            workspace.folders.rename(FolderRename(folder_id=folder.id, name=name, type=NOTES), by=ann)
    assert locations(workspace, ann, "Common") == ["Common/a"]


@pytest.mark.all
def test_nothing_lies_so_deep_that_no_location_names_it(workspace: Workspace, ann: Caller, make: Make):
    location = "Common"
    for _ in range(32):
        location += "/d"
        make(location)
    make("Common/e")
    deepest = "Common/e"
    for _ in range(31):
        deepest += "/d"
        make(deepest)
    with pytest.raises(Invalid, match=r"destination_location: .* would reach deeper than 64 folders"):
        moved(workspace, ann, "Common/e", location)
    assert locations(workspace, ann, deepest) == []
    long = "Common"
    for _ in range(15):
        long += "/" + "x" * 255
        make(long)
    with pytest.raises(Invalid, match="longer than 4096 characters"):
        make(long + "/" + "y" * 255)
    short = make("Common/s")
    moved(workspace, ann, "Common/" + "x" * 255, "Common/s")
    with pytest.raises(Invalid, match="name: locations in it would be longer than 4096 characters"):
        workspace.folders.rename(FolderRename(folder_id=short.id, name="s" * 255, type=NOTES), by=ann)


def test_id_and_location_must_agree(workspace: Workspace, ann: Caller, make: Make):
    a, b, board = make("Common/a"), make("Common/b"), make("Common/a", DASHBOARDS)
    with pytest.raises(Invalid, match=f"do not agree: folder {b.id} is Common/b"):
        workspace.folders.delete(FolderReference(folder_id=b.id, location="Common/a", type=NOTES), by=ann)
    with pytest.raises(Invalid, match=f"folder {board.id} is one of notebook_dashboards, not of notes"):
        workspace.folders.delete(FolderReference(folder_id=board.id, type=NOTES), by=ann)
    with pytest.raises(Invalid, match="location: give the folder's location, or its folder_id"):
        workspace.folders.delete(FolderReference(type=NOTES), by=ann)
    with pytest.raises(NotFound, match="there is no folder 4711"):
        workspace.folders.delete(FolderReference(folder_id=4711, type=NOTES), by=ann)
    both = FolderReference(folder_id=a.id, location="/Common//a", type=NOTES)
    assert workspace.folders.delete(both, by=ann).deleted.folders == 1
    assert locations(workspace, ann, "Common", DASHBOARDS) == ["Common/a"]


def test_a_deletion_shows_how_much_went(workspace: Workspace, ann: Caller, make: Make):
    for location in ("Common/a", "Common/a/b", "Common/a/b/c", "Common/keep"):
        make(location)
    notes = [note_in(workspace, "Common/a/b", name, ann) for name in ("x", "y")]
    kept = note_in(workspace, "Common/keep", "x", ann)
    make("Common/boards", DASHBOARDS)
    for number, note_id in enumerate([*notes, kept]):
        body = DashboardCreate(note_id=note_id, name=str(number), location="Common/boards")
        workspace.dashboards.create(body, by=ann)
    told = workspace.folders.deletion(FolderReference(location="Common/a", type=NOTES), by=ann)
    assert told.message == "deleting Common/a takes 3 folders, 2 notes, 2 dashboards"
    gone = workspace.folders.delete(FolderReference(location="Common/a", type=NOTES), by=ann)
    assert gone.deleted == told.deletes
    assert gone.deleted.model_dump() == {"folders": 3, "notes": 2, "notebook_dashboards": 2}
    assert "3 folders, 2 notes, 2 dashboards" in gone.message
    left = workspace.lists.list(DASHBOARDS, "Common/boards", WHOLE, by=ann).notebook_dashboards
    assert [board.name for board in left] == ["2"]
    gone = workspace.folders.delete(FolderReference(location="Common/boards", type=DASHBOARDS), by=ann)
    assert gone.deleted.model_dump() == {"folders": 1, "notes": 0, "notebook_dashboards": 1}
    assert workspace.notes.get(kept, by=ann).summary.name == "x"


def test_a_note_that_a_command_uses_is_not_deleted(workspace: Workspace, ann: Caller, make: Make, database: Database):
    make("Common/a")
    make("Common/a/b")
    note_id = note_in(workspace, "Common/a/b", "busy", ann)
    command = {"account_id": ann.account_id, "user_id": ann.user_id, "command_type": "SparkCommand"}
    command |= {
        "folder_key": "0a1b",
        "command_source": "API",
        "created_at": 1.0,
        "can_notify": False,
        "status": "waiting",
    }
    with database.begin() as connection:
        command_id = connection.execute(
            sa.insert(commands).values(command={"note_id": note_id}, **command).returning(commands.c.id)
        ).scalar_one()
    words = rf"note {note_id} \(busy\) is being run by command {command_id}"
    for call in (workspace.folders.delete, workspace.folders.deletion):
        with pytest.raises(StateConflict, match=words):
            call(FolderReference(location="Common/a", type=NOTES), by=ann)
    with pytest.raises(StateConflict, match=words):
        workspace.notes.delete(note_id, by=ann)
    assert moved(workspace, ann, "Common/a/b", "Common").location == "Common/b"
    with database.begin() as connection:
        connection.execute(sa.update(commands).values(status="running"))
    with pytest.raises(StateConflict, match=words):
        workspace.notes.delete(note_id, by=ann)
    workspace.folders.delete(FolderReference(location="Common/a", type=NOTES), by=ann)
    with database.begin() as connection:
        connection.execute(sa.update(commands).values(status="done"))
    assert workspace.notes.delete(note_id, by=ann).status == "deleted"


def test_members_share_common_and_have_a_folder_of_their_own(
    workspace: Workspace, admin: Caller, ann: Caller, bob: Caller, make: Make
):
    make("Users/ann@example.org/mine")
    make("Common/ours")
    assert locations(workspace, ann) == ["Common", "Users/ann@example.org"]
    assert locations(workspace, bob, "Users") == ["Users/bob@example.org"]
    assert locations(workspace, admin) == [
        "Common",
        "Users/admin@localhost",
        "Users/ann@example.org",
        "Users/bob@example.org",
    ]
    words = "Users/ann@example.org.* is another user's folder"
    with pytest.raises(Forbidden, match=words):
        locations(workspace, bob, "Users/ann@example.org")
    with pytest.raises(Forbidden, match=words):
        make("Users/ann@example.org/theirs", by=bob)
    with pytest.raises(Forbidden, match=words):
        moved(workspace, bob, "Users/ann@example.org/mine", "Common")
    with pytest.raises(Forbidden, match=words):
        moved(workspace, bob, "Common/ours", "Users/ann@example.org")
    for path in ("Users/nobody@example.org", "Users/ann@example.org/mine", "Users/ann@example.org/none"):
        with pytest.raises(Forbidden, match=f"^{path} is another user's folder, or nobody's; .* manage folder"):
            locations(workspace, bob, path)
        with pytest.raises(Forbidden, match=f"^{path} is another user's folder, or nobody's; .* manage folder"):
            moved(workspace, bob, "Common/ours", path)
    theirs = workspace.lists.list(NOTES, "Users/ann@example.org", WHOLE, by=ann).folders[0].id
    for folder_id, folder_type in product((theirs, 4711), (NOTES, DASHBOARDS)):
        with pytest.raises(NotFound, match=f"^there is no folder {folder_id} in this account$"):
            workspace.folders.delete(FolderReference(folder_id=folder_id, type=folder_type), by=bob)
    with pytest.raises(NotFound, match="nobody in this account has that address"):
        locations(workspace, admin, "Users/nobody@example.org")
    assert moved(workspace, bob, "Common/ours", "Users/bob@example.org").user_id == ann.user_id
    assert moved(workspace, admin, "Users/ann@example.org/mine", "Users/bob@example.org").id
    assert locations(workspace, bob, "Users/BOB@example.org") == [
        "Users/bob@example.org/mine",
        "Users/bob@example.org/ours",
    ]


def test_a_folder_is_listed_by_pages_folders_first(workspace: Workspace, ann: Caller, make: Make):
    for number in range(5):
        make(f"Common/f{number}")
        note_in(workspace, "Common", f"n{number}", ann)
    seen: list[str] = []
    page: int | None = 1
    while page:
        part = workspace.lists.list(NOTES, "Common", Page(page, 3), by=ann)
        seen += [one.name for one in (*part.folders, *part.notes)]
        page = part.paging_info.next_page
    assert seen == [f"f{number}" for number in range(5)] + [f"n{number}" for number in range(5)]
    roots = [workspace.lists.list(NOTES, None, Page(number, 1), by=ann) for number in (1, 2, 3)]
    assert [[one.location for one in part.folders] for part in roots] == [["Common"], ["Users/ann@example.org"], []]
    assert [part.paging_info.next_page for part in roots] == [2, None, None]


def test_no_call_asks_once_per_row(workspace: Workspace, ann: Caller, make: Make, count_statements: list[str]):
    counts: list[tuple[int, ...]] = []
    make("Common/elsewhere")
    for size in (2, 12):
        top = make(f"Common/top{size}")
        for number in range(size):
            make(f"Common/top{size}/{number}")
            note_in(workspace, f"Common/top{size}", str(number), ann)
        steps: list[Callable[[], Any]] = [
            lambda top=top: workspace.lists.list(NOTES, top.location, WHOLE, by=ann),
            lambda top=top: moved(workspace, ann, top.location, "Common/elsewhere"),
            lambda top=top: workspace.folders.delete(FolderReference(folder_id=top.id, type=NOTES), by=ann),
        ]
        done: list[int] = []
        for step in steps:
            count_statements.clear()
            step()
            done.append(len([one for one in count_statements if not one.startswith("PRAGMA")]))
        counts.append(tuple(done))
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 12


def test_two_moves_that_race_make_no_cycle(workspace: Workspace, ann: Caller, make: Make, database: Database):
    a, b = make("Common/a"), make("Common/b")
    barrier = Barrier(2)

    def move(source: str, target: str) -> bool:
        barrier.wait(10)
        try:
            moved(workspace, ann, source, target)
        except (Invalid, NotFound):
            return False
        return True

    for _ in range(10):
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(move, "Common/a", "Common/b")
            second = pool.submit(move, "Common/b", "Common/a")
            assert [first.result(), second.result()].count(True) == 1
        with database.connect() as connection:
            found = connection.execute(sa.select(folders.c.id, folders.c.parent_id).where(folders.c.root_of.is_(None)))
            parents = {row.id: row.parent_id for row in found}
        inner = a if parents[a.id] == b.id else b
        workspace.folders.move(FolderMove(folder_id=inner.id, destination_location="Common", type=NOTES), by=ann)


def test_a_deletion_that_races_with_saves_leaves_nothing_behind(
    workspace: Workspace, ann: Caller, make: Make, database: Database
):
    barrier = Barrier(3)

    def save(location: str, number: int) -> int:
        barrier.wait(10)
        made = 0
        try:
            while True:
                note_in(workspace, location, f"{number}-{made}", ann)
                made += 1
        except NotFound:
            return made

    for turn in range(2):
        location = f"Common/{turn}"
        make(location)
        with ThreadPoolExecutor(2) as pool:
            savers = [pool.submit(save, location, number) for number in range(2)]
            barrier.wait(10)
            while not workspace.lists.list(NOTES, location, Page(1, 1), by=ann).notes:
                assert not any(saver.done() for saver in savers)
            gone = workspace.folders.delete(FolderReference(location=location, type=NOTES), by=ann)
            assert sum(saver.result() for saver in savers) == gone.deleted.notes
    with database.connect() as connection:
        for table in ("notes", "note_revisions"):
            assert connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar() == 0
