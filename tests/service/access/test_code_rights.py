"""Fields that become code are given by who may submit commands, whatever else they may change."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from svc_jupyter.api.access import Invitation, TokenCreate
from svc_jupyter.api.groups import GroupCreate, RoleCreate, RolePolicy
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
REFUSED = "is code that the service runs"


@pytest.fixture
async def http(settings: Settings) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    """Clients of the administrator (`admin`) and of a user who may do everything but create commands (`editor`)."""
    service = Service.of(settings)
    app = create_app(service)
    service.prepare()
    access = service.parts[Access]
    admin = access.tokens.ensure_service_token(None)
    by = await access.tokens.caller(admin)
    everything = RolePolicy(access="allow", resource="all", action=["all"])
    no_code = RolePolicy(access="deny", resource="command", action=["create"])
    access.roles.create(RoleCreate(name="editing", policies=[everything, no_code]), by=by)
    access.groups.create(GroupCreate(name="editors", roles="editing"), by=by)
    user = access.users.invite(Invitation(invitee_email="editor@example.org", groups="editors"), by=by)
    editor = access.tokens.create(user.id, TokenCreate(name="t"), by=by).token
    transport = httpx.ASGITransport(RequestShell(app, settings, access.tokens.caller))
    clients = {
        name: httpx.AsyncClient(transport=transport, base_url="http://s/api/v1.2", headers={"X-AUTH-TOKEN": token})
        for name, token in (("admin", admin), ("editor", editor))
    }
    yield clients
    for client in clients.values():
        await client.aclose()
    service.database.close()
    service.parts[Storage].close()


@pytest.mark.parametrize(
    "code",
    [
        {"node_bootstrap_file": "scripts/nodes.sh"},
        {"hadoop_settings": {"custom_config": "yarn.nodemanager.health-checker.script.path=/tmp/x"}},
        {"presto_settings": {"custom_config": "jvm.max-heap=1G"}},
    ],
)
async def test_code_for_the_nodes_of_a_cluster_needs_the_right_to_create_commands(
    http: dict[str, httpx.AsyncClient], code: dict[str, object]
):
    for method, path, body in (
        ("POST", "/clusters", {"label": ["new"]}),
        ("PUT", "/clusters/default", {}),
        ("POST", "/clusters/default/clone", {"label": ["copy"]}),
    ):
        answer = await http["editor"].request(method, path, json={**body, **code})
        assert (answer.status_code, REFUSED in answer.text) == (403, True), (path, answer.text)
    assert (await http["admin"].put("/clusters/default", json=code)).status_code == 200
    record = (await http["editor"].get("/clusters/default")).json()
    sent_back = {**{key: record[key] for key in code}, "idle_cluster_timeout": 3}
    answer = await http["editor"].put("/clusters/default", json=sent_back)
    assert answer.status_code == 200, answer.text
    assert (await http["editor"].post("/clusters/default/clone", json={"label": ["copy"]})).status_code == 200


async def test_code_of_a_pipeline_needs_the_right_to_create_commands(http: dict[str, httpx.AsyncClient]):
    pipeline = {"name": "orders", "code": "print(1)", "properties": {"spark.a": True}}
    answer = await http["editor"].post("/pipelines", json=pipeline)
    assert (answer.status_code, REFUSED in answer.text) == (403, True), answer.text
    made = (await http["admin"].post("/pipelines", json=pipeline)).json()
    path = f"/pipelines/{made['data']['id']}"
    changes = ({"code": "print(2)"}, {"user_arguments": "x"}, {"properties": {"spark.b": "1"}}, {"cluster_label": "x"})
    for change in changes:
        answer = await http["editor"].put(path, json=change)
        assert (answer.status_code, REFUSED in answer.text) == (403, True), (change, answer.text)
    answer = await http["editor"].put(path, json={"name": "sales", "code": "print(1)"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["attributes"]["name"] == "sales"


async def test_to_deny_commands_denies_those_of_notebooks_too(http: dict[str, httpx.AsyncClient]):
    body = {"command_type": "JupyterNotebookCommand", "path": "Common/any.ipynb"}
    answer = await http["editor"].post("/commands", json=body)
    assert (answer.status_code, "permission to create command" in answer.text) == (403, True), answer.text
