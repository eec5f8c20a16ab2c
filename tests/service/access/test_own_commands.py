"""Who may create commands reads what came of their own, and learns nothing of those of others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.access.route_world import World

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
PARTS = ("", "?include_query_properties=true", "/status_with_results", "/results", "/logs", "/error_logs", "/jobs")


async def test_the_author_of_a_command_reads_what_came_of_it(world: World):
    async def call(who: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"X-AUTH-TOKEN": world.tokens[who]}
        answer = await world.http.request(method, f"/api/v1.2/commands{path}", headers=headers, json=body)
        is_json = answer.headers["content-type"].startswith("application/json")
        return answer.status_code, answer.json() if is_json else answer.text

    script = {"command_type": "ShellCommand", "inline": "true"}
    world.set_role(("allow", "create", "command"))
    (status, own), (_, others) = await call("role", "POST", "", script), await call("system-admin", "POST", "", script)
    assert status == 200, own
    for part in PARTS:
        status, told = await call("role", "GET", f"/{own['id']}{part}")
        assert status == (422 if part == "/results" else 200), (part, told)
        refused = [await call("role", "GET", f"/{number}{part}") for number in (others["id"], 999_999)]
        assert [status for status, _ in refused] == [403, 403], part
        texts = {
            told["error"]["error_message"].replace(str(number), "N")
            for (_, told), number in zip(refused, (others["id"], 999_999), strict=True)
        }
        assert len(texts) == 1, texts
        assert "permission to read command" in texts.pop()
    status, listed = await call("role", "GET", "")
    assert (status, [one["id"] for one in listed["commands"]]) == (200, [own["id"]])
    assert (await call("role", "GET", "?all_users=1"))[0] == 403
    assert (await call("role", "PUT", f"/{own['id']}", {"status": "kill"}))[0] == 403
    world.set_role(("allow", "read", "hive"))
    assert (await call("role", "GET", f"/{own['id']}"))[0] == 403
