"""Groups, roles, object policies and the audit log: each call is compared with the contract's own words."""

import json
from typing import Any

import httpx
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble

GROUP = {
    "id": 4,
    "name": "data analysts",
    "members": [7],
    "roles": [2],
    "member_emails": ["bob@example.com"],
    "role_names": ["reader"],
}
ENTRY = {"access": "allow", "resource": "scheduler", "action": ["read"]}
ROLE = {"id": 2, "name": "reader", "policies": [ENTRY], "groups": [4], "group_names": ["data analysts"]}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
DONE = {"status": "done"}
DELETED = {"status": "deleted", "id": 4}
RULE = {"access": "deny", "condition": {"service_users": [7]}, "action": ["update"]}
POLICY = {"policies": [RULE], "source_id": 9, "source_type": "scheduler"}
DECISIONS = {
    "source_id": 9,
    "source_type": "scheduler",
    "user_id": 7,
    "email": "bob@example.com",
    "decisions": [{"action": "read", "allowed": False, "because": "entry 1 denies it"}],
}
VERSION = {
    "id": 1,
    "policies": [RULE],
    "user_id": 7,
    "email": "bob@example.com",
    "created_at": "2026-11-21T09:00:00Z",
    "trace_id": None,
}
CHANGE = {
    "id": 1,
    "created_at": "2026-11-21T09:00:00Z",
    "user_id": 7,
    "email": "bob@example.com",
    "token_id": 3,
    "address": "10.0.0.7",
    "trace_id": "0123456789",
    "action": "create",
    "resource": "group",
    "object_id": "4",
    "detail": {"name": "data analysts"},
}
API = "/api/v1.2"
IN_ONE = f"{API}/groups/data%20analysts"


def calls(client: Any) -> dict[str, tuple[Any, dict[str, Any], str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    groups, roles, policies = client.groups, client.roles, client.object_policies
    return {
        "groups": (groups.list, {"groups": [GROUP], "paging_info": PAGE}, f"GET {API}/groups?page=1&per_page=10", None),
        "group": (lambda: groups.get("data analysts"), GROUP, f"GET {IN_ONE}", None),
        "create": (
            lambda: groups.create("data analysts", members=[7, "ada@example.com"], roles="reader"),
            GROUP,
            f"POST {API}/groups",
            {"name": "data analysts", "members": "7,ada@example.com", "roles": "reader"},
        ),
        "create empty": (lambda: groups.create("empty"), GROUP, f"POST {API}/groups", {"name": "empty"}),
        "rename": (lambda: groups.rename(4, "new"), GROUP, f"PUT {API}/groups/4", {"name": "new"}),
        "delete": (lambda: groups.delete(4), DELETED, f"DELETE {API}/groups/4", None),
        "duplicate": (lambda: groups.duplicate(4), GROUP, f"POST {API}/groups/4/duplicate", {}),
        "add": (
            lambda: groups.add_users("data analysts", [7, "ada+test/1@example.com"]),
            DONE,
            f"PUT {IN_ONE}/service_users/7%2Cada%2Btest%2F1%40example.com/add",
            {},
        ),
        "remove": (lambda: groups.remove_users(4, 7), DONE, f"PUT {API}/groups/4/service_users/7/remove", {}),
        "assign": (lambda: groups.assign(4, "reader"), DONE, f"PUT {API}/groups/4/roles/reader/assign", {}),
        "unassign": (lambda: groups.unassign(4, 2), DONE, f"PUT {API}/groups/4/roles/2/unassign", {}),
        "roles": (roles.list, {"roles": [ROLE], "paging_info": PAGE}, f"GET {API}/roles?page=1&per_page=10", None),
        "role": (lambda: roles.get("reader"), ROLE, f"GET {API}/roles/reader", None),
        "create role": (
            lambda: roles.create("reader", [ENTRY]),
            ROLE,
            f"POST {API}/roles",
            {"name": "reader", "policies": [ENTRY]},
        ),
        "update role": (lambda: roles.update(2, policies=[]), ROLE, f"PUT {API}/roles/2", {"policies": []}),
        "rename role": (lambda: roles.update(2, name="new"), ROLE, f"PUT {API}/roles/2", {"name": "new"}),
        "delete role": (lambda: roles.delete("reader"), DELETED, f"DELETE {API}/roles/reader", None),
        "copy role": (lambda: roles.duplicate(2, name="x"), ROLE, f"POST {API}/roles/2/duplicate", {"name": "x"}),
        "policy": (
            lambda: policies.get("scheduler", 9),
            POLICY,
            f"GET {API}/object_policy/policy?source_id=9&source_type=scheduler",
            {"source_id": "9", "source_type": "scheduler"},
        ),
        "set policy": (
            lambda: policies.set("scheduler", 9, [RULE]),
            POLICY,
            f"PUT {API}/object_policy/policy",
            {"source_id": "9", "source_type": "scheduler", "policy": json.dumps([RULE])},
        ),
        "history": (
            lambda: policies.history("scheduler", 9),
            {"history": [VERSION], "paging_info": PAGE},
            f"GET {API}/object_policy/history?source_id=9&source_type=scheduler&page=1&per_page=10",
            None,
        ),
        "explain": (
            lambda: policies.explain("scheduler", 9, user="bob@example.com", action="read"),
            DECISIONS,
            f"GET {API}/object_policy/decision?source_id=9&source_type=scheduler&user=bob%40example.com&action=read",
            None,
        ),
        "audit": (
            lambda: client.audit.list(resource="group", user_id=7),
            {"audit": [CHANGE], "paging_info": PAGE},
            f"GET {API}/audit?page=1&per_page=10&resource=group&user_id=7",
            None,
        ),
    }


def test_a_call_sends_and_reads_what_the_contract_says(connect: Any, extended: ServiceDouble) -> None:
    rows = calls(connect(extended))
    extended.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    records = {name: make().model_dump(mode="json", exclude_unset=True) for name, (make, *_) in rows.items()}

    assert sent(extended) == [(line, body) for _, _, line, body in rows.values()]
    assert records == {name: answer for name, (_, answer, _, _) in rows.items()}


def test_groups_roles_and_changes_are_walked_through(connect: Any, extended: ServiceDouble) -> None:
    client = connect(extended)
    for plural, item in (("groups", GROUP), ("roles", ROLE), ("audit", CHANGE)):
        for page, following in ((1, 2), (2, None)):
            info = {"page": page, "per_page": 100, "next_page": following, "previous_page": None}
            content = {plural: [item | {"id": 10 - page}], "paging_info": info}
            extended.next_answers.append(httpx.Response(200, json=content))
    assert [group.id for group in client.groups.iter()] == [9, 8]
    assert [role.id for role in client.roles.iter()] == [9, 8]
    assert [change.id for change in client.audit.iter(action="create")] == [9, 8]
