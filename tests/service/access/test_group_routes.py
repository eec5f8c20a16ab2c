"""Groups, roles and object policies over HTTP: the forms that clients send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from tests.service.access.test_object_policies import a_schedule

from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.object_policy_routes import router as policies_router
from svc_jupyter.service.access.routes import router as access_router
from svc_jupyter.service.application.policy_objects import OBJECTS
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
API = "/api/v1.2"


@pytest.fixture
def access(database, bus, settings, clock, account_id) -> Access:
    return Access.of(database, bus, settings, clock, OBJECTS)


@pytest.fixture
async def http(access, settings, admin_token) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.parts = Parts([access, RateLimit(None)])
    install_error_handlers(app)
    for router in (access_router, policies_router):
        app.include_router(router)
    headers = {"X-AUTH-TOKEN": admin_token, "Content-Type": "application/json"}
    transport = httpx.ASGITransport(RequestShell(app, settings, access.tokens.caller))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://service{API}", headers=headers) as client:
        yield client


async def test_users_are_added_to_a_group_as_the_contract_says(http, access, admin, member, invite):
    ada, _ = invite("ada+test/1@example.org")
    made = (await http.post("/groups", json={"name": "data analysts"})).json()
    answer = await http.put("/groups/data analysts/service_users/member@example.org/add", json={})
    assert (answer.status_code, answer.json()) == (200, {"status": "done"})
    users = f"{member.user_id},ada%2Btest%2F1%40example.org"
    for path in (f"/groups/{made['id']}/service_users/{users}/add", f"/groups/{made['id']}/service_users/{users}/add/"):
        assert (await http.put(path, content=b"")).json() == {"status": "done"}
    assert (await http.get(f"/groups/{made['id']}")).json()["members"] == [member.user_id, ada]
    answer = await http.put("/groups/data analysts/service_users/ada+test/1@example.org/remove", json={})
    assert (answer.status_code, answer.json()) == (200, {"status": "done"})
    refused = await http.put(f"/groups/nobody/service_users/{member.user_id}/add", json={})
    assert (refused.status_code, refused.json()["error"]["error_message"]) == (
        404,
        "there is no group 'nobody' in this account",
    )


async def test_lists_in_a_body_come_as_texts_or_arrays(http, member, admin):
    await http.post("/roles", json={"name": "reader", "policies": "[]"})
    for members in (f"{member.user_id}, admin@localhost", [member.user_id, "ADMIN@localhost"]):
        made = await http.post("/groups", json={"name": f"g{len(members)}", "members": members, "roles": ["reader"]})
        assert made.json()["members"] == [admin.user_id, member.user_id]
        assert made.json()["role_names"] == ["reader"]
    for wrong in ({"members": 7}, {"members": [[1]]}, {"roles": [True]}, {"name": None}):
        answer = await http.post("/groups", json={"name": "wrong", **wrong})
        assert answer.status_code == 422
        assert answer.json()["error"]["error_message"].startswith(next(iter(wrong)))
    assert (await http.post("/groups/g2/duplicate", content=b"")).json()["name"] == "g2 copy"
    assert (await http.post("/roles/reader/duplicate", json={"name": "again"})).json()["name"] == "again"
    deleted = await http.delete("/groups/g2")
    assert deleted.json()["status"] == "deleted"


async def test_a_policy_is_asked_for_in_the_body_or_the_query_and_set_as_text_or_array(http, database, member):
    schedule_id = a_schedule(database, member)
    entry = {"access": "deny", "condition": {"service_users": [member.user_id]}, "action": ["update"]}
    for policy in (json.dumps([entry]), [entry]):
        body = {"source_id": str(schedule_id), "source_type": "scheduler", "policy": policy}
        answer = await http.put("/object_policy/policy", json=body)
        assert (answer.status_code, answer.json()["policies"]) == (200, [entry])
        assert "warning" not in answer.json()
    chosen = {"source_id": schedule_id, "source_type": "scheduler"}
    in_query = await http.get("/object_policy/policy", params=chosen)
    in_body = await http.request("GET", "/object_policy/policy", json={**chosen, "source_id": str(schedule_id)})
    assert in_query.json() == in_body.json() == answer.json()
    history = (await http.request("GET", "/object_policy/history?per_page=1", json=chosen)).json()
    assert (len(history["history"]), history["paging_info"]["next_page"]) == (1, 2)


async def test_a_question_that_names_no_object_says_what_is_missing(http):
    kinds = "'cluster', 'note', 'environment', 'scheduler', 'jupyter_notebook', 'folder' or 'pipeline'"
    no_id = "must be an id: an integer, or the same as a string of digits; or the path of a notebook"
    refused = {
        b"{": (400, "the body is not JSON"),
        b"[" * 100_000: (400, "the body is not JSON"),
        b"[]": (422, "the body must be a JSON object"),
        b"": (422, "source_id: Field required; source_type: Field required"),
        b'{"source_id": 1, "source_type": "planet"}': (422, f"source_type: Input should be {kinds}"),
        b'{"source_id": "x", "source_type": "note"}': (422, f"source_id: {no_id}"),
    }

    async def refusal(content: bytes) -> tuple[int, str]:
        answer = await http.request("GET", "/object_policy/policy", content=content)
        return answer.status_code, answer.json()["error"]["error_message"]

    assert {content: await refusal(content) for content in refused} == refused


async def test_the_body_of_a_question_is_not_boundless(http, settings):
    answer = await http.request("GET", "/object_policy/policy", content=b" " * (settings.max_body_bytes + 1))
    assert answer.status_code == 413


async def test_a_wrong_entry_is_named(http, database, member):
    schedule_id = a_schedule(database, member)
    good = {"access": "deny", "condition": {"service_users": [member.user_id]}, "action": ["all"]}
    body = {
        "source_id": schedule_id,
        "source_type": "scheduler",
        "policy": json.dumps([good, {**good, "action": ["fly"]}]),
    }
    answer = await http.put("/object_policy/policy", json=body)
    assert (answer.status_code, answer.json()["error"]["error_message"]) == (
        422,
        "policy.1.action.0: 'fly' is unknown; it must be one of read, update, delete, manage, start, terminate, "
        "clone, all",
    )
