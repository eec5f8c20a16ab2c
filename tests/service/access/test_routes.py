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


async def test_a_call_needs_a_token_and_a_group(http, stranger_token):
    missing = refusal(await http.get("/account"), 401)
    wrong = refusal(await http.get("/account", headers={"X-AUTH-TOKEN": "no such token"}), 401)
    in_no_group = refusal(await http.get("/account", headers={"X-AUTH-TOKEN": stranger_token}), 403)
    assert "X-AUTH-TOKEN" in missing
    assert "no such token" not in wrong
    assert in_no_group.startswith("this needs membership of system-user or system-admin, or of a group with a role")


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


async def test_an_invalid_email_address_is_refused(http, as_admin):
    answer = await http.post("/users/invite_new", json={"invitee_email": "ada"}, headers=as_admin)
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


async def test_a_token_needs_a_proper_name(http, as_member, member):
    answer = await http.post(f"/users/{member.user_id}/tokens", json={"name": "a<b"}, headers=as_member)
    assert refusal(answer, 422).startswith("name: ")


async def test_a_token_is_deleted_by_query_body_or_path(http, as_member, member):
    path = f"/users/{member.user_id}/tokens"
    forms = [
        lambda number: {"url": path, "params": {"token_id": number}},
        lambda number: {"url": path, "json": {"id": number}},
        lambda number: {"url": path, "json": {"token_id": str(number)}},
        lambda number: {"url": f"{path}/{number}"},
    ]
    tokens = [(await http.post(path, json={"name": "t"}, headers=as_member)).json() for _ in forms]
    deleted, missing = [], []
    for form, token in zip(forms, tokens, strict=True):
        answer = await http.request("DELETE", **form(token["id"]), headers=as_member)
        deleted.append((answer.status_code, answer.json()))
        refusal(await http.get("/account", headers={"X-AUTH-TOKEN": token["token"]}), 401)
        missing.append(refusal(await http.request("DELETE", **form(token["id"]), headers=as_member), 404))
    assert deleted == [(200, {"status": "deleted", "id": token["id"]}) for token in tokens]
    assert missing == [f"user {member.user_id} has no token {token['id']}" for token in tokens]


async def test_a_deletion_that_names_no_token_deletes_none(http, as_member, member):
    path = f"/users/{member.user_id}/tokens"
    for arguments in ({}, {"json": {}}):
        assert refusal(await http.request("DELETE", path, **arguments, headers=as_member), 422).startswith("token_id: ")
    assert len((await http.get(path, headers=as_member)).json()["tokens"]) == 1


async def test_others_tokens_are_an_administrators(http, as_admin, as_member, admin, member):
    assert "system-admin" in refusal(await http.get(f"/users/{admin.user_id}/tokens", headers=as_member), 403)
    assert (await http.get(f"/users/{member.user_id}/tokens", headers=as_admin)).status_code == 200


async def test_an_id_that_is_none_is_refused(http, as_admin, admin):
    async def refusals(number: str) -> tuple[str, str]:
        listed = await http.get(f"/users/{number}/tokens", headers=as_admin)
        deleted = await http.request("DELETE", f"/users/{admin.user_id}/tokens/{number}", headers=as_admin)
        return refusal(listed, 422).partition(":")[0], refusal(deleted, 422).partition(":")[0]

    numbers = ["0", "-1", "x", "1.5", str(2**63), "9" * 400, "%00", "\u0661"]
    found = {number: await refusals(number) for number in numbers}
    assert found == dict.fromkeys(numbers, ("user_id", "token_id"))


async def test_an_unknown_user_is_not_found(http, as_admin):
    assert "no user 999" in refusal(await http.get("/users/999/tokens", headers=as_admin), 404)
    answer = await http.post("/accounts/enable_user", json={"user_id": 999}, headers=as_admin)
    assert "no user 999" in refusal(answer, 404)
