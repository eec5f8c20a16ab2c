"""Policies of single Jupyter notebooks, on each database: what they give and take, and where they go."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from nbformat.v4 import new_markdown_cell

from svc_jupyter.api.access import TokenCreate
from svc_jupyter.api.groups import GroupCreate
from svc_jupyter.api.jupyter_contents import ContentsCreate, ContentsMove, ContentsSave
from svc_jupyter.api.object_policies import ObjectChoice, PolicyUpdate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.application.policy_objects import DECIDING, OBJECTS, by_path
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import object_policy_versions
from svc_jupyter.service.schema.audit import audit_entries
from svc_jupyter.service.schema.workspace import jupyter_notebooks
from svc_jupyter.service.workspace.contents_files import Wanted
from svc_jupyter.service.workspace.jupyter_contents import JupyterContents
from svc_jupyter.service.workspace.searches import SearchText

ANNS = "Users/ann@example.org"
SHARED = f"{ANNS}/report.ipynb"
WHOLE = Wanted()
EMPTY = ContentsSave(type="notebook")
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
Policy = list[dict[str, Any]]


@pytest.fixture
def access(database: Database, settings: Settings, account_id: int) -> Access:
    return Access.of(database, Bus(database), settings, objects=OBJECTS, deciding=DECIDING, by_path=by_path(settings))


class World:
    """An account whose notebooks get policies; every caller is as their next call would find them."""

    def __init__(self, access: Access, contents: JupyterContents, admin: Caller, database: Database) -> None:
        self.access, self.contents, self.admin, self.database = access, contents, admin, database

    def now(self, who: Caller) -> Caller:
        with self.database.connect() as connection:
            found = self.access.tokens.reader.user(connection, who.account_id, who.user_id)
        assert found is not None
        return found[0]

    def set(self, source_id: int | str, *policy: dict[str, Any], by: Caller | None = None) -> int:
        update = PolicyUpdate(source_id=source_id, source_type="jupyter_notebook", policy=list(policy))
        shown = self.access.object_policies.set(update, by=self.now(by or self.admin))
        assert isinstance(shown.source_id, int)
        return shown.source_id

    def get(self, source_id: int | str, *, by: Caller) -> tuple[int | str, str | None, Policy]:
        shown = self.access.object_policies.get(chosen(source_id), by=self.now(by))
        return shown.source_id, shown.path, [one.model_dump(mode="json") for one in shown.policies]

    def make(self, *paths: str) -> None:
        for path in paths:
            self.contents.save(
                path, EMPTY if path.endswith(".ipynb") else ContentsSave(type="directory"), by=self.admin
            )

    def listed(self, path: str, by: Caller) -> list[str]:
        return [child.name for child in self.contents.get(path, WHOLE, by=self.now(by)).content]

    def rows(self) -> list[tuple[int, str]]:
        c = jupyter_notebooks.c
        with self.database.connect() as connection:
            return [(row.id, row.path) for row in connection.execute(sa.select(c.id, c.path).order_by(c.id))]


@pytest.fixture
def world(access: Access, contents: JupyterContents, admin: Caller, ann: Caller, database: Database) -> World:
    world = World(access, contents, admin, database)
    world.make(SHARED)
    return world


def chosen(source_id: int | str) -> ObjectChoice:
    return ObjectChoice(source_id=source_id, source_type="jupyter_notebook")


def allow(who: Caller | int, *actions: str) -> dict[str, Any]:
    return _entry("allow", who, actions)


def deny(who: Caller | int, *actions: str) -> dict[str, Any]:
    return _entry("deny", who, actions)


def _entry(access: str, who: Caller | int, actions: tuple[str, ...]) -> dict[str, Any]:
    condition = {"service_groups": [who]} if isinstance(who, int) else {"service_users": [who.user_id]}
    return {"access": access, "condition": condition, "action": list(actions)}


def uses(world: World, path: str, who: Caller) -> dict[str, Callable[[], Any]]:
    """Return what can be done with a notebook, by what its policy calls the action."""
    contents, by = world.contents, world.now(who)
    as_user: dict[str, Any] = {"account_id": by.account_id, "users": [by.user_id]}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []})
    return {
        "read": lambda: contents.get(path, WHOLE, by=by),
        "read as a file": lambda: contents.get(path, Wanted(type="file"), by=by),
        "read to copy": lambda: contents.create("Common", ContentsCreate(copy_from=path), by=by),
        "read to run": lambda: contents.check_notebook(path, by),
        "read when it runs": lambda: contents.read_notebook(path, **as_user),
        "update": lambda: contents.save(path, EMPTY.model_copy(update={"content": json.loads(text)}), by=by),
        "update after a run": lambda: contents.replace_notebook(path, text, **as_user, command_id=1),
        "update by a move": lambda: contents.move(path, ContentsMove(path=path.replace(".ipynb", "2.ipynb")), by=by),
        "delete": lambda: contents.delete(path, by=by),
    }


def refused(world: World, path: str, who: Caller, action: str) -> None:
    for name, call in uses(world, path, who).items():
        if name.split()[0] == action:
            with pytest.raises(Forbidden, match=f"permission to {action} jupyter_notebook {path}"):
                call()


def test_a_policy_opens_a_notebook_in_another_users_folder_and_nothing_else(world: World, ann: Caller, bob: Caller):
    for action in ("read", "update", "delete"):
        refused(world, SHARED, bob, action)
    world.set(SHARED, allow(bob, "read"), by=ann)
    for name, call in uses(world, SHARED, bob).items():
        if name.startswith("read"):
            call()
    refused(world, SHARED, bob, "update")
    refused(world, SHARED, bob, "delete")
    world.make(f"{ANNS}/diary.ipynb")
    for other in (f"{ANNS}/diary.ipynb", f"{ANNS}/none.ipynb", ANNS, "Users/nobody@example.org/report.ipynb"):
        with pytest.raises(Forbidden, match="another user's folder"):
            world.contents.get(other, WHOLE, by=world.now(bob))
    world.set(SHARED, allow(bob, "update", "delete"), by=ann)
    refused(world, SHARED, bob, "read")
    for name in ("update", "update after a run", "delete"):
        uses(world, SHARED, bob)[name]()
    with pytest.raises(Forbidden, match="another user's folder"):  # it is gone, and with it what the policy gave
        world.contents.save(SHARED, EMPTY, by=world.now(bob))


def test_a_policy_closes_a_notebook_to_who_could_reach_it(world: World, ann: Caller, bob: Caller):
    world.make("Common/pay.ipynb", "Common/open.ipynb")
    world.set("Common/pay.ipynb", deny(bob, "all"))
    for action in ("read", "update", "delete"):
        refused(world, "Common/pay.ipynb", bob, action)
    assert world.listed("Common", bob) == ["open.ipynb"]
    assert world.listed("Common", ann) == world.listed("Common", world.admin) == ["open.ipynb", "pay.ipynb"]
    world.set("Common/pay.ipynb", deny(bob, "update"))
    assert world.listed("Common", bob) == ["open.ipynb", "pay.ipynb"]
    uses(world, "Common/pay.ipynb", bob)["read"]()
    world.set("Common/pay.ipynb")
    uses(world, "Common/pay.ipynb", bob)["update by a move"]()


@on_sqlite
def test_a_search_does_not_find_what_a_policy_hides(world: World, ann: Caller, bob: Caller):
    world.make("Common/deep", "Common/deep/pay.ipynb", "Common/deep/pay day.ipynb")
    written = {"cells": [new_markdown_cell("wages")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("pay.ipynb", "pay day.ipynb"):
        world.contents.save(f"Common/deep/{name}", ContentsSave(content=written), by=ann)
    world.set("Common/deep/pay.ipynb", deny(bob, "read"))

    def found(path: str, text: str, by: Caller) -> list[str]:
        return [child.name for child in world.contents.get(path, WHOLE, SearchText(text), by=world.now(by)).content]

    for path in ("", "Common", "Common/deep"):
        for text in ("pay", "wages"):
            assert found(path, text, bob) == ["pay day.ipynb"]
            assert found(path, text, ann) == ["pay day.ipynb", "pay.ipynb"]


@on_sqlite
def test_an_entry_for_a_user_beats_one_for_a_group_in_both_directions(world: World, ann: Caller, bob: Caller):
    """Also one that denies the group of the owner."""
    path = f"{ANNS}/team.ipynb"
    world.make(path)
    emails = f"{ann.email},{bob.email}"
    team = world.access.groups.create(GroupCreate(name="team", members=emails), by=world.admin).id
    for policy, anns, bobs in [
        ([deny(team, "all")], False, False),
        ([deny(team, "all"), allow(ann, "read")], True, False),
        ([allow(team, "read"), deny(bob, "read")], True, False),
        ([allow(team, "read"), deny(ann, "read")], False, True),
        ([allow(team, "read"), deny(team, "read")], True, True),
    ]:
        world.set(path, *policy)
        for who, expected in ((ann, anns), (bob, bobs)):
            if expected:
                uses(world, path, who)["read"]()
            else:
                refused(world, path, who, "read")
    uses(world, path, world.admin)["delete"]()


def test_a_move_takes_the_policy_along_and_a_copy_has_none(world: World, bob: Caller, ann: Caller):
    world.make(f"{ANNS}/A", f"{ANNS}/A/n.ipynb", f"{ANNS}/a", f"{ANNS}/a/n.ipynb")
    moving, staying = (world.set(f"{ANNS}/{folder}/n.ipynb", allow(bob, "read"), by=ann) for folder in "Aa")

    def move(source: str, target: str) -> None:
        world.contents.move(f"{ANNS}/{source}", ContentsMove(path=f"{ANNS}/{target}"), by=world.now(ann))

    move("A/n.ipynb", "A/m.ipynb")
    move("A", "B é%_")
    uses(world, f"{ANNS}/B é%_/m.ipynb", bob)["read"]()
    assert world.get(f"{ANNS}/B é%_/m.ipynb", by=ann)[0] == moving
    assert world.get(moving, by=ann)[1] == f"{ANNS}/B é%_/m.ipynb"
    assert world.get(staying, by=ann)[1] == f"{ANNS}/a/n.ipynb"
    copy = world.contents.create(ANNS, ContentsCreate(copy_from=f"{ANNS}/B é%_"), by=world.now(ann)).path
    for path in (f"{copy}/m.ipynb", f"{ANNS}/A/n.ipynb"):
        with pytest.raises(Forbidden, match="another user's folder"):
            world.contents.get(path, WHOLE, by=world.now(bob))
    assert world.get(f"{copy}/m.ipynb", by=ann) == (f"{copy}/m.ipynb", f"{copy}/m.ipynb", [])
    with pytest.raises(Invalid, match="exists already"):
        move("B é%_", "a")
    assert [one for one, _ in world.rows()] == [moving, staying]
    assert world.get(moving, by=ann)[1] == f"{ANNS}/B é%_/m.ipynb"


def test_a_deletion_forgets_the_policy_and_its_id(world: World, ann: Caller, bob: Caller, database: Database):
    world.make(f"{ANNS}/d", f"{ANNS}/d/n.ipynb")
    gone = [world.set(path, allow(bob, "read"), by=ann) for path in (SHARED, f"{ANNS}/d/n.ipynb")]
    for path in (SHARED, f"{ANNS}/d"):
        world.contents.delete(path, by=world.now(ann))
    assert world.rows() == []
    with database.connect() as connection:
        assert connection.execute(sa.select(object_policy_versions)).all() == []
    world.make(SHARED)
    with pytest.raises(Forbidden, match="another user's folder"):
        world.contents.get(SHARED, WHOLE, by=world.now(bob))
    assert world.set(SHARED, by=ann) not in gone
    with pytest.raises(NotFound, match=f"no jupyter_notebook {gone[0]}"):
        world.get(gone[0], by=ann)


@on_sqlite
def test_the_policy_of_a_removed_file_does_not_apply_to_a_new_file_at_its_path(
    world: World, ann: Caller, bob: Caller, settings: Settings
):
    for number, make in enumerate(
        [
            lambda path: world.contents.save(path, EMPTY, by=world.now(ann)),
            lambda path: world.contents.create(ANNS, ContentsCreate(name=path.rpartition("/")[2]), by=world.now(ann)),
            lambda path: world.contents.move(SHARED, ContentsMove(path=path), by=world.now(ann)),
        ]
    ):
        path = f"{ANNS}/{number}.ipynb"
        world.make(path)
        world.set(path, allow(bob, "read", "update"), by=ann)
        [file] = (settings.data_dir / "jupyter").glob(f"*/users/*/{number}.ipynb")
        file.unlink()
        with pytest.raises(Forbidden, match="another user's folder"):
            world.contents.save(path, EMPTY, by=world.now(bob))
        make(path)
        with pytest.raises(Forbidden, match="another user's folder"):
            world.contents.get(path, WHOLE, by=world.now(bob))


@on_sqlite
def test_a_folder_is_not_touched_over_what_a_policy_keeps(world: World, bob: Caller):
    world.make("Common/d", "Common/d/e", "Common/d/e/n.ipynb")
    for action, call in {
        "read": lambda by: world.contents.create("Common", ContentsCreate(copy_from="Common/d"), by=by),
        "update": lambda by: world.contents.move("Common/d", ContentsMove(path="Common/x"), by=by),
        "delete": lambda by: world.contents.delete("Common/d", by=by),
    }.items():
        kept = world.set("Common/d/e/n.ipynb", deny(bob, action))
        with pytest.raises(Forbidden, match=f"Common/d is not touched: jupyter_notebook {kept} is in it"):
            call(world.now(bob))
    assert world.listed("Common", bob) == ["d"]
    world.contents.delete("Common/d", by=world.now(world.admin))


@on_sqlite
def test_a_move_makes_nobody_the_owner_of_a_policy(world: World, ann: Caller, bob: Caller):
    world.make("Common/d", "Common/d/n.ipynb")
    bobs = "Users/bob@example.org"
    world.set("Common/d/n.ipynb", deny(ann, "read"))
    world.set(SHARED, allow(bob, "all"), by=ann)
    for source in ("Common/d/n.ipynb", "Common/d", SHARED):
        with pytest.raises(Forbidden, match=r"somebody else could set it.*permission to set the policy of"):
            world.contents.move(source, ContentsMove(path=f"{bobs}/mine.ipynb"), by=world.now(bob))
    assert world.listed(bobs, bob) == []
    world.contents.move(SHARED, ContentsMove(path="Common/given.ipynb"), by=world.now(ann))
    with pytest.raises(Forbidden, match="system-admin"):
        world.set("Common/given.ipynb", by=ann)  # nobody owns what is in Common
    uses(world, "Common/given.ipynb", bob)["delete"]()


def test_a_notebook_is_named_by_its_path_or_by_its_id(world: World, ann: Caller, database: Database):
    assert world.get(SHARED, by=ann) == (SHARED, SHARED, [])
    assert world.rows() == []
    number = world.set("/Users/ANN@example.org//report.ipynb", deny(ann, "delete"), by=ann)
    assert world.get(str(number), by=ann)[:2] == world.get(SHARED, by=ann)[:2] == (number, SHARED)
    assert world.set(number, by=ann) == number
    history = world.access.object_policies.history(chosen(SHARED), Page(1, 10), by=world.now(ann)).history
    assert [(one.email, len(one.policies)) for one in history] == [(ann.email, 0), (ann.email, 1)]
    c = audit_entries.c
    with database.connect() as connection:
        told = connection.execute(sa.select(c.object_id, c.detail).where(c.action == "set_policy").order_by(c.id)).all()
    assert [(row.object_id, row.detail["id"]) for row in told] == [(SHARED, number)] * 2


@on_sqlite
def test_an_object_that_is_not_a_notebook_has_no_policy(world: World, ann: Caller):
    world.contents.save("Common/text.txt", ContentsSave(content="x"), by=ann)
    world.make("Common/d")
    for wrong, error, told in [
        (f"{ANNS}/none.ipynb", NotFound, f"there is no jupyter_notebook {ANNS}/none.ipynb"),
        ("Users/nobody@example.org/n.ipynb", NotFound, "there is no jupyter_notebook Users/nobody"),
        (999, NotFound, "there is no jupyter_notebook 999"),
        ("Common/text.txt", Invalid, "source_id: Common/text.txt is not a path of a notebook"),
        ("Common/d", Invalid, "source_id: Common/d is not a path of a notebook"),
        ("Common/../x.ipynb", Invalid, "source_id: .*hidden"),
        ("/", Invalid, "source_id"),
        ("Else/x.ipynb", NotFound, "begin with Common or Users"),
    ]:
        with pytest.raises(error, match=told):
            world.set(wrong)
        with pytest.raises(error, match=told):
            world.get(wrong, by=world.admin)
    for source_type, source_id in [
        ("note", SHARED),
        ("jupyter_notebook", "report"),
        ("jupyter_notebook", True),
        ("jupyter_notebook", 0),
        ("jupyter_notebook", "/" * 4097),
    ]:
        with pytest.raises(ValueError, match="source_id"):
            ObjectChoice(source_id=source_id, source_type=source_type)


@on_sqlite
def test_policies_in_another_users_folder_are_hidden_without_the_right_to_read(world: World, ann: Caller, bob: Caller):
    number = world.set(SHARED, deny(bob, "delete"), by=ann)
    for asked in (SHARED, f"{ANNS}/none.ipynb", "Users/nobody@example.org/n.ipynb", number):
        with pytest.raises(Forbidden, match="is another user's folder"):
            world.get(asked, by=bob)
    world.set(SHARED, allow(bob, "read"), by=ann)
    assert world.get(SHARED, by=bob)[0] == number
    with pytest.raises(Forbidden, match=r"ownership of the object .permission to set the policy"):
        world.set(SHARED, by=bob)


@on_sqlite
def test_a_decision_is_explained_as_the_call_would_be_decided(world: World, ann: Caller, bob: Caller):
    def told(who: Caller) -> dict[str, tuple[bool, str]]:
        answer = world.access.explanations.explain(chosen(SHARED), who.email, None, by=world.now(world.admin))
        return {one.action.value: (one.allowed, one.because) for one in answer.decisions}

    assert told(ann)["read"] == (True, "members of system-user may read jupyter_notebook")
    allowed, because = told(bob)["read"]
    assert (allowed, because.split(";")[0]) == (False, f"{ANNS} is another user's folder")
    world.set(SHARED, allow(bob, "read"), by=ann)
    assert told(bob)["read"] == (True, f"entry 1 of the object's policy allows this to user {bob.user_id}")
    assert told(bob)["update"][0] is False


async def test_who_is_in_no_group_may_do_what_a_policy_gives(world: World, access: Access, ann: Caller, bob: Caller):
    world.set(SHARED, allow(bob, "read"), by=ann)
    access.groups.remove_users("system-user", bob.email, by=world.admin)
    token = access.tokens.create(bob.user_id, TokenCreate(name="t"), by=world.admin).token
    outsider = await access.tokens.caller(token)
    assert world.contents.get(SHARED, WHOLE, by=outsider).name == "report.ipynb"
    world.contents.check_notebook(SHARED, outsider)
    with pytest.raises(Forbidden, match="permission to read jupyter_notebook Common"):
        world.contents.get("Common", WHOLE, by=outsider)


@on_sqlite
def test_a_list_costs_one_statement_however_many_policies_there_are_and_none_without(
    world: World, ann: Caller, bob: Caller, count_statements: list[str]
):
    paths = [f"Common/{number:02}.ipynb" for number in range(20)]
    world.make(*paths)

    def statements(who: Caller) -> tuple[int, int]:
        by = world.now(who)
        count_statements.clear()
        shown = world.contents.get("Common", WHOLE, by=by)
        return len(shown.content), len([one for one in count_statements if "jupyter_notebooks" in one])

    for path in paths[:2]:
        world.set(path, deny(bob, "read"))
    few = statements(bob)
    for path in paths[2:15]:
        world.set(path, deny(bob, "read"))
    assert few == (18, 2)  # one for the folder itself, one for what is in it
    assert statements(bob) == (5, 2)
    assert statements(ann) == statements(world.admin) == (20, 0)
