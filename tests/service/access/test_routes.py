"""The room over HTTP. The application is the service's own routes and error handlers, without the other rooms."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from svc_jupyter.api.access import NewToken
from svc_jupyter.service.access.routes import router
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts

API = "/api/v1.2"


@pytest.fixture
async def http(access) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.parts = Parts([access, RateLimit(None)])
    install_error_handlers(app)
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://service{API}") as client:
        yield client


@pytest.fixture
def as_admin(admin_token: str) -> dict[str, str]:
    return {"X-AUTH-TOKEN": admin_token}


@pytest.fixture
def as_member(member_token: str) -> dict[str, str]:
    return {"X-AUTH-TOKEN": member_token}


def refusal(answer: httpx.Response, status: int) -> str:
    """Check the error envelope and return its message."""
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (status, status), answer.text
    return error["error_message"]


CALLS = [
    ("GET", "/account", None),
    ("GET", "/account/features", None),
    ("PUT", "/account/features", {}),
    ("GET", "/users", None),
    ("POST", "/users/invite_new", {"invitee_email": "ada@example.org"}),
    ("POST", "/accounts/enable_user", {"user_id": 1}),
    ("POST", "/accounts/disable_user", {"user_id": 1}),
    ("GET", "/users/1/tokens", None),
    ("POST", "/users/1/tokens", {"name": "laptop"}),
    ("DELETE", "/users/1/tokens", {"token_id": 1}),
    ("DELETE", "/users/1/tokens/1", None),
]


def test_every_route_except_those_of_groups_and_roles_is_in_the_list_of_calls():
    routes = {
        (method, path)
        for route in router.routes
        for method in route.methods
        if not (path := route.path.removeprefix(API)).startswith(("/groups", "/roles"))
    }
    called = {
        (method, path.replace("/users/1", "/users/{user_id}").replace("tokens/1", "tokens/{token_id}"))
        for method, path, _body in CALLS
    }
    assert called == routes


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_every_call_needs_a_token_and_a_group(http, stranger_token, method, path, body):
    assert "X-AUTH-TOKEN" in refusal(await http.request(method, path, json=body), 401)
    wrong = {"X-AUTH-TOKEN": "no such token"}
    assert "no such token" not in refusal(await http.request(method, path, json=body, headers=wrong), 401)
    stranger = {"X-AUTH-TOKEN": stranger_token}
    message = refusal(await http.request(method, path, json=body, headers=stranger), 403)
    assert message.startswith("this needs membership of system-user or system-admin, or of a group with a role")


async def test_the_account_and_its_features(http, as_admin, as_member):
    account = (await http.get("/account", headers=as_member)).json()
    assert (account["email"], account["groups"]) == ("member@example.org", ["system-user"])
    assert account["features"] == {"jupyter_notebooks": False, "package_management": False}
    on = {"jupyter_notebooks": True, "package_management": None, "of_another_version": 1}
    assert "system-admin" in refusal(await http.put("/account/features", json=on, headers=as_member), 403)
    answer = await http.put("/account/features", json=on, headers=as_admin)
    assert answer.json() == {"jupyter_notebooks": True, "package_management": False}
    assert (await http.get("/account/features", headers=as_member)).json() == answer.json()


async def test_a_feature_of_the_wrong_type_is_named(http, as_admin):
    answer = await http.put("/account/features", json={"jupyter_notebooks": "yes"}, headers=as_admin)
    assert refusal(answer, 422).startswith("jupyter_notebooks: ")


async def test_the_way_of_an_invited_user(http, as_admin):
    """Invited, given a token, calling, disabled, enabled again."""
    invited = await http.post(
        "/users/invite_new", json={"invitee_email": "Ada@Example.org", "groups": "2"}, headers=as_admin
    )
    user = invited.json()["user"]
    assert (invited.status_code, user) == (
        200,
        {"id": user["id"], "email": "ada@example.org", "name": "ada", "groups": ["system-user"], "enabled": True},
    )
    made = await http.post(f"/users/{user['id']}/tokens", json={"name": "first"}, headers=as_admin)
    as_ada = {"X-AUTH-TOKEN": made.json()["token"]}
    assert (await http.get("/account", headers=as_ada)).json()["user_id"] == user["id"]

    disabled = await http.post("/accounts/disable_user", json={"user_id": str(user["id"])}, headers=as_admin)
    assert disabled.json() == {"status": "disabled", "user": {**user, "enabled": False}}
    assert "disabled user" in refusal(await http.get("/account", headers=as_ada), 401)

    enabled = await http.post("/accounts/enable_user", json={"user_id": user["id"]}, headers=as_admin)
    assert enabled.json() == {"status": "enabled", "user": user}
    assert (await http.get("/account", headers=as_ada)).status_code == 200


@pytest.mark.parametrize(
    "email", ["", "ada", "a@b@c", "a b@c", "<a@b>", "a\x00@b", "a@b\n", "@", 7, None, "a@" + "b" * 300]
)
async def test_an_invalid_email_address_is_refused(http, as_admin, email):
    answer = await http.post("/users/invite_new", json={"invitee_email": email}, headers=as_admin)
    assert refusal(answer, 422).startswith("invitee_email: ")


async def test_an_address_that_is_no_text_in_unicode_is_refused(http, as_admin):
    body = b'{"invitee_email": "a\\ud800@b"}'
    answer = await http.post(
        "/users/invite_new", content=body, headers={**as_admin, "Content-Type": "application/json"}
    )
    assert refusal(answer, 422).startswith("invitee_email: ")


async def test_the_last_administrator_cannot_be_disabled(http, as_admin, admin):
    answer = await http.post("/accounts/disable_user", json={"user_id": admin.user_id}, headers=as_admin)
    assert "last enabled member of system-admin" in refusal(answer, 409)


async def test_users_in_pages(http, as_admin, as_member):
    answer = (await http.get("/users", params={"per_page": 1}, headers=as_member)).json()
    assert [user["email"] for user in answer["users"]] == ["member@example.org"]
    assert answer["paging_info"] == {"page": 1, "per_page": 1, "next_page": 2, "previous_page": None}


async def test_a_token_is_shown_once_and_kept_by_no_cache(http, as_member, member):
    path = f"/users/{member.user_id}/tokens"
    made = await http.post(path, json={"name": "ci", "expires_at": "2031-01-01T00:00:00+01:00"}, headers=as_member)
    token = NewToken.model_validate(made.json())
    assert (token.name, token.expires_at) == ("ci", "2030-12-31T23:00:00Z")
    assert made.headers["Cache-Control"] == "no-store"
    listed = await http.get(path, headers=as_member)
    assert token.token not in listed.text
    assert listed.json()["tokens"][0] == token.model_dump(exclude={"token"})


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "a<b"}, {"name": "n" * 256}, {"name": "\x00"}, {"name": 5}]
)
async def test_a_token_needs_a_proper_name(http, as_member, member, body):
    answer = await http.post(f"/users/{member.user_id}/tokens", json=body, headers=as_member)
    assert refusal(answer, 422).startswith("name: ")


@pytest.mark.parametrize("form", ["query", "body", "body with a string", "path"])
async def test_a_token_is_deleted_by_query_body_or_path(http, as_member, as_admin, member, form):
    path, number = f"/users/{member.user_id}/tokens", member.token_id
    arguments = {
        "query": {"url": path, "params": {"token_id": number}},
        "body": {"url": path, "json": {"id": number}},
        "body with a string": {"url": path, "json": {"token_id": str(number)}},
        "path": {"url": f"{path}/{number}"},
    }[form]
    answer = await http.request("DELETE", **arguments, headers=as_member)
    assert (answer.status_code, answer.json()) == (200, {"status": "deleted", "id": number})
    refusal(await http.get("/account", headers=as_member), 401)
    assert f"no token {number}" in refusal(await http.request("DELETE", **arguments, headers=as_admin), 404)


async def test_a_deletion_that_names_no_token_deletes_none(http, as_member, member):
    path = f"/users/{member.user_id}/tokens"
    for arguments in ({}, {"json": {}}):
        assert refusal(await http.request("DELETE", path, **arguments, headers=as_member), 422).startswith("token_id: ")
    assert len((await http.get(path, headers=as_member)).json()["tokens"]) == 1


async def test_others_tokens_are_an_administrators(http, as_admin, as_member, admin, member):
    assert "system-admin" in refusal(await http.get(f"/users/{admin.user_id}/tokens", headers=as_member), 403)
    assert (await http.get(f"/users/{member.user_id}/tokens", headers=as_admin)).status_code == 200


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", str(2**63), "9" * 400, "%00", "\u0661"])
async def test_an_id_that_is_none_is_refused(http, as_admin, admin, number):
    assert refusal(await http.get(f"/users/{number}/tokens", headers=as_admin), 422).startswith("user_id: ")
    answer = await http.request("DELETE", f"/users/{admin.user_id}/tokens/{number}", headers=as_admin)
    assert refusal(answer, 422).startswith("token_id: ")


@pytest.mark.parametrize("number", [999, 2**63 - 1])
async def test_an_unknown_user_is_not_found(http, as_admin, number):
    assert f"no user {number}" in refusal(await http.get(f"/users/{number}/tokens", headers=as_admin), 404)
    answer = await http.post("/accounts/enable_user", json={"user_id": number}, headers=as_admin)
    assert f"no user {number}" in refusal(answer, 404)
