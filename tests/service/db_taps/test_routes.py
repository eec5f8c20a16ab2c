"""The room over HTTP, without the other rooms. The caller is a given one: access has tests of its own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.db_taps.routes import router
from svc_jupyter.service.db_taps.table_lists import TableLists
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts

PASSWORD = "geheim-42"
TAP = {"name": "warehouse", "db_type": "postgresql", "db_host": "127.0.0.1", "port": "1", "db_passwd": PASSWORD}


@pytest.fixture
async def http(db_taps, workers, member) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.state.parts = Parts([db_taps, TableLists(db_taps, workers)])
    app.dependency_overrides[authenticated_caller] = lambda: member
    install_error_handlers(app)
    app.include_router(router)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service/api/v1.2") as client:
        yield client


def refusal(answer: httpx.Response, status: int) -> str:
    """Check the error envelope and return its message."""
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (status, status), answer.text
    assert PASSWORD not in answer.text
    return error["error_message"]


async def test_a_tap_is_made_changed_and_deleted(http):
    made = (await http.post("/db_taps", json=TAP | {"unknown": 1, "db_name": None})).json()
    assert (made["name"], made["port"], made["db_name"]) == ("warehouse", 1, None)
    assert not {"db_passwd", "url", "sealed_password"} & set(made)
    path = f"/db_taps/{made['id']}"
    assert (await http.get(path)).json() == made
    other = {"db_user": "other", "db_passwd": PASSWORD}
    assert (await http.put(path, json=other)).json() == made | {"db_user": "other"}
    assert refusal(await http.put(path, json={"port": 2}), 422).startswith("db_passwd: port changed: give the password")
    listed = (await http.get("/db_taps")).json()
    assert [tap["id"] for tap in listed["db_taps"]] == [made["id"]]
    assert listed["paging_info"] == {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
    assert (await http.delete(path)).json() == {"status": "deleted", "id": made["id"]}
    assert refusal(await http.get(path), 404) == f"there is no DB tap {made['id']} in this account"


async def test_a_field_that_is_wrong_is_named(http):
    async def message(body: dict[str, object]) -> str:
        content = json.dumps(TAP | body)
        return refusal(await http.post("/db_taps", content=content, headers={"Content-Type": "application/json"}), 422)

    wrong = [
        ({"name": "<b>"}, "name"),
        ({"name": ""}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"db_type": 7}, "db_type"),
        ({"db_type": "oracle"}, "db_type"),
        ({"port": 70_000}, "port"),
        ({"port": "x"}, "port"),
        ({"db_host": ""}, "db_host"),
        ({"db_host": "h" * 256}, "db_host"),
        ({"db_name": "a\0b"}, "db_name"),
        ({"db_user": "\ud800"}, "db_user"),
        ({"db_passwd": PASSWORD + "\0"}, "db_passwd"),
        ({"db_passwd": PASSWORD * 1000}, "db_passwd"),
        ({"db_passwd": 7}, "db_passwd"),
        ({"db_type": "url", "url": f"://{PASSWORD}"}, "url"),
        ({"active": "yes"}, "active"),
    ]
    assert [(body, (await message(body)).split(": ")[0]) for body, _ in wrong] == wrong


async def test_an_invalid_id_is_refused(http):
    for tap_id in ("0", "-1", "x", "1.5", str(2**63), "9" * 400):
        refusal(await http.get(f"/db_taps/{tap_id}"), 422)


async def test_an_invalid_id_is_refused_in_each_call(http):
    path = f"/db_taps/{2**63}"
    refusal(await http.put(path, json={}), 422)
    refusal(await http.delete(path), 422)
    refusal(await http.get(f"{path}/tables"), 422)


async def test_the_largest_id_is_merely_unknown(http):
    refusal(await http.get(f"/db_taps/{2**63 - 1}"), 404)


async def test_the_tables_of_a_tap_are_listed(http, stored_file):
    made = (await http.post("/db_taps", json={"name": "flights", "db_type": "sqlite", "db_name": stored_file})).json()
    answer = await http.get(f"/db_taps/{made['id']}/tables")
    assert answer.json() == {
        "tables": [
            {"name": "flights", "schema_name": None, "type": "table"},
            {"name": "late", "schema_name": None, "type": "view"},
        ]
    }


async def test_a_tap_that_is_down_is_reported_with_host_and_port(http):
    made = (await http.post("/db_taps", json=TAP)).json()
    message = refusal(await http.get(f"/db_taps/{made['id']}/tables"), 422)
    assert message == "cannot connect to 127.0.0.1:1: Connection refused\n  tap warehouse (postgresql)"
