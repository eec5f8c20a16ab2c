"""All routes of the application × all kinds of callers, against the table of `route_table.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.routing import APIRoute
from tests.service.access.route_table import ROWS, Row
from tests.service.access.route_world import World

from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


def test_every_route_is_in_the_table(settings: Settings):
    app = create_app(Service.of(settings))
    routes = {
        (method, route.path.removeprefix("/api/v1.2").replace(":path", ""))
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    assert routes == {row.template for row in ROWS}
    documented = {
        (method.upper(), path.removeprefix("/api/v1.2"))
        for path, operations in app.openapi()["paths"].items()
        for method in operations
    }
    assert documented <= routes


async def test_who_is_let_in(world: World):
    """Without a token, with a wrong one, disabled, in no group, in the two built-in ones."""
    expected = {
        "no token": lambda row: None,
        "wrong token": lambda row: None,
        "disabled": lambda row: None,
        "plain": lambda row: False,
        "owner": lambda row: row.object == "owner",
        "system-user": lambda row: row.member,
        "system-admin": lambda row: True,
    }
    assert await differences(world, expected) == []


async def test_a_role_opens_exactly_what_it_allows(world: World):
    wrong = []
    for row in ROWS:
        needed = row.permissions or (("read", "hive"),)
        for sufficient in [needed] if row.all_needed else [(one,) for one in needed]:
            world.set_role(*(("allow", *one) for one in sufficient))
            wrong += [(row.call, "allowed", *sufficient)] * (await world.allowed("role", row) is not True)
        for denied in [(one,) for one in row.permissions] if row.all_needed else [row.permissions]:
            world.set_role(("allow", "all", "all"), *(("deny", *one) for one in denied))
            expected = not row.permissions
            wrong += [(row.call, "denied", *denied)] * (await world.allowed("role", row) is not expected)
    assert not wrong, wrong


async def test_a_policy_of_the_object_overrides_what_groups_give(world: World):
    user, grouped = (world.callers[who].user_id for who in ("plain", "grouped"))
    wrong = []
    for row in ROWS:
        if row.object != "policy":
            continue
        named = [action for action, _ in row.permissions]
        allow_user, deny_user = (_entry(access, named, users=[grouped]) for access in ("allow", "deny"))
        allow_group, deny_group = (_entry(access, named, groups=[world.group_id]) for access in ("allow", "deny"))
        cases: list[tuple[str, list[dict[str, Any]], bool]] = [
            ("plain", [_entry("allow", named, users=[user])], True),
            ("plain", [_entry("allow", ["all"], users=[user])], True),
            ("plain", [_entry("allow", ["read"], users=[user])], named == ["read"]),
            ("grouped", [], True),
            ("grouped", [deny_user], False),
            ("grouped", [deny_group], False),
            ("grouped", [allow_user, deny_group], True),
            ("grouped", [deny_group, allow_user], True),
            ("grouped", [deny_user, allow_group], False),
            ("grouped", [allow_group, deny_user], False),
            ("grouped", [allow_group, deny_group], True),
            ("grouped", [deny_group, allow_group], False),
            ("system-user", [deny_user, deny_group], True),
            ("system-admin", [_entry("deny", ["all"], users=[1])], True),
        ]
        for who, policy, expected in cases:
            world.set_policy(*policy, of="cluster" if row.path.startswith("/clusters") else "scheduler")
            if await world.allowed(who, row) is not expected:
                wrong.append((row.call, who, policy))
    assert not wrong, wrong


async def test_lists_hide_what_their_caller_may_not_read(world: World):
    user, grouped = world.callers["plain"].user_id, world.callers["grouped"].user_id
    for path, plural in (("scheduler", "schedules"), ("actions", "actions")):
        row = next(row for row in ROWS if row.call == f"GET /{path}")
        assert row.object == "listed"

        async def listed(who: str, path: str = path, plural: str = plural) -> int:
            headers = {"X-AUTH-TOKEN": world.tokens[who]}
            answer = await world.http.get(f"/api/v1.2/{path}", headers=headers)
            return len(answer.json()[plural])

        world.set_policy(_entry("deny", ["read"], users=[grouped]), _entry("allow", ["read"], users=[user]))
        assert [await listed(who) for who in ("grouped", "plain", "system-user", "system-admin")] == [0, 1, 1, 1]
        world.set_policy()
        assert await world.allowed("plain", row) is False


async def differences(world: World, expected: dict[str, Callable[[Row], bool | None]]) -> list[tuple[str, ...]]:
    wrong = []
    for row in ROWS:
        for who, rule in expected.items():
            found = await world.allowed(who, row)
            if found is not rule(row):
                wrong.append((row.call, who, str(found)))
    return wrong


def _entry(access: str, named: list[str], users: list[int] | None = None, groups: list[int] | None = None) -> Any:
    condition = {key: ids for key, ids in (("service_users", users), ("service_groups", groups)) if ids}
    return {"access": access, "condition": condition, "action": named}
