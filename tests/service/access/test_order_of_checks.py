"""Token, then right, then existence, then validity: of all routes, whatever their ids, queries and bodies are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi.routing import APIRoute
from tests.service.access.route_table import ROWS, Row
from tests.service.access.route_world import World, root_of

from svc_jupyter.service.access.route_rights import Needs
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
TEMPLATES: dict[tuple[str, str], list[Row]] = {}
for row in ROWS:
    TEMPLATES.setdefault(row.template, []).append(row)
MORE = {
    ("POST", "/scheduler"): [("create", "jupyter_notebook_command")],
    **{
        template: [("create", "command")]
        for template in TEMPLATES
        if template[1].startswith(("/commands/{command_id}", "/v2/analyze"))
    },
}
"""What else opens a route, to some objects or bodies."""
BODIES = (
    b"{}",
    b"[]",
    b'{"name": 5, "status": {}, "type": [], "label": 7, "packages": 1, "command": 1}',
    b"{",
    b"\xff",
)
CALLS = [("999999", b"{}"), ("nothing", b"{}"), *(("1", body) for body in BODIES)]
"""What is there and what is not with a body that may be valid, and what is there with bodies that are not."""
CREATING = ("PUT", "/jupyter_notebooks/contents/{path}")
"""What it writes need not be there."""
QUERY = "page=0&per_page=x&type=nonsense&wait=never&format=none&content=perhaps&since=then"


async def test_without_a_token_nothing_else_is_said(world: World):
    wrong = []
    for method, path in TEMPLATES:
        for token in ({}, {"X-AUTH-TOKEN": "no such token"}):
            for identifier, body in CALLS:
                found = await answer(world, method, path, identifier, body, token)
                wrong += [(method, path, body, found)] * (found[0] != 401)
    assert not wrong, wrong


async def test_without_the_right_nothing_is_said_of_what_is_there_or_valid(world: World):
    headers = {"X-AUTH-TOKEN": world.tokens["role"]}
    wrong = []
    for (method, path), rows in TEMPLATES.items():
        denied = sorted({one for row in rows for one in row.permissions} | set(MORE.get((method, path), ())))
        if not denied or rows[0].object == "owner":
            continue
        world.set_role(("allow", "all", "all"), *(("deny", *one) for one in denied))
        answers = {await answer(world, method, path, *call, headers) for call in CALLS}
        wrong += [(method, path, found) for found in answers if found[0] != 403]
        wrong += [(method, path, answers)] * (len(answers) > 1)
    assert not wrong, wrong


async def test_a_missing_object_is_reported_before_an_invalid_request(world: World):
    headers = {"X-AUTH-TOKEN": world.tokens["system-admin"]}
    wrong, asked = [], 0
    for method, path in TEMPLATES:
        if not re.search(r"/\{[a-z_]+\}", path) or (method, path) == CREATING:
            continue
        for body in BODIES:
            found = await answer(world, method, path, "999999", body, headers)
            asked += 1
            wrong += [(method, path, body, found)] * (found[0] != 404)
    assert asked > 200
    assert not wrong, "\n".join(map(str, wrong))


async def test_what_is_there_is_found_whatever_its_name_when_a_request_is_invalid(world: World):
    headers = {"X-AUTH-TOKEN": world.tokens["system-admin"]}
    address = "/api/v1.2/jupyter_notebooks/contents/Common/50%25%20a%23b%3F.txt"
    file = {"type": "file", "format": "text", "content": "a"}
    made = await world.http.put(address, headers=headers, json=file)
    assert made.status_code == 200, made.text
    found = await world.http.get(address, headers=headers, params={"type": "nonsense"})
    assert (found.status_code, list(found.json()["error"]["fields"])) == (422, ["type"])
    found = await world.http.get(f"{address}/b", headers=headers, params={"type": "nonsense"})
    assert found.status_code == 404


def test_every_route_declares_what_it_needs(settings: Settings):
    # The page of a command, the only one that is not documented, checks by itself: it answers with a page.
    routes = [route for route in create_app(Service.of(settings)).routes if isinstance(route, APIRoute)]
    documented = [route for route in routes if route.include_in_schema]
    assert len(documented) == len(routes) - 1
    for route in documented:
        declared = [one.dependency for one in route.dependencies]
        names = {getattr(one, "__name__", "") for one in declared}
        oneself = {"authenticated_caller", "any_caller"}
        assert any(isinstance(one, Needs) for one in declared) or names & oneself, (route.methods, route.path)


async def answer(
    world: World, method: str, path: str, identifier: str, body: bytes, headers: dict[str, str]
) -> tuple[int, str]:
    """Make a call; return its status and its message, without the id that was asked for."""
    parts = [identifier if "{" in part else part for part in path.split("/")]
    content: Any = None if method == "GET" else body
    query = f"?{QUERY}&command_id={identifier}" if method in ("GET", "DELETE") else ""
    address = f"{root_of(path)}{'/'.join(parts)}{query}"
    found = await world.http.request(method, address, headers=headers, content=content)
    if found.headers["Content-Type"].startswith("text/html"):
        message = found.text.partition("<h1>")[2]
    else:
        message = json.loads(found.content).get("error", {}).get("error_message", "")
    return found.status_code, re.sub(rf"\b{identifier}\b", "ID", message)
