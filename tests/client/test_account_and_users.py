"""Calls whose whole behaviour is what they send and read: each is compared with the contract's own words."""

from typing import Any

import httpx
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble

USER = {"id": 7, "email": "bob@example.com", "name": "bob", "groups": ["system-user"], "enabled": True}
TOKEN = {"id": 3, "name": "laptop", "created_at": "2026-11-21T09:00:00Z", "expires_at": None}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
ACCOUNT = {
    "id": 1,
    "name": "default",
    "user_id": 7,
    "email": "bob@example.com",
    "groups": ["system-user"],
    "features": {"jupyter_notebooks": True, "package_management": False},
    "storage_url": "file:///data/storage",
    "concurrent_command_limit": 20,
    "isolation": "on",
}
STORAGE = {"url": "s3://bucket/", "access_key": "<hidden>", "secret_key": "<hidden>", "region": "eu", "endpoint": None}


def calls(client: Any) -> dict[str, tuple[Any, dict[str, Any], str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    account, users, tokens = client.account, client.users, client.users.tokens
    return {
        "account": (account.get, ACCOUNT, "GET /api/v1.2/account", None),
        "features": (account.features, ACCOUNT["features"], "GET /api/v1.2/account/features", None),
        "set_features": (
            lambda: account.set_features(jupyter_notebooks=True),
            ACCOUNT["features"],
            "PUT /api/v1.2/account/features",
            {"jupyter_notebooks": True},
        ),
        "storage": (account.storage, STORAGE, "GET /api/v1.2/account/storage", None),
        "set_storage": (
            lambda: account.set_storage("s3://bucket/", access_key="key", secret_key="secret", region="eu"),
            STORAGE,
            "PUT /api/v1.2/account/storage",
            {"url": "s3://bucket/", "access_key": "key", "secret_key": "secret", "region": "eu"},
        ),
        "users": (
            users.list,
            {"users": [USER], "paging_info": PAGE},
            "GET /api/v1.2/users?page=1&per_page=10",
            None,
        ),
        "invite": (
            lambda: users.invite("bob@example.com", groups=["system-user", "etl"]),
            {"user": USER},
            "POST /api/v1.2/users/invite_new",
            {"invitee_email": "bob@example.com", "groups": "system-user,etl"},
        ),
        "invite into no group": (
            lambda: users.invite("bob@example.com", groups=[]),
            {"user": USER},
            "POST /api/v1.2/users/invite_new",
            {"invitee_email": "bob@example.com"},
        ),
        "enable": (
            lambda: users.enable(7),
            {"status": "enabled", "user": USER},
            "POST /api/v1.2/accounts/enable_user",
            {"user_id": 7},
        ),
        "disable": (
            lambda: users.disable(7),
            {"status": "disabled", "user": USER | {"enabled": False}},
            "POST /api/v1.2/accounts/disable_user",
            {"user_id": 7},
        ),
        "tokens": (
            lambda: tokens.list(7),
            {"tokens": [TOKEN], "paging_info": PAGE},
            "GET /api/v1.2/users/7/tokens?page=1&per_page=10",
            None,
        ),
        "create_token": (
            lambda: tokens.create(7, "laptop", expires_at="2027-01-01T00:00:00Z"),
            TOKEN | {"token": "shown-once"},
            "POST /api/v1.2/users/7/tokens",
            {"name": "laptop", "expires_at": "2027-01-01T00:00:00Z"},
        ),
        "delete_token": (
            lambda: tokens.delete(7, 3),
            {"status": "deleted", "id": 3},
            "DELETE /api/v1.2/users/7/tokens?token_id=3",
            None,
        ),
    }


def test_a_call_sends_and_reads_what_the_contract_says(connect: Any, extended: ServiceDouble) -> None:
    rows = calls(connect(extended))
    extended.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    records = {name: make().model_dump() for name, (make, *_) in rows.items()}

    assert sent(extended) == [(line, body) for _, _, line, body in rows.values()]
    answers = {name: answer for name, (_, answer, _, _) in rows.items()}
    assert records == answers | {"invite": USER, "invite into no group": USER}


def test_a_new_token_is_read_but_not_in_its_repr(connect: Any, extended: ServiceDouble) -> None:
    extended.next_answers.append(httpx.Response(200, json=TOKEN | {"token": "shown-once"}))
    token = connect(extended).users.tokens.create(7, "laptop")
    assert token.token == "shown-once"
    assert "shown-once" not in repr(token)


def test_users_and_tokens_are_walked_through(connect: Any, extended: ServiceDouble) -> None:
    client = connect(extended)
    for plural, item in (("users", USER), ("tokens", TOKEN)):
        for page, following in ((1, 2), (2, None)):
            info = {"page": page, "per_page": 100, "next_page": following, "previous_page": None}
            content = {plural: [item | {"id": 10 - page}], "paging_info": info}
            extended.next_answers.append(httpx.Response(200, json=content))
    assert [user.id for user in client.users.iter()] == [9, 8]
    assert [token.id for token in client.users.tokens.iter(7)] == [9, 8]
