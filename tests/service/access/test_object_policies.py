"""Policies of single objects: viewing and setting them, what they change, and their history."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from svc_jupyter.api.groups import GroupCreate, RoleCreate
from svc_jupyter.api.object_policies import ObjectChoice, PolicyUpdate, SourceType
from svc_jupyter.service.access import policy_versions
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller, Origin
from svc_jupyter.service.access.permissions import Action, Resource, decision
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.application.policy_objects import OBJECTS
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.validation import explain
from svc_jupyter.service.schema.access import object_policy_versions
from svc_jupyter.service.schema.clusters import clusters
from svc_jupyter.service.schema.schedules import schedules

FIRST_PAGE = Page(1, 10)


@pytest.fixture
def access(database: Database, bus: Bus, settings, clock, account_id: int) -> Access:
    return Access.of(database, bus, settings, clock, OBJECTS)


@pytest.fixture
def schedule_id(database: Database, member: Caller) -> int:
    """A schedule of the member's."""
    return a_schedule(database, member)


def a_schedule(database: Database, owner: Caller) -> int:
    unset = {"is_digest": False, "digest_time_hour": 0, "digest_time_minute": 0, "retry": 0, "retry_delay": 1}
    flags = dict.fromkeys(("no_catch_up", "can_notify", "notify_failure", "notify_success"), False)
    values = {
        **unset,
        **flags,
        "account_id": owner.account_id,
        "user_id": owner.user_id,
        "status": "RUNNING",
        "created_at": 0.0,
        "command_type": "ShellCommand",
        "command": {},
        "start_time": 0.0,
        "time_zone": "UTC",
        "concurrency": 1,
        "time_out": 1,
        "command_timeout": 1,
    }
    with database.begin() as connection:
        return int(connection.execute(sa.insert(schedules).values(**values).returning(schedules.c.id)).scalar_one())


def entry(access: str, users: list[int] | None = None, groups: list[int] | None = None, *actions: str) -> dict:
    condition = {key: ids for key, ids in (("service_users", users), ("service_groups", groups)) if ids is not None}
    return {"access": access, "condition": condition, "action": list(actions) or ["all"]}


def update(schedule_id: int, policy: object) -> PolicyUpdate:
    return PolicyUpdate(source_id=schedule_id, source_type="scheduler", policy=policy)


def choice(schedule_id: int) -> ObjectChoice:
    return ObjectChoice(source_id=str(schedule_id), source_type="scheduler")


async def test_a_policy_is_set_viewed_and_takes_effect_at_once(access, admin, member, member_token, schedule_id):
    policy = [entry("allow", [member.user_id], None, "read"), entry("deny", [member.user_id], None)]
    shown = access.object_policies.set(update(schedule_id, json.dumps(policy)), by=admin)
    expected = {"policies": policy, "source_id": schedule_id, "source_type": "scheduler"}
    assert shown.model_dump(mode="json", exclude_unset=True) == {
        **expected,
        "updated_at": "2030-03-17T17:46:40Z",
        "updated_by": "admin@localhost",
    }
    assert access.object_policies.get(choice(schedule_id), by=admin) == shown
    caller = await access.tokens.caller(member_token)
    found = {action: decision(caller, action, Resource.SCHEDULER, schedule_id).allowed for action in Action}
    assert [action for action, allowed in found.items() if allowed] == ["read"]
    assert access.object_policies.set(update(schedule_id, []), by=admin).policies == []
    assert decision(await access.tokens.caller(member_token), Action.UPDATE, Resource.SCHEDULER, schedule_id).allowed


def test_an_object_without_a_policy_has_an_empty_one(access, member, schedule_id):
    shown = access.object_policies.get(choice(schedule_id), by=member)
    assert shown.model_dump(mode="json", exclude_unset=True) == {
        "policies": [],
        "source_id": schedule_id,
        "source_type": "scheduler",
    }
    assert access.object_policies.history(choice(schedule_id), FIRST_PAGE, by=member).history == []


async def test_owners_administrators_and_roles_set_a_policy_and_a_policy_gives_nobody_that(
    access, admin, member, invite, schedule_id
):
    ada_id, ada_token = invite("ada@example.org")
    generous = [entry("allow", [ada_id], None, "manage", "all")]
    access.object_policies.set(update(schedule_id, generous), by=member)
    ada = await access.tokens.caller(ada_token)
    assert access.object_policies.get(choice(schedule_id), by=ada).policies
    with pytest.raises(
        Forbidden, match=f"ownership of the object .permission to set the policy of scheduler {schedule_id}"
    ):
        access.object_policies.set(update(schedule_id, []), by=ada)
    setter = [{"access": "allow", "resource": "object_policy", "action": ["update"]}]
    access.roles.create(RoleCreate(name="setter", policies=setter), by=admin)
    access.groups.create(GroupCreate(name="setters", members=str(ada_id), roles="setter"), by=admin)
    access.object_policies.set(update(schedule_id, []), by=await access.tokens.caller(ada_token))


async def test_who_locks_themselves_out_is_warned_and_can_be_let_in_again(
    access, admin, member, member_token, schedule_id
):
    shown = access.object_policies.set(update(schedule_id, [entry("deny", [member.user_id])]), by=member)
    assert shown.warning == (
        f"with this policy you may no longer read, update, delete, manage scheduler {schedule_id}; who owns it or is "
        "in system-admin can change it again"
    )
    locked_out = await access.tokens.caller(member_token)
    assert not decision(locked_out, Action.READ, Resource.SCHEDULER, schedule_id).allowed
    assert access.object_policies.set(update(schedule_id, []), by=locked_out).warning is None
    deny_everybody = [entry("deny", [admin.user_id, member.user_id])]
    assert access.object_policies.set(update(schedule_id, deny_everybody), by=admin).warning is None
    assert decision(admin, Action.UPDATE, Resource.SCHEDULER, schedule_id).allowed


def test_a_policy_that_cannot_be_names_the_entry():
    one = entry("allow", [1])
    no_json = "policy: is not JSON: give an array of entries, or the same as a JSON text"
    no_list = "policy: Input should be a valid list"
    actions = "it must be one of read, update, delete, manage, start, terminate, clone, all"
    no_id = "policy.0.condition.service_users.0: Input should be a valid integer"
    nobody = "policy.0.condition: must name somebody: ids in service_users, in service_groups, or in both"
    too_many_users = "policy.0.condition.service_users: List should have at most 1000 items after validation, not 1001"
    refused = [
        ("", no_json),
        ("[{]", no_json),
        ("[" * 100_000, no_json),
        ('[{"access": "allow", "condition": {"service_users": [' + "1" * 5000 + "]}}]", no_json),
        ("[" + "1," * 500_000 + "1]", "policy: must have at most 262144 characters, has 1000003"),
        ("null", no_list),
        ('{"access": "allow"}', no_list),
        ([one, {"access": "deny"}], "policy.1.condition: Field required; policy.1.action: Field required"),
        ([one, entry("maybe", [1])], "policy.1.access: Input should be 'allow' or 'deny'"),
        ([entry("allow", [1], None, "read", "fly")], f"policy.0.action.1: 'fly' is unknown; {actions}"),
        ([entry("allow", [1], None, "create")], f"policy.0.action.0: 'create' is unknown; {actions}"),
        ([{**one, "action": []}], "policy.0.action: List should have at least 1 item after validation, not 0"),
        ([entry("allow", ["admin@localhost"])], no_id),
        ([entry("allow", [True])], no_id),
        ([entry("allow")], nobody),
        ([entry("allow", [], [])], nobody),
        ([one] * 101, "policy: List should have at most 100 items after validation, not 101"),
        ([entry("allow", list(range(1, 1002)))], too_many_users),
    ]

    def refusal(policy: object) -> str:
        with pytest.raises(ValidationError) as raised:
            update(1, policy)
        return explain(raised.value)

    assert [(policy, refusal(policy)) for policy, _ in refused] == refused


def test_a_policy_with_an_unknown_object_member_or_action_is_refused_and_changes_nothing(access, admin, schedule_id):
    before = [entry("deny", [admin.user_id])]
    access.object_policies.set(update(schedule_id, before), by=admin)
    for policy, told in (
        ([*before, entry("allow", [admin.user_id, 998, 999])], "policy.1.condition.service_users: 998, 999: not in"),
        ([entry("allow", None, [2**63 - 1])], r"policy.0.condition.service_groups: 9223372036854775807: not in"),
        ([entry("allow", [1], None, "start")], "policy.0.action: a scheduler has no action start"),
    ):
        with pytest.raises(Invalid, match=told):
            access.object_policies.set(update(schedule_id, policy), by=admin)
    for wrong, error, told in (
        ({"source_id": 999}, NotFound, "there is no scheduler 999"),
        ({"source_type": "cluster", "source_id": 998}, NotFound, "there is no cluster 998"),
    ):
        body = {"source_id": schedule_id, "source_type": "scheduler", "policy": [], **wrong}
        with pytest.raises(error, match=told):
            access.object_policies.set(PolicyUpdate(**body), by=admin)
        with pytest.raises(error, match=told):
            access.object_policies.get(ObjectChoice(**body), by=admin)
    shown = access.object_policies.get(choice(schedule_id), by=admin)
    assert [item.access for item in shown.policies] == ["deny"]


def test_the_history_shows_who_and_when_and_is_bounded(access, admin, member, schedule_id, clock, monkeypatch):
    monkeypatch.setattr(policy_versions, "HISTORY_LIMIT", 3)
    traced = Caller(
        **{name: getattr(member, name) for name in ("user_id", "account_id", "email", "groups", "token_id")},
        origin=Origin("10.0.0.7", "trace-of-the-change"),
    )
    for number in range(5):
        clock.now += 60
        by = traced if number == 4 else admin
        access.object_policies.set(update(schedule_id, [entry("deny", [number % 2 + 1])]), by=by)
    history = access.object_policies.history(choice(schedule_id), FIRST_PAGE, by=admin).history
    assert [(item.email, item.created_at[11:19], item.trace_id) for item in history] == [
        ("member@example.org", "17:51:40", "trace-of-the-change"),
        ("admin@localhost", "17:50:40", None),
        ("admin@localhost", "17:49:40", None),
    ]
    assert [item.policies[0].condition.service_users for item in history] == [[1], [2], [1]]


async def test_a_deleted_group_leaves_the_policies(access, admin, member, member_token, schedule_id):
    """Its id may be given to another group, which must not come into what the policies gave."""
    gone = access.groups.create(GroupCreate(name="gone", members=str(member.user_id)), by=admin)
    stays = access.groups.create(GroupCreate(name="stays"), by=admin)
    policy = [
        entry("deny", None, [gone.id], "read"),
        entry("allow", [admin.user_id], [gone.id], "read"),
        entry("deny", None, [stays.id, gone.id]),
    ]
    access.object_policies.set(update(schedule_id, policy), by=admin)
    assert not decision(await access.tokens.caller(member_token), Action.READ, Resource.SCHEDULER, schedule_id).allowed
    access.groups.delete("gone", by=admin)
    shown = access.object_policies.get(choice(schedule_id), by=admin)
    assert [item.model_dump(mode="json", exclude_unset=True)["condition"] for item in shown.policies] == [
        {"service_users": [admin.user_id], "service_groups": []},
        {"service_groups": [stays.id]},
    ]
    assert decision(await access.tokens.caller(member_token), Action.READ, Resource.SCHEDULER, schedule_id).allowed


def test_a_group_that_a_policy_favours_is_not_joined_by_who_has_less(access, admin, member, schedule_id, database):
    favoured = access.groups.create(GroupCreate(name="favoured"), by=admin)
    policy = [entry("allow", None, [favoured.id], "read"), entry("deny", [member.user_id])]
    access.object_policies.set(update(schedule_id, policy), by=admin)
    with database.connect() as connection:
        found = access.tokens.reader.user(connection, member.account_id, member.user_id)
    assert found is not None
    with pytest.raises(Forbidden, match=f"more rights than you have: permission to read scheduler {schedule_id}"):
        access.groups.add_users("favoured", "member@example.org", by=found[0])


async def test_deciding_costs_no_query_and_only_what_changed_is_read(
    access, admin, member_token, database, member, count_statements
):
    ids = [a_schedule(database, member) for _ in range(20)]
    for schedule_id in ids:
        access.object_policies.set(update(schedule_id, [entry("deny", [member.user_id], None, "delete")]), by=admin)
    caller = await access.tokens.caller(member_token)
    count_statements.clear()
    for schedule_id in ids:
        assert not decision(caller, Action.DELETE, Resource.SCHEDULER, schedule_id).allowed
    assert count_statements == []
    access.tokens.forget()
    again = await access.tokens.caller(member_token)
    assert again.policies is caller.policies
    assert not [statement for statement in count_statements if "object_policy_versions.policy" in statement]


async def test_another_replica_learns_of_a_policy(access, admin, member, member_token, schedule_id, database, clock):
    """Its callers are looked up afresh when it is told, and the policies it has read are brought up to date."""
    replica = Tokens(database, Bus(database), clock)
    assert decision(await replica.caller(member_token), Action.READ, Resource.SCHEDULER, schedule_id).allowed
    access.object_policies.set(update(schedule_id, [entry("deny", [member.user_id])]), by=admin)
    replica.forget()
    assert not decision(await replica.caller(member_token), Action.READ, Resource.SCHEDULER, schedule_id).allowed


def test_the_policies_of_deleted_objects_go_with_them(access, admin, schedule_id, database):
    access.object_policies.set(update(schedule_id, [entry("deny", [admin.user_id])]), by=admin)
    with database.begin() as connection:
        policy_versions.forget(connection, SourceType.NOTE, [schedule_id])
        policy_versions.forget(connection, SourceType.SCHEDULER, sa.select(schedules.c.id).where(schedules.c.id == 0))
        assert len(connection.execute(sa.select(object_policy_versions)).all()) == 1
        policy_versions.forget(connection, SourceType.SCHEDULER, sa.select(schedules.c.id))
        assert connection.execute(sa.select(object_policy_versions)).all() == []
    access.object_policies.set(update(schedule_id, [entry("deny", [admin.user_id])]), by=admin)
    with database.begin() as connection:
        policy_versions.forget(connection, SourceType.SCHEDULER, [schedule_id, 10**12])
        assert connection.execute(sa.select(object_policy_versions)).all() == []


def test_an_owner_gives_nobody_what_owning_does_not_give(access, database, admin, member):
    """Adding nodes is for administrators and roles: an owner who named `manage` would have given it to herself."""
    values = {"account_id": 1, "user_id": member.user_id, "created_at": 0.0, "configuration": {}, "state": "DOWN"}
    with database.begin() as connection:
        cluster_id = connection.execute(sa.insert(clusters).values(**values).returning(clusters.c.id)).scalar_one()

    def policy(*actions: str) -> PolicyUpdate:
        entries = [{"access": "allow", "condition": {"service_users": [member.user_id]}, "action": list(actions)}]
        return PolicyUpdate(source_type=SourceType.CLUSTER, source_id=cluster_id, policy=entries)

    def may(action: Action) -> bool:
        return decision(now(access, member), action, Resource.CLUSTER, cluster_id).allowed

    with pytest.raises(Forbidden, match=f"permission to manage cluster {cluster_id}; ask a member of system-admin"):
        access.object_policies.set(policy("read", "manage"), by=member)
    access.object_policies.set(policy("all"), by=member)
    assert (may(Action.TERMINATE), may(Action.MANAGE)) == (True, False)
    access.object_policies.set(policy("manage"), by=admin)
    assert may(Action.MANAGE)


def now(access: Access, who: Caller) -> Caller:
    """Return a user as a caller with what holds now."""
    with access.tokens._database.connect() as connection:
        found = access.tokens.reader.user(connection, who.account_id, who.user_id)
    assert found is not None
    return found[0]
