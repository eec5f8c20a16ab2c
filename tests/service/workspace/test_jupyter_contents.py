"""The rules, on each database; the file system's part is in test_file_tree.py."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_jupyter.api.account import Features, FeaturesUpdate
from svc_jupyter.api.jupyter_contents import ContentsCreate, ContentsMove, ContentsSave
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.schema.audit import audit_entries
from svc_jupyter.service.workspace import contents_files
from svc_jupyter.service.workspace.contents_access import require_jupyter_notebooks
from svc_jupyter.service.workspace.contents_files import Wanted
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents

BARE = Wanted(content=False)
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])


def text(content: str) -> ContentsSave:
    return ContentsSave(type="file", format="text", content=content)


def names(contents: JupyterContents, path: str, by: Caller) -> list[str]:
    return [child.name for child in contents.get(path, Wanted(), by=by).content]


def calls(contents: JupyterContents, path: str, by: Caller) -> dict[str, Callable[[], Any]]:
    """Return every call with a path; `Common/there` exists."""
    return {
        "get": lambda: contents.get(path, Wanted(), by=by),
        "create": lambda: contents.create(path, ContentsCreate(), by=by),
        "copy": lambda: contents.create("Common", ContentsCreate(copy_from=path), by=by),
        "save": lambda: contents.save(path, text("mine now"), by=by),
        "move": lambda: contents.move(path, ContentsMove(path="Common/moved"), by=by),
        "move to": lambda: contents.move("Common/there", ContentsMove(path=path), by=by),
        "delete": lambda: contents.delete(path, by=by),
        "check": lambda: contents.check_notebook(path, by),
        "read": lambda: contents.read_notebook(path, account_id=by.account_id, users=[by.user_id]),
        "replace": lambda: contents.replace_notebook(
            path, "{}", account_id=by.account_id, users=[by.user_id], command_id=1
        ),
    }


def test_a_member_sees_common_and_their_own_folder_and_an_administrator_all(contents, admin, ann, bob):
    assert names(contents, "", ann) == ["Common", "Users"]
    assert names(contents, "Users", ann) == ["ann@example.org"]
    assert names(contents, "Users", admin) == ["admin@localhost", "ann@example.org", "bob@example.org"]
    top = contents.get("", BARE, by=ann)
    assert (top.type, top.content, top.writable) == ("directory", None, False)
    contents.save("Users/ann@example.org/diary.txt", text("mine"), by=ann)
    contents.save("Common/for all.txt", text("ours"), by=ann)
    assert contents.get("Common/for all.txt", Wanted(), by=bob).content == "ours"
    assert contents.get("Users/ann@example.org/diary.txt", Wanted(), by=admin).content == "mine"
    upper = contents.get("Users/ANN@Example.org/diary.txt", Wanted(), by=ann)
    assert upper.path == "Users/ann@example.org/diary.txt"


@on_sqlite
def test_another_users_folder_is_refused_and_says_which_permission_is_missing(contents, ann, bob):
    def refusal(call: Callable[[], Any]) -> str:
        with pytest.raises(Forbidden) as refused:
            call()
        return refused.value.message

    contents.save("Users/ann@example.org/diary.txt", text("mine"), by=ann)
    contents.save("Common/there", text("ours"), by=ann)
    told = {
        (path, name): refusal(call)
        for path in ("Users/ann@example.org", "Users/ann@example.org/diary.txt", "Users/ann@example.org/nothing")
        for name, call in calls(contents, path, bob).items()
    }
    reason = "another user's folder; this needs membership of system-admin or of a group"
    assert {key: message for key, message in told.items() if reason not in message} == {}
    assert contents.get("Users/ann@example.org/diary.txt", Wanted(), by=ann).content == "mine"
    assert names(contents, "Common", bob) == ["there"]


@on_sqlite
def test_a_folder_of_nobody_is_not_found_by_an_administrator_and_refused_to_a_member(contents, admin, ann):
    with pytest.raises(NotFound, match="nobody in this account has that address"):
        contents.get("Users/carl@example.org", Wanted(), by=admin)
    with pytest.raises(Forbidden):
        contents.get("Users/carl@example.org", Wanted(), by=ann)


@on_sqlite
def test_an_address_that_looks_like_a_path_has_a_folder_like_any_other(contents, invite, admin, common):
    tricky = invite("../../common@example.org")
    (root,) = names(contents, "Users", tricky)
    made = contents.save(f"Users/{root}/a.txt", text("x"), by=tricky)
    assert made.path == "Users/%2E.%2F..%2Fcommon@example.org/a.txt"
    assert names(contents, "Common", admin) == []
    assert contents.get(made.path, Wanted(), by=admin).content == "x"


@on_sqlite
def test_every_call_is_refused_while_the_feature_is_off(contents, access: Access, admin, ann):
    contents.save("Common/there", text("x"), by=ann)
    access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=False), by=admin)
    for call in calls(contents, "Common/there", admin).values():
        with pytest.raises(Forbidden, match=r'PUT account/features with {"jupyter_notebooks": true}'):
            call()
    with pytest.raises(Forbidden, match="switched off"):
        require_jupyter_notebooks(Features())
    require_jupyter_notebooks(Features(jupyter_notebooks=True))


@on_sqlite
def test_the_root_folders_and_what_is_above_them_stay(contents, admin, ann):
    contents.save("Common/there", text("x"), by=ann)
    for path in ("Common", "Users/ann@example.org", "Users", ""):
        for name in ("copy", "save", "move", "move to", "delete"):
            with pytest.raises(Invalid, match="root folder"):
                calls(contents, path, admin)[name]()
    for path in ("Users", ""):
        with pytest.raises(Invalid, match="name a place in one"):
            contents.create(path, ContentsCreate(type="directory"), by=admin)
    assert names(contents, "Common", admin) == ["there"]


@on_sqlite
def test_an_object_made_without_a_name_gets_a_free_name(contents, ann):
    def make(**fields: Any) -> str:
        return contents.create("Common", ContentsCreate(**fields), by=ann).name

    assert [make(type="notebook") for _ in range(3)] == ["Untitled.ipynb", "Untitled1.ipynb", "Untitled2.ipynb"]
    assert [make(ext="ipynb"), make(), make(), make(ext=".py"), make(type="file", ext="py")] == [
        *("Untitled3.ipynb", "untitled", "untitled1", "untitled.py", "untitled1.py")
    ]
    assert [make(type="directory"), make(type="directory")] == ["Untitled Folder", "Untitled Folder 1"]
    assert make(copy_from="Common/Untitled.ipynb") == "Untitled-Copy1.ipynb"
    assert make(copy_from="Common/Untitled-Copy1.ipynb") == "Untitled-Copy2.ipynb"
    assert make(copy_from="Common/Untitled Folder") == "Untitled Folder-Copy1"
    inner = contents.create("Common/Untitled Folder", ContentsCreate(copy_from="/Common/Untitled.ipynb"), by=ann)
    assert inner.path == "Common/Untitled Folder/Untitled.ipynb"


@on_sqlite
def test_a_given_name_is_taken_or_refused(contents, ann):
    made = contents.create("Common", ContentsCreate(name="daily", type="notebook", kernel="ir"), by=ann)
    assert (made.path, made.type, made.content) == ("Common/daily.ipynb", "notebook", None)
    read = contents.get("Common/daily.ipynb", Wanted(), by=ann)
    assert read.content["metadata"]["kernelspec"]["name"] == "ir"
    assert contents.create("Common", ContentsCreate(name="b.ipynb"), by=ann).type == "notebook"
    for fields, reason in [
        ({"name": "daily.ipynb"}, "Common/daily.ipynb exists already"),
        ({"name": "b.ipynb", "copy_from": "Common/daily.ipynb"}, "Common/b.ipynb exists already"),
        ({"name": "a/b"}, "name: .* slash"),
        ({"name": ".hidden"}, "name: .* hidden"),
        ({"name": "a" * 252, "type": "notebook"}, "File name too long"),
        ({"ext": "/../x"}, "ext: .* slash"),
        ({"name": "x.txt", "kernel": "ir"}, "kernel: only a notebook"),
        ({"copy_from": "Common/../x"}, "hidden"),
        ({"copy_from": "Common"}, "root folder"),
    ]:
        with pytest.raises(Invalid, match=reason):
            contents.create("Common", ContentsCreate(**fields), by=ann)
    with pytest.raises(Invalid, match=r"Common/b\.ipynb is a file, not a folder"):
        contents.create("Common/b.ipynb", ContentsCreate(), by=ann)
    for path, fields in [("Common/none", {}), ("Common", {"copy_from": "Common/none"})]:
        with pytest.raises(NotFound, match="no file or folder Common/none"):
            contents.create(path, ContentsCreate(**fields), by=ann)
    assert names(contents, "Common", ann) == ["b.ipynb", "daily.ipynb"]


@on_sqlite
def test_a_folder_is_not_copied_or_moved_into_itself(contents, ann):
    contents.save("Common/a", ContentsSave(type="directory"), by=ann)
    contents.save("Common/a/b", ContentsSave(type="directory"), by=ann)
    for target in ("Common/a", "Common/a/b"):
        with pytest.raises(Invalid, match="into itself"):
            contents.create(target, ContentsCreate(copy_from="Common/a"), by=ann)
    with pytest.raises(Invalid, match="into itself"):
        contents.move("Common/a", ContentsMove(path="Common/a/b/c"), by=ann)
    assert contents.move("Common/a", ContentsMove(path="Common/a"), by=ann).path == "Common/a"


def test_a_notebook_is_saved_and_read_as_jupyter_has_it(contents, ann, notebook, common: Path):
    made = contents.save("Common/n.ipynb", ContentsSave(type="notebook", format="json", content=notebook), by=ann)
    assert (made.name, made.type, made.format, made.content, made.mimetype) == ("n.ipynb", "notebook", None, None, None)
    read = contents.get("Common/n.ipynb", Wanted(hash=True), by=ann)
    assert (read.format, read.content, read.message, read.hash_algorithm) == ("json", notebook, None, "sha256")
    assert (read.size, read.writable) == ((common / "n.ipynb").stat().st_size, True)
    assert read.last_modified.endswith("Z")
    assert read.created <= read.last_modified
    as_file = contents.get("Common/n.ipynb", Wanted(type="file"), by=ann)
    assert (as_file.type, as_file.format) == ("file", "text")
    assert as_file.content == (common / "n.ipynb").read_text()
    contents.save("Common/same.ipynb", text(as_file.content), by=ann)
    assert (common / "same.ipynb").read_text() == as_file.content


@on_sqlite
def test_files_are_text_or_base64_as_it_is_wanted(contents, ann, common: Path):
    contents.save("Common/t", ContentsSave(content="é\n"), by=ann)
    contents.save("Common/b.png", ContentsSave(format="base64", content="/wCA\n/w=="), by=ann)
    assert (common / "b.png").read_bytes() == b"\xff\x00\x80\xff"
    plain = contents.get("Common/t", Wanted(), by=ann)
    assert (plain.content, plain.format, plain.mimetype, plain.size) == ("é\n", "text", "text/plain", 3)
    picture = contents.get("Common/b.png", Wanted(), by=ann)
    assert (picture.content, picture.format, picture.mimetype) == ("/wCA/w==", "base64", "image/png")
    assert contents.get("Common/t", Wanted(format="base64"), by=ann).content == "w6kK"
    with pytest.raises(Invalid, match=r"format: Common/b\.png is not UTF-8"):
        contents.get("Common/b.png", Wanted(format="text"), by=ann)
    for wanted, path, reason in [
        (Wanted(type="directory"), "Common/t", "is a file, not a directory"),
        (Wanted(type="notebook"), "Common/t", "is a file, not a notebook"),
        (Wanted(type="file"), "Common", "is a directory, not a file"),
        (Wanted(type="notebook"), "", "the empty path is a directory, not a notebook"),
    ]:
        with pytest.raises(Invalid, match=f"type: .*{reason}"):
            contents.get(path, wanted, by=ann)


LACKING = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}
INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("a.ipynb", {"type": "notebook", "content": "{}"}, "content: is not a notebook: it is not a JSON object"),
    ("a.ipynb", {"type": "notebook", "content": {"nbformat": 4}}, "content: is not a notebook"),
    ("a.ipynb", {"content": LACKING}, "it lacks a part of a notebook"),
    ("a.ipynb", {"type": "file", "content": "no JSON"}, "content: is not a notebook: it is not JSON"),
    ("a.txt", {"type": "notebook", "content": {}}, "must end with .ipynb"),
    ("a.txt", {"content": {"a": 1}}, "content: must be a string"),
    ("a.txt", {"content": "x", "format": "json"}, "format: "),
    ("a.txt", {"content": "x!", "format": "base64"}, "not valid base64"),
    ("a.txt", {"content": "é", "format": "base64"}, "not valid base64"),
    ("a.txt", {"content": "\ud800"}, "half of a character pair"),
    ("a.txt", {"content": "x", "chunk": 1}, "chunk: "),
    ("a.txt", {"copy_from": "Common/there"}, "copy_from: "),
    ("there", {"type": "directory"}, "Common/there exists already"),
    ("there", {}, "Common/there exists already"),
    ("folder", {"content": "x"}, "Common/folder exists already"),
    ("there/x", {"content": "x"}, "Common/there is a file, not a folder"),
]


@on_sqlite
def test_an_invalid_save_is_refused_and_changes_nothing(contents, ann):
    def refusal(path: str, fields: dict[str, Any]) -> str:
        with pytest.raises(Invalid) as refused:
            contents.save(f"Common/{path}", ContentsSave(**fields), by=ann)
        return refused.value.message

    contents.save("Common/there", text("old"), by=ann)
    contents.save("Common/folder", ContentsSave(type="directory"), by=ann)
    told = [(path, reason, refusal(path, fields)) for path, fields, reason in INVALID]
    assert [(path, reason, message) for path, reason, message in told if reason not in message] == []
    assert names(contents, "Common", ann) == ["folder", "there"]
    assert contents.get("Common/there", Wanted(), by=ann).content == "old"


_SAID = "the notebook was repaired: tags that were no list of different words were put right"


@on_sqlite
@pytest.mark.parametrize("kind", ["notebook", "file"])
def test_a_notebook_of_another_program_is_repaired_when_it_is_saved_and_that_is_said_once(contents, ann, kind):
    cell = {"cell_type": "markdown", "source": "# A", "metadata": {"tags": None}}
    notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
    body = ContentsSave(type=kind, content=notebook if kind == "notebook" else json.dumps(notebook))
    assert contents.save("Common/n.ipynb", body, by=ann).message == _SAID
    again = contents.get("Common/n.ipynb", Wanted(), by=ann)
    assert again.content["cells"] == [{**cell, "metadata": {"tags": []}}]
    assert again.message is None
    stored = contents.read_notebook("Common/n.ipynb", account_id=ann.account_id, users=[ann.user_id])
    as_file = ContentsSave(type="file", content=stored)
    assert contents.save("Common/n.ipynb", as_file, by=ann).message is None


@on_sqlite
def test_saving_without_content_makes_what_the_name_says(contents, ann):
    assert contents.save("Common/n.ipynb", ContentsSave(), by=ann).type == "notebook"
    assert contents.get("Common/n.ipynb", Wanted(), by=ann).content["cells"] == []
    assert contents.save("Common/e", ContentsSave(), by=ann).size == 0
    assert contents.save("Common/d", ContentsSave(type="directory"), by=ann).type == "directory"
    assert contents.save("Common/d", ContentsSave(type="directory"), by=ann).type == "directory"
    with pytest.raises(NotFound, match="no file or folder Common/none"):
        contents.save("Common/none/x", text("x"), by=ann)


@on_sqlite
def test_a_move_keeps_what_is_there(contents, ann):
    for name in ("a", "b"):
        contents.save(f"Common/{name}", text(name), by=ann)
    with pytest.raises(Invalid, match="Common/b exists already"):
        contents.move("Common/a", ContentsMove(path="Common/b"), by=ann)
    for source, target, missing in [("none", "c", "Common/none"), ("a", "none/c", "Common/none")]:
        with pytest.raises(NotFound, match=f"no file or folder {missing}"):
            contents.move(f"Common/{source}", ContentsMove(path=f"Common/{target}"), by=ann)
    moved = contents.move("Common/a", ContentsMove(path="Users/ann@example.org/c"), by=ann)
    assert moved.path == "Users/ann@example.org/c"
    assert names(contents, "Common", ann) == ["b"]
    assert contents.get(moved.path, Wanted(), by=ann).content == "a"


@on_sqlite
def test_a_folder_is_deleted_with_all_that_is_in_it(contents, ann):
    contents.save("Common/d", ContentsSave(type="directory"), by=ann)
    contents.save("Common/d/f", text("x"), by=ann)
    assert contents.delete("Common/d", by=ann).model_dump() == {"status": "deleted", "path": "Common/d"}
    assert names(contents, "Common", ann) == []
    with pytest.raises(NotFound):
        contents.delete("Common/d", by=ann)


@on_sqlite
def test_a_folder_shows_damaged_notebooks_but_no_hidden_or_special_files(contents, ann, common: Path, tmp_path: Path):
    (common / "broken.ipynb").write_text("{")
    (common / "odd.ipynb").write_text(
        '{"nbformat": 4, "nbformat_minor": 4, "metadata": {"x": NaN}, "cells": [], "y": 1}'
    )
    (common / ".secret").write_text("x")
    (common / "link").symlink_to(tmp_path)
    os.mkfifo(common / "pipe")
    os.close(os.open(os.fsencode(common) + b"/\xff", os.O_CREAT))
    shown = contents.get("Common", Wanted(), by=ann).content
    assert [child.name for child in shown] == ["broken.ipynb", "odd.ipynb"]
    with pytest.raises(Invalid, match=r"Common/broken.ipynb is not a notebook: it is not JSON .*; type=file reads it"):
        contents.get("Common/broken.ipynb", Wanted(), by=ann)
    assert contents.get("Common/broken.ipynb", Wanted(type="file"), by=ann).content == "{"
    odd = contents.get("Common/odd.ipynb", Wanted(), by=ann)
    assert odd.content["metadata"] == {"x": None, "y": 1}
    assert odd.message == "the notebook was repaired: parts at a wrong place were moved into the metadata"
    for path in ("Common/link", "Common/pipe", "Common/link/x"):
        with pytest.raises(NotFound):
            contents.get(path, Wanted(), by=ann)


@on_sqlite
def test_a_file_too_large_to_answer_still_shows_what_it_is(contents, ann, common: Path):
    with (common / "large.ipynb").open("wb") as file:
        file.truncate(contents_files.READ_LIMIT_BYTES + 1)
    assert contents.get("Common/large.ipynb", BARE, by=ann).size == contents_files.READ_LIMIT_BYTES + 1
    with pytest.raises(Invalid, match="too large to be read or copied at once: 67108865 bytes"):
        contents.get("Common/large.ipynb", Wanted(), by=ann)


def told_of(database: Database, action: str) -> list[Any]:
    """Return who did it, to what, and the details, as the audit log has it."""
    c = audit_entries.c
    with database.connect() as connection:
        return list(connection.execute(sa.select(c.email, c.object_id, c.detail).where(c.action == action)).all())


def test_a_run_checks_reads_and_replaces_a_notebook_in_its_users_name(
    contents, database, access, admin, ann, bob, notebook
):
    path = "Users/ann@example.org/n.ipynb"
    contents.save(path, ContentsSave(content=notebook), by=ann)
    as_ann: dict[str, Any] = {"account_id": ann.account_id, "users": [ann.user_id]}
    contents.check_notebook(path, ann)
    stored = contents.read_notebook(path, **as_ann)
    assert json.loads(stored)["cells"][0]["id"] == "first"
    contents.replace_notebook(path, stored.replace("first", "again"), **as_ann, command_id=7)
    assert contents.get(path, Wanted(), by=ann).content["cells"][0]["id"] == "again"
    [(email, object_id, detail)] = told_of(database, "replace")
    assert (email, object_id, detail) == (ann.email, path, {"command_id": 7})
    with pytest.raises(Invalid, match="stays as it was: the new text has 67108865 bytes"):
        contents.replace_notebook(path, "x" * (contents_files.READ_LIMIT_BYTES + 1), **as_ann, command_id=8)
    assert contents.read_notebook(path, **as_ann) == stored.replace("first", "again")
    as_bob: dict[str, Any] = {"account_id": bob.account_id, "users": [bob.user_id]}
    with pytest.raises(Forbidden, match="another user's folder"):
        contents.read_notebook(path, **as_bob)
    access.users.disable(ann.user_id, by=admin)
    for call in (
        lambda: contents.read_notebook(path, **as_ann),
        lambda: contents.replace_notebook(path, stored, **as_ann, command_id=9),
    ):
        with pytest.raises(Forbidden, match=r"ann@example\.org is disabled"):
            call()
    with pytest.raises(NotFound, match="no user 4711"):
        contents.read_notebook(path, account_id=ann.account_id, users=[4711])


@on_sqlite
def test_a_notebook_that_cannot_be_run_is_reported(contents, ann, common: Path):
    (common / "text.txt").write_text("x")
    (common / "broken.ipynb").write_text("[]")
    (common / "folder.ipynb").mkdir()
    for path, error, reason in [
        ("Common/none.ipynb", NotFound, "no file or folder Common/none.ipynb"),
        ("Common/text.txt", Invalid, "must end with .ipynb"),
        ("Common/folder.ipynb", Invalid, "is a folder"),
        ("Common", Invalid, "is a folder"),
        ("Users", Invalid, "name a place in one"),
        ("none.ipynb", NotFound, "begin with Common or Users"),
    ]:
        for name in ("check", "read", "replace"):
            with pytest.raises(error, match=reason):
                calls(contents, path, ann)[name]()
    with pytest.raises(Invalid, match=r"Common/broken\.ipynb is not a notebook"):
        calls(contents, "Common/broken.ipynb", ann)["read"]()


@on_sqlite
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                "Common",
                "Users",
                "ann@example.org",
                "bob@example.org",
                "up",
                "out",
                "..",
                ".",
                "",
                "a",
                "%2e%2e",
                ".drafts",
            ]
        )
        | st.text(max_size=4),
        max_size=6,
    )
)
def test_no_path_leads_out(contents, ann, bob, common: Path, tmp_path: Path, pieces: list[str]):
    for name, target in (("up", ".."), ("out", tmp_path)):
        link = common / name
        if not link.is_symlink():
            link.symlink_to(target)
    (tmp_path / "a").write_text("outside")
    (common / "there").write_text("x")
    before = everything_but(common, ann, tmp_path)
    for call in calls(contents, "/".join(pieces), ann).values():
        with suppress(Forbidden, NotFound, Invalid):
            assert "outside" not in str(call())
    assert everything_but(common, ann, tmp_path) == before


def everything_but(common: Path, caller: Caller, folder: Path) -> dict[str, int]:
    """Return what lies where the caller may not write, with its size."""
    own = common.parent / "users" / str(caller.user_id)
    return {
        str(path): path.lstat().st_size
        for path in folder.rglob("*")
        if path.is_file()
        and not any(
            path.is_relative_to(place) for place in (common, own, common.parent / ".drafts", common.parent / ".lock")
        )
        and not path.name.startswith("service.db")
    }
