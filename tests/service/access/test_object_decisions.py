"""Why somebody may or may not do something to an object: the same answer as their call would get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from svc_jupyter.api.access import Action
from svc_jupyter.api.folders import NOTES, FolderCreate
from svc_jupyter.api.notes import NoteCreate
from svc_jupyter.api.object_policies import ObjectChoice, PolicyUpdate, SourceType
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.application.policy_objects import DECIDING, OBJECTS
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.workspace.workspace import Workspace


@pytest.fixture
def access(database, bus, settings, clock, account_id: int) -> Access:
    return Access.of(database, bus, settings, clock, OBJECTS, DECIDING)


@pytest.fixture
def workspace(database) -> Workspace:
    return Workspace.of(database)


@pytest.fixture
def folder_id(workspace, admin) -> int:
    return int(workspace.folders.create(FolderCreate(name="f", location="Common", type=NOTES), by=admin).id)


@pytest.fixture
def note_id(workspace, admin, folder_id) -> int:
    return int(workspace.notes.create(NoteCreate(name="n", location="Common/f"), by=admin).summary.id)


def note(note_id: int) -> ObjectChoice:
    return ObjectChoice(source_id=note_id, source_type=SourceType.NOTE)


def say(access: Access, admin: Any, source_type: SourceType, source_id: int, allow: str, user_id: int, *actions: str):
    entry = {"access": allow, "condition": {"service_users": [user_id]}, "action": list(actions)}
    access.object_policies.set(PolicyUpdate(source_id=source_id, source_type=source_type, policy=[entry]), by=admin)


def told(access: Access, choice: ObjectChoice, user: str | None, *, by: Any) -> dict[str, tuple[bool, str]]:
    answer = access.explanations.explain(choice, user, None, by=by)
    return {one.action.value: (one.allowed, one.because) for one in answer.decisions}


def test_groups_decide_where_no_policy_says_anything(access, admin, member, note_id):
    found = told(access, note(note_id), "MEMBER@example.org", by=admin)
    assert found["read"] == (True, "members of system-user may read note")
    assert found["manage"][0] is False
    assert "needs membership of system-admin" in found["manage"][1]
    assert list(found) == ["read", "update", "delete", "manage"]


def test_the_entry_that_decides_is_named(access, admin, member, note_id):
    say(access, admin, SourceType.NOTE, note_id, "deny", member.user_id, "update")
    denied = (False, f"entry 1 of the object's policy denies this to user {member.user_id}")
    assert told(access, note(note_id), str(member.user_id), by=admin)["update"] == denied


def test_a_folders_policy_counts_for_what_lies_in_it(access, admin, member, folder_id, note_id):
    say(access, admin, SourceType.FOLDER, folder_id, "deny", member.user_id, "all")
    because = f"of folder {folder_id}: entry 1 of the object's policy denies this to user {member.user_id}"
    assert told(access, note(note_id), member.email, by=admin)["read"] == (False, because)
    of_folder = ObjectChoice(source_id=folder_id, source_type=SourceType.FOLDER)
    assert told(access, of_folder, member.email, by=admin)["delete"][0] is False


def test_another_users_folder_is_explained(access, admin, member, workspace):
    made = workspace.notes.create(NoteCreate(name="n", location="Users/admin@localhost"), by=admin).summary
    allowed, because = told(access, note(made.id), member.email, by=admin)["read"]
    assert not allowed
    assert because.startswith("Users/admin@localhost is another user's folder")


def test_a_disabled_user_may_do_nothing(access, admin, member, note_id):
    access.users.disable(member.user_id, by=admin)
    assert set(told(access, note(note_id), member.email, by=admin).values()) == {
        (False, "member@example.org is disabled; an administrator can enable them")
    }


def test_without_a_user_it_is_about_the_caller(access, admin, member, note_id):
    answer = access.explanations.explain(note(note_id), None, Action.DELETE, by=member)
    assert (answer.email, answer.user_id) == ("member@example.org", member.user_id)
    assert [(one.action, one.allowed) for one in answer.decisions] == [("delete", True)]


def test_it_needs_what_viewing_the_policy_needs_and_of_others_to_read_users(access, admin, member, note_id, workspace):
    outsider = replace(member, groups=frozenset(), group_ids=frozenset())
    with pytest.raises(Forbidden, match=f"permission to view the policy of note {note_id}"):
        access.explanations.explain(note(note_id), None, None, by=outsider)
    own = workspace.notes.create(NoteCreate(name="own", location="Common"), by=member).summary.id
    assert told(access, note(own), None, by=outsider)["read"][0] is False
    assert told(access, note(own), member.email, by=outsider)["read"][0] is True  # as their next call would be decided
    with pytest.raises(Forbidden, match="permission to read user"):
        access.explanations.explain(note(own), "admin@localhost", None, by=outsider)


def test_an_unknown_object_user_or_action_is_reported(access, admin, note_id):
    with pytest.raises(NotFound, match="there is no note 999"):
        access.explanations.explain(note(999), None, None, by=admin)
    for unknown in ("nobody@example.org", "999", "nul\x00", ""):
        with pytest.raises(Invalid, match="user: there is no user"):
            access.explanations.explain(note(note_id), unknown, None, by=admin)
    with pytest.raises(Invalid, match="action: a note has no action start"):
        access.explanations.explain(note(note_id), None, Action.START, by=admin)
