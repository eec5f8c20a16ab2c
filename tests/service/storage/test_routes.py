"""The room over HTTP, without the other rooms."""

from __future__ import annotations

import json

import httpx
import pytest
from fastapi import FastAPI

from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts
from svc_jupyter.service.storage.routes import router

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
async def as_caller(storage):
    """Makes a client that calls as the given user."""
    app = FastAPI()
    app.state.parts = Parts([storage, RateLimit(None)])
    install_error_handlers(app)
    app.include_router(router)
    clients = []

    def as_caller(caller) -> httpx.AsyncClient:
        app.dependency_overrides[authenticated_caller] = lambda: caller
        clients.append(httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service/api/v1.2"))
        return clients[-1]

    yield as_caller
    for client in clients:
        await client.aclose()


async def test_an_administrator_stores_and_everybody_sees_without_secrets(as_caller, admin, member):
    body = {"url": "s3://lake", "access_key": "access-key", "secret_key": "secret-key", "unknown": 1, "region": None}
    answer = await as_caller(admin).put("/account/storage", json=body)
    assert answer.status_code == 200
    hidden = {"url": "s3://lake", "access_key": "<hidden>", "secret_key": "<hidden>", "region": None, "endpoint": None}
    assert answer.json() == hidden
    assert (await as_caller(member).get("/account/storage")).json() == answer.json()


async def test_a_member_may_not_store(as_caller, member):
    answer = await as_caller(member).put("/account/storage", json={"url": "s3://lake"})
    assert answer.status_code == 403
    assert "system-admin" in answer.json()["error"]["error_message"]


async def test_bad_bodies_are_reported(as_caller, admin):
    http = as_caller(admin)
    bodies = [
        {},
        {"url": 1},
        {"url": ""},
        {"url": "s3://lake", "secret_key": 1},
        {"url": "s3://lake\0"},
        {"url": "x" * 3000},
        {"url": "s3://lake", "region": "\0"},
        {"url": "s3://lake", "endpoint": "https://\ud800"},
        {"url": "s3://lake", "access_key": "\ud800", "secret_key": "\ud800"},
        {"url": "s3://lake", "access_key": "a", "secret_key": "\ud800"},
        [],
    ]

    async def codes(body: object) -> tuple[int, int]:
        headers = {"Content-Type": "application/json"}
        answer = await http.put("/account/storage", content=json.dumps(body), headers=headers)
        return answer.status_code, answer.json()["error"]["error_code"]

    found = [(body, await codes(body)) for body in bodies]
    assert found == [(body, (422, 422)) for body in bodies]
