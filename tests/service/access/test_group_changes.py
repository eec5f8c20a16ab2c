"""Groups: who is in them, what roles they have, and who may change that."""

from __future__ import annotations

from functools import partial
from itertools import product

import pytest
import sqlalchemy as sa
from pydantic import BaseModel, ValidationError

from svc_jupyter.api.access import Invitation, TokenCreate
from svc_jupyter.api.groups import Duplicate, GroupCreate, GroupUpdate, RoleCreate
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.schema.access import group_roles, memberships

FIRST_PAGE = Page(1, 10)


def allow(resource: str, *actions: str) -> dict:
    return {"access": "allow", "resource": resource, "action": list(actions)}


@pytest.fixture
def reader(access: Access, admin: Caller):
    """A role that allows to read schedules, which every `system-user` may."""
    return access.roles.create(RoleCreate(name="reader", policies=[allow("scheduler", "read")]), by=admin)


@pytest.fixture
def operator(access: Access, admin: Caller):
    """A role that allows more than a `system-user` may."""
    return access.roles.create(RoleCreate(name="operator", policies=[allow("user", "create", "update")]), by=admin)


def state(access: Access) -> tuple:
    """Return all that there is of memberships and roles of groups."""
    with access.tokens._database.connect() as connection:
        return tuple(
            sorted(tuple(row) for row in connection.execute(sa.select(table))) for table in (memberships, group_roles)
        )


def test_a_group_from_its_creation_to_its_end(access, admin, member, invite, reader):
    ada, _ = invite("ada@example.org")
    made = access.groups.create(
        GroupCreate(name="analysts", members=f"{member.user_id}, ADA@Example.org", roles="reader"), by=admin
    )
    assert made.model_dump() == {
        "id": made.id,
        "name": "analysts",
        "members": [member.user_id, ada],
        "member_emails": ["member@example.org", "ada@example.org"],
        "roles": [reader.id],
        "role_names": ["reader"],
    }
    assert access.groups.get("analysts", by=member) == access.groups.get(str(made.id), by=member) == made
    assert [group.name for group in access.groups.list(FIRST_PAGE, by=member).groups] == [
        "analysts",
        "system-user",
        "system-admin",
    ]
    changed = access.groups.update(
        "analysts",
        GroupUpdate(name="the analysts", members=[admin.user_id], removed_members=str(ada), removed_roles="reader"),
        by=admin,
    )
    assert (changed.name, changed.members, changed.roles) == ("the analysts", [admin.user_id, member.user_id], [])
    assert access.groups.delete("the analysts", by=admin) == made.id
    with pytest.raises(NotFound, match=f"there is no group '{made.id}' in this account"):
        access.groups.get(str(made.id), by=admin)


async def test_a_change_takes_effect_at_once(access, admin, invite, reader):
    user_id, token = invite("ada@example.org", "system-user")
    access.groups.create(GroupCreate(name="analysts", roles="reader"), by=admin)
    access.groups.remove_users("system-user", str(user_id), by=admin)
    assert (await access.tokens.caller(token)).groups == frozenset()
    access.groups.add_users("analysts", "ada@example.org", by=admin)
    assert set((await access.tokens.caller(token)).rights) == {("read", "scheduler")}
    access.groups.unassign("analysts", "reader", by=admin)
    assert not (await access.tokens.caller(token)).rights
    access.groups.assign("analysts", str(reader.id), by=admin)
    assert (await access.tokens.caller(token)).rights
    access.roles.delete("reader", by=admin)
    assert not (await access.tokens.caller(token)).rights


def test_all_are_added_or_nobody(access, admin, member):
    access.groups.create(GroupCreate(name="analysts"), by=admin)
    before = state(access)
    for named, told in (
        ("member@example.org,nobody@example.org", "nobody@example.org"),
        ("member@example.org,99999", "99999"),
        (f"member@example.org,{10**30}", str(10**30)),
        ("member@example.org,\x00", "\x00"),
        ("member@example.org,²", "²"),
        (",".join(f"u{number}@example.org" for number in range(7)), "u4@example.org, …"),
    ):
        for change in (access.groups.add_users, access.groups.remove_users):
            with pytest.raises(Invalid, match=r"^users: ") as refusal:
                change("analysts", named, by=admin)
            assert told in refusal.value.message
            assert "nothing was changed" in refusal.value.message
    assert state(access) == before


def test_who_is_in_the_group_already_stays_and_mixed_lists_do(access, admin, member, invite):
    ada, _ = invite("ada@example.org")
    access.groups.create(GroupCreate(name="analysts", members=str(ada)), by=admin)
    access.groups.add_users("analysts", f" {ada} ,member@example.org,, ADA@example.org,{member.user_id}", by=admin)
    assert access.groups.get("analysts", by=admin).members == [member.user_id, ada]
    access.groups.remove_users("analysts", f"member@example.org,{admin.user_id}", by=admin)
    assert access.groups.get("analysts", by=admin).members == [ada]
    with pytest.raises(Invalid, match="users: name at least one"):
        access.groups.add_users("analysts", " , ", by=admin)
    with pytest.raises(Invalid, match="names 1001 users; at most 1000"):
        access.groups.add_users("analysts", ",".join(map(str, range(1, 1002))), by=admin)


def test_a_user_may_add_to_a_group_and_no_more(access, admin, member, invite, reader):
    access.groups.create(GroupCreate(name="analysts", roles="reader"), by=admin)
    access.groups.add_users("analysts", "admin@localhost", by=member)
    access.groups.create(GroupCreate(name="mine", members=str(member.user_id)), by=member)
    for forbidden in (
        lambda: access.groups.remove_users("analysts", "admin@localhost", by=member),
        lambda: access.groups.delete("mine", by=member),
        lambda: access.groups.assign("mine", "reader", by=member),
        lambda: access.groups.unassign("analysts", "reader", by=member),
        lambda: access.groups.create(GroupCreate(name="more", roles="reader"), by=member),
        lambda: access.groups.update("mine", GroupUpdate(removed_members=str(member.user_id)), by=member),
    ):
        with pytest.raises(Forbidden, match=r"permission to (manage|delete) group"):
            forbidden()


def test_nobody_gives_more_rights_than_they_have(access, admin, member, operator):
    access.groups.create(GroupCreate(name="operators", roles="operator"), by=admin)
    before = state(access)
    for group in ("system-admin", "operators"):
        with pytest.raises(Forbidden, match=f"the group {group} gives more rights than you have"):
            access.groups.add_users(group, "member@example.org", by=member)
        with pytest.raises(Forbidden, match="more rights than you have"):
            access.groups.update(group, GroupUpdate(members="member@example.org"), by=member)
    assert state(access) == before
    access.groups.add_users("operators", "member@example.org", by=admin)


async def test_a_role_that_manages_groups_and_roles_gives_nobody_its_holder_s_missing_rights(access, admin, invite):
    everything_about_groups = [allow("group", "all"), allow("role", "all"), allow("scheduler", "read")]
    access.roles.create(RoleCreate(name="manager", policies=everything_about_groups), by=admin)
    access.groups.create(GroupCreate(name="managers", roles="manager"), by=admin)
    user_id, token = invite("ada@example.org", "managers")
    ada = await access.tokens.caller(token)
    access.groups.create(GroupCreate(name="readers", members=str(user_id), roles="manager"), by=ada)
    with pytest.raises(Forbidden, match="the role all gives more rights than you have: permission to clone account"):
        access.roles.create(RoleCreate(name="all", policies=[allow("all", "all")]), by=ada)
    access.roles.create(RoleCreate(name="all", policies=[allow("all", "all")]), by=admin)
    for forbidden in (
        lambda: access.groups.assign("readers", "all", by=ada),
        lambda: access.roles.duplicate("all", Duplicate(), by=ada),
        lambda: access.groups.add_users("system-user", str(user_id), by=ada),
        lambda: access.groups.remove_users("system-admin", "admin@localhost", by=ada),
    ):
        with pytest.raises(Forbidden, match="more rights than you have"):
            forbidden()


def test_an_administrator_is_always_left(access, admin, invite):
    with pytest.raises(StateConflict, match="no enabled member of system-admin would be left"):
        access.groups.remove_users("system-admin", "admin@localhost", by=admin)
    other, _ = invite("other@example.org", "system-admin")
    access.users.disable(other, by=admin)
    with pytest.raises(StateConflict):
        access.groups.update("system-admin", GroupUpdate(removed_members=str(admin.user_id)), by=admin)
    access.users.enable(other, by=admin)
    access.groups.remove_users("system-admin", "admin@localhost", by=admin)


def test_built_in_groups_stay_what_they_are(access, admin):
    changes = (
        access.groups.delete,
        partial(access.groups.update, body=GroupUpdate(name="other")),
        partial(access.groups.duplicate, body=Duplicate()),
    )
    for name, change in product(("system-admin", "system-user"), changes):
        with pytest.raises(StateConflict, match=f"the group {name} is built in"):
            change(name, by=admin)


def test_a_copy_of_a_group_has_its_members_and_roles(access, admin, member, reader):
    access.groups.create(GroupCreate(name="analysts", members=str(member.user_id), roles="reader"), by=admin)
    copies = [access.groups.duplicate("analysts", Duplicate(), by=admin) for _ in range(2)]
    named = access.groups.duplicate("analysts", Duplicate(name="n" * 255), by=admin)
    copies.append(access.groups.duplicate(str(named.id), Duplicate(), by=admin))
    assert [copy.name for copy in copies] == ["analysts copy", "analysts copy 2", "n" * 239 + " copy"]
    assert {(tuple(copy.members), tuple(copy.roles)) for copy in copies} == {((member.user_id,), (reader.id,))}
    with pytest.raises(Invalid, match=rf"^name: group {named.id} is called n+ already"):
        access.groups.duplicate("analysts", Duplicate(name="n" * 255), by=admin)


def test_contradictions_and_names_that_are_taken_change_nothing(access, admin, member, reader):
    access.groups.create(GroupCreate(name="analysts", members=str(member.user_id), roles="reader"), by=admin)
    before = state(access)
    for body, told in (
        (GroupUpdate(members="member@example.org", removed_members=str(member.user_id)), "removed_members: user"),
        (GroupUpdate(roles="reader", removed_roles=str(reader.id)), "removed_roles: role"),
        (GroupUpdate(name="system-user"), "name: group 2 is called system-user already"),
        (GroupUpdate(removed_members=str(member.user_id), roles="writer"), "roles: writer: no such role"),
    ):
        with pytest.raises(Invalid, match=told):
            access.groups.update("analysts", body, by=admin)
    assert state(access) == before
    assert access.groups.get("analysts", by=admin).name == "analysts"


def refusal(model: type[BaseModel], **given: object) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(given)
    return explain(refused.value)


def test_a_name_can_be_told_from_an_id_and_stand_in_a_path():
    apart = "name: must not hold a comma or a slash, nor begin or end with a blank"
    number = "name: must not be a number, which would be an id"
    refused = {
        "": "name: Value should have at least 1 item after validation, not 0",
        "a,b": apart,
        "a/b": apart,
        " a": apart,
        "7": number,
        "٣": number,
        "a<b": ("name: must not contain & < > \" ', control characters or overrides of the direction of writing"),
        "n" * 256: "name: String should have at most 255 characters",
    }
    assert {name: refusal(GroupCreate, name=name) for name in refused} == refused
    assert {name: refusal(RoleCreate, name=name) for name in refused} == refused


def test_a_role_that_says_what_cannot_be_names_the_entry():
    read = allow("scheduler", "read")
    no_json = "policies: is not JSON: give an array of entries, or the same as a JSON text"
    resources = (
        "account, audit, cluster, command, db_tap, environment, folder, group, hive, jupyter_notebook, "
        "jupyter_notebook_command, note, notebook_dashboard, notification_channel, object_policy, pipeline, role, "
        "scheduler, sensor, user, all"
    )
    actions = "read, create, update, delete, manage, start, terminate, clone, all"
    refused = [
        ("[", no_json),
        ("[" * 100_000, no_json),
        ("{}", "policies: Input should be a valid list"),
        ("x" * 300_000, "policies: must have at most 262144 characters, has 300000"),
        (
            [read, allow("schedule", "read")],
            f"policies.1.resource: 'schedule' is unknown; it must be one of {resources}",
        ),
        (
            [allow("scheduler", "read", "fly")],
            f"policies.0.action.1: 'fly' is unknown; it must be one of {actions}",
        ),
        ([allow("scheduler")], "policies.0.action: List should have at least 1 item after validation, not 0"),
        ([{**read, "access": "perhaps"}], "policies.0.access: Input should be 'allow' or 'deny'"),
        ([read] * 101, "policies: List should have at most 100 items after validation, not 101"),
    ]
    assert [(policies, refusal(RoleCreate, name="reader", policies=policies)) for policies, _ in refused] == refused


def test_roles(access, admin, member):
    made = access.roles.create(
        RoleCreate(name="reader", policies='[{"access": "allow", "resource": "note", "action": "read"}]'), by=admin
    )
    group = access.groups.create(GroupCreate(name="analysts", roles=str(made.id)), by=admin)
    shown = access.roles.get("reader", by=member)
    assert shown.model_dump(mode="json") == {
        "id": made.id,
        "name": "reader",
        "policies": [allow("note", "read")],
        "groups": [group.id],
        "group_names": ["analysts"],
    }
    copy = access.roles.duplicate("reader", Duplicate(), by=admin)
    assert (copy.name, copy.policies, copy.groups) == ("reader copy", made.policies, [])
    assert [role.name for role in access.roles.list(FIRST_PAGE, by=member).roles] == ["reader copy", "reader"]
    with pytest.raises(Invalid, match=f"name: role {made.id} is called reader already"):
        access.roles.create(RoleCreate(name="reader"), by=admin)
    with pytest.raises(Forbidden, match="permission to create role"):
        access.roles.create(RoleCreate(name="mine"), by=member)
    assert access.roles.delete("reader", by=admin) == made.id
    assert access.groups.get("analysts", by=admin).roles == []


async def test_others_tokens_and_invitations_give_no_more_rights_either(access, admin, invite):
    access.roles.create(RoleCreate(name="desk", policies=[allow("user", "all"), allow("group", "read")]), by=admin)
    access.groups.create(GroupCreate(name="desk", roles="desk"), by=admin)
    _, token = invite("desk@example.org", "desk")
    member_id, _ = invite("ada@example.org")
    newcomer_id, _ = invite("new@example.org", "desk")
    desk = await access.tokens.caller(token)
    body = TokenCreate(name="t")
    assert access.tokens.create(newcomer_id, body, by=desk).token
    for user_id in (admin.user_id, member_id):
        with pytest.raises(Forbidden, match=r"a token of \S+ gives more rights than you have"):
            access.tokens.create(user_id, body, by=desk)
    for groups in (None, "system-admin", "desk,system-user"):
        with pytest.raises(Forbidden, match="more rights than you have"):
            access.users.invite(Invitation(invitee_email="x@example.org", groups=groups), by=desk)
    assert access.users.invite(Invitation(invitee_email="x@example.org", groups="desk"), by=desk).groups == ["desk"]


async def test_whom_an_administrator_took_out_a_colleague_does_not_put_back(access, admin, member, invite, reader):
    ada, _ = invite("ada@example.org")
    access.groups.create(GroupCreate(name="analysts", members=str(ada), roles="reader"), by=admin)
    for group in ("analysts", "system-user"):
        access.groups.remove_users(group, str(ada), by=admin)
        refused = f"ada@example.org was taken out of the group {group}, .*permission to manage group"
        with pytest.raises(Forbidden, match=refused):
            access.groups.add_users(group, f"{ada},{member.user_id}", by=member)
        with pytest.raises(Forbidden, match=refused):
            access.groups.update(group, GroupUpdate(members=str(ada)), by=member)
        access.groups.add_users(group, str(ada), by=admin)
        assert ada in access.groups.get(group, by=admin).members
        access.groups.add_users(group, str(ada), by=member)  # who is in it already stays
    bob, _ = invite("bob@example.org", "analysts")
    access.groups.add_users("system-user", str(bob), by=member)
    assert bob in access.groups.get("system-user", by=admin).members
