"""A service in one process with callers of all kinds, for the tests of who may make which call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import sqlalchemy as sa
from tests.service.access.route_table import Row

from svc_jupyter.api.access import Invitation, TokenCreate
from svc_jupyter.api.account import FeaturesUpdate
from svc_jupyter.api.groups import GroupCreate, RoleCreate, RoleUpdate
from svc_jupyter.api.object_policies import PolicyUpdate
from svc_jupyter.api.schedules import ScheduleSubmission
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.ground.errors import NotFound
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.schedules.schedules import Schedules
from svc_jupyter.service.schema.schedules import actions
from svc_jupyter.service.storage.storage import Storage

NEVER = "0 0 1 1 *"


@dataclass
class World:
    """A service in this process with a caller of each kind; nobody works through its queue."""

    service: Service
    http: httpx.AsyncClient
    tokens: dict[str, str]
    callers: dict[str, Caller]
    group_id: int
    schedule_id: int
    action_id: int
    note_id: int = 0
    dashboard_id: int = 0

    async def allowed(self, who: str, row: Row) -> bool | None:
        """Make a call; return whether its caller was let in: None for somebody who is not known at all."""
        path = row.path.partition("?")[0]
        for name, value in {
            "user_id": self.callers["plain"].user_id,
            "group": "no group",
            "role": "no role",
            "users": "nobody@example.org",
            "schedule_id": self.schedule_id,
            "action_id": self.action_id,
            "sequence_id": 1,
            "instance": 1,
            "path": "Common/there.txt",
            "number": 1,
            "cluster": 1,
            "schema": "default",
            "table": "nothing",
            **({} if row.method == "DELETE" else {"note_id": self.note_id, "dashboard_id": self.dashboard_id}),
        }.items():
            path = path.replace(f"{{{name}}}", str(value))
        path = path.partition("{")[0] + ("999999" if "{" in path else "") + path.partition("}")[2]
        chosen = {"source_type": "scheduler", "source_id": self.schedule_id} if "object_policy" in path else {}
        if path.startswith("/folders") and row.method == "GET":
            chosen = {"type": "notes", "location": "Common"}
        if path == "/notebook_dashboard":
            chosen = {"note_id": self.note_id}
        if path == "/v2/analyze":
            chosen = {"command_id": 999_999}
        given = {"params": chosen} if row.method == "GET" else {"json": {**row.body, **chosen}}
        headers = {"X-AUTH-TOKEN": self.tokens[who]} if who in self.tokens else {}
        answer = await self.http.request(row.method, f"{root_of(path)}{path}", headers=headers, **given)
        assert answer.status_code < 500, answer.text
        if answer.status_code == 401:
            return None
        if answer.status_code == 403:
            assert "permission to " in answer.text or "this needs membership of" in answer.text
        return answer.status_code != 403

    def set_policy(self, *entries: dict[str, Any], of: str = "scheduler") -> None:
        source_id = self.schedule_id if of == "scheduler" else 1
        update = PolicyUpdate(source_id=source_id, source_type=of, policy=list(entries))
        self.service.parts[Access].object_policies.set(update, by=self.callers["system-admin"])

    def set_role(self, *entries: tuple[str, str, str]) -> None:
        """Say what the role of the caller `role` is: access, action, resource."""
        policies = [{"access": access, "action": [action], "resource": what} for access, action, what in entries]
        update = RoleUpdate.model_validate({"policies": policies})
        self.service.parts[Access].roles.update("changing", update, by=self.callers["system-admin"])


def root_of(path: str) -> str:
    """Return what stands before a path of the table: pages have addresses of their own."""
    return "" if path.startswith("/v2/") else "/api/v1.2"


@asynccontextmanager
async def opened_world(settings: Settings) -> AsyncIterator[World]:
    """Lend a world; nobody works through its queue."""
    service = Service.of(settings)
    app = create_app(service)
    service.prepare()
    service.parts[Hive].connections.call = _no_metastore
    access = service.parts[Access]
    tokens = {"system-admin": access.tokens.ensure_service_token(None), "wrong token": "no such token"}
    admin = await access.tokens.caller(tokens["system-admin"])
    callers = {"system-admin": admin}
    for who in ("disabled", "plain", "system-user", "owner", "role", "grouped"):
        user = access.users.invite(Invitation(invitee_email=f"{who}@example.org"), by=admin)
        tokens[who] = access.tokens.create(user.id, TokenCreate(name=who), by=admin).token
        callers[who] = await access.tokens.caller(tokens[who])
    access.accounts.set_features(FeaturesUpdate(jupyter_notebooks=True, package_management=True), by=admin)
    access.roles.create(RoleCreate(name="changing"), by=admin)
    access.groups.create(GroupCreate(name="role holders", members="role@example.org", roles="changing"), by=admin)
    group = access.groups.create(GroupCreate(name="grouped", members="grouped@example.org"), by=admin)
    schedule = await service.parts[Schedules].create(
        ScheduleSubmission(command_type="ShellCommand", command={"inline": "true"}, cron_expression=NEVER),
        by=callers["owner"],
    )
    outsiders = ",".join(f"{who}@example.org" for who in ("plain", "owner", "role"))
    access.groups.remove_users("system-user", outsiders, by=admin)
    access.users.disable(callers["disabled"].user_id, by=admin)
    transport = httpx.ASGITransport(RequestShell(app, settings, access.tokens.caller))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        world = World(service, http, tokens, callers, group.id, schedule["id"], _action(service, schedule["id"]))
        await _furnish(world)
        await service.parts[Clusters].change_state("default", "start", by=admin)  # so that it is not deleted
        yield world
    service.database.close()
    service.parts[Storage].close()


async def _no_metastore(_question: object) -> None:
    """Stand for a metastore without tables: who is let in is known before it is asked."""
    raise NotFound("there is no such table")


async def _furnish(world: World) -> None:
    """Make a folder, a note and a dashboard."""

    async def post(path: str, **body: Any) -> int:
        headers = {"X-AUTH-TOKEN": world.tokens["system-admin"]}
        answer = await world.http.post(f"/api/v1.2{path}", headers=headers, json={"location": "Common", **body})
        assert answer.status_code == 200, answer.text
        return int(answer.json()["id"])

    await post("/folders", name="there", type="notes")
    world.note_id = await post("/notebooks", name="there")
    world.dashboard_id = await post("/notebook_dashboard", name="there", note_id=world.note_id)


def _action(service: Service, schedule_id: int) -> int:
    values = {
        "account_id": 1,
        "schedule_id": schedule_id,
        "sequence_id": 1,
        "nominal_time": 0.0,
        "status": "cancelled",
        "done": True,
        "created_at": 0.0,
    }
    with service.database.begin() as connection:
        return int(connection.execute(sa.insert(actions).values(**values).returning(actions.c.id)).scalar_one())
