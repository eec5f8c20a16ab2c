"""The audit log, on a whole service in this process: what stands in it, who reads it, and what nobody can do to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from svc_jupyter.api.access import Resource
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.audit.audit import Audit
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.middleware import RequestShell
from svc_jupyter.service.schema.audit import audit_entries
from svc_jupyter.service.storage.storage import Storage

SECRETS = ("tap-password", "storage-secret", "hook-secret", "s3-key-of-ours")


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Service]:
    service = Service.of(settings)
    service.prepare()
    yield service
    service.database.close()
    service.parts[Storage].close()


@pytest.fixture
async def http(service: Service, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the administrator's token; nobody works through the service's queue."""
    app = create_app(service)
    transport = httpx.ASGITransport(
        RequestShell(app, settings, service.parts[Access].tokens.caller), client=("10.1.2.3", 4567)
    )
    headers = {"X-AUTH-TOKEN": service.parts[Access].tokens.ensure_service_token(None)}
    # What comes next begins with an empty log.
    with service.database.begin() as connection:
        connection.execute(sa.delete(audit_entries).where(audit_entries.c.token_id.is_(None)))
    async with httpx.AsyncClient(transport=transport, base_url="http://service/api/v1.2", headers=headers) as client:
        yield client


async def done(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


async def entries(http: httpx.AsyncClient, **wanted: Any) -> list[dict[str, Any]]:
    return list((await done(await http.get("/audit", params={"per_page": 100, **wanted})))["audit"])


async def make_changes(http: httpx.AsyncClient) -> None:
    """Make a change of every kind, with secrets wherever there can be some."""
    put, post, delete = http.put, http.post, http.delete
    await done(await put("/account/features", json={"jupyter_notebooks": True}))
    storage = {"url": "s3://lake", "access_key": "s3-key-of-ours", "secret_key": "storage-secret"}
    await done(await put("/account/storage", json=storage))
    user = (await done(await post("/users/invite_new", json={"invitee_email": "ada@example.org"})))["user"]["id"]
    token = (await done(await post(f"/users/{user}/tokens", json={"name": "laptop"})))["id"]
    await done(await delete(f"/users/{user}/tokens/{token}"))
    await done(await post("/accounts/disable_user", json={"user_id": user}))
    await done(await post("/accounts/enable_user", json={"user_id": user}))
    role = {"name": "reader", "policies": [{"access": "allow", "resource": "note", "action": ["read"]}]}
    await done(await post("/roles", json=role))
    await done(await post("/groups", json={"name": "analysts", "roles": "reader"}))
    await done(await put("/groups/analysts/service_users/ada@example.org/add"))
    await done(await put("/groups/analysts/service_users/ada@example.org/remove"))
    await done(await put("/roles/reader", json={"name": "readers"}))
    await done(await delete("/groups/analysts"))
    await done(await delete("/roles/readers"))
    tap = {"name": "dwh", "db_type": "postgresql", "db_host": "h", "db_user": "u", "db_name": "d"}
    tap_id = (await done(await post("/db_taps", json={**tap, "db_passwd": "tap-password"})))["id"]
    await done(await put(f"/db_taps/{tap_id}", json={"db_passwd": "tap-password"}))
    await done(await delete(f"/db_taps/{tap_id}"))
    hook = {"name": "chat", "type": "webhook", "target": "https://chat.example.org/hook-secret"}
    channel = (await done(await post("/notification_channels", json=hook)))["id"]
    await done(await put(f"/notification_channels/{channel}", json={"name": "talk"}))
    await done(await delete(f"/notification_channels/{channel}"))
    schedule = {"command_type": "ShellCommand", "command": {"inline": "true"}, "cron_expression": "0 0 1 1 *"}
    schedule_id = (await done(await post("/scheduler", json=schedule)))["id"]
    await done(await put(f"/scheduler/{schedule_id}", json={"concurrency": 2}))
    policy = {"source_type": "scheduler", "source_id": schedule_id, "policy": []}
    await done(await put("/object_policy/policy", json=policy))
    await done(await put(f"/scheduler/{schedule_id}", json={"status": "kill"}))
    await done(await put("/jupyter_notebooks/contents/Common/a.txt", json={"type": "file", "content": "x"}))
    await done(await http.patch("/jupyter_notebooks/contents/Common/a.txt", json={"path": "Common/b.txt"}))
    await done(await delete("/jupyter_notebooks/contents/Common/b.txt"))


EXPECTED = """
update account
update account
invite user
create_token user
delete_token user
disable user
enable user
create role
create group
assign_roles group
add_users group
remove_users group
update role
delete group
delete role
create db_tap
update db_tap
delete db_tap
create notification_channel
update notification_channel
delete notification_channel
create scheduler
update scheduler
set_policy scheduler
kill scheduler
save jupyter_notebook
move jupyter_notebook
delete jupyter_notebook
"""


async def test_every_change_is_reported_and_no_secret(http):
    await make_changes(http)
    found = await entries(http)
    told = [f"{item['action']} {item['resource']}" for item in reversed(found)]
    assert told == EXPECTED.split("\n")[1:-1]
    assert {(item["email"], item["address"], item["user_id"], item["token_id"]) for item in found} == {
        ("admin@localhost", "10.1.2.3", 1, found[0]["token_id"])
    }
    assert [secret for secret in SECRETS if secret in str(found)] == []
    details = {f"{item['action']} {item['resource']}": item["detail"] for item in found}
    assert details["update db_tap"] == {"name": "dwh", "changed": ["db_passwd"]}
    assert details["add_users group"] == {"users": ["ada@example.org"]}
    assert details["move jupyter_notebook"] == {"moved_from": "Common/a.txt"}
    assert details["update scheduler"] == {"changed": ["concurrency"]}


async def test_the_log_is_filtered_and_comes_in_pages(http):
    trace = {"X-Trace-Id": "trace-of-this-call"}
    await done(await http.post("/groups", json={"name": "one"}, headers=trace))
    group = (await done(await http.post("/groups", json={"name": "two"})))["id"]
    await done(await http.put(f"/groups/{group}", json={"name": "three"}))
    by_object = await entries(http, resource="group", object_id=group)
    assert [item["action"] for item in by_object] == ["rename", "create"]
    assert by_object[0]["detail"] == {"name": "three", "before": "two"}
    assert [item["detail"] for item in await entries(http, trace_id="trace-of-this-call")] == [{"name": "one"}]
    assert [item["action"] for item in await entries(http, action="rename", user_id=1)] == ["rename"]
    assert await entries(http, user_id=999) == await entries(http, end_date="2001-01-01") == []
    assert len(await entries(http, start_date="2001-01-01")) == 3
    page = await done(await http.get("/audit", params={"page": 2, "per_page": 2}))
    assert [item["detail"] for item in page["audit"]] == [{"name": "one"}]
    assert page["paging_info"] == {"page": 2, "per_page": 2, "next_page": None, "previous_page": 1}


async def test_a_filter_that_cannot_be_is_named(http):
    for wrong in ({"resource": "nothing"}, {"start_date": "soon"}, {"user_id": "x"}, {"page": 0}):
        answer = await http.get("/audit", params=wrong)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["error_message"].startswith(next(iter(wrong)))
    assert (await http.get("/audit", params={"action": "\x00"})).status_code == 422


async def test_a_failed_request_is_not_audited(http):
    for answer in (
        await http.put("/groups/system-user/service_users/admin@localhost,nobody@example.org/add"),
        await http.delete("/groups/system-user"),
        await http.post("/users/invite_new", json={"invitee_email": "admin@localhost"}),
        await http.delete("/db_taps/7"),
    ):
        assert answer.status_code in (404, 409, 422), answer.text
    assert await entries(http) == []


async def test_entries_are_never_changed_and_go_when_they_are_old(http, service):
    await done(await http.post("/groups", json={"name": "one"}))
    with pytest.raises(DBAPIError, match="audit entries are never changed"), service.database.begin() as connection:
        connection.execute(sa.update(audit_entries).values(email="somebody@else"))
    with service.database.begin() as connection:
        trail.forget_old(connection, days=1)
    assert len(await entries(http)) == 1
    with service.database.begin() as connection:
        old = {"account_id": 1, "created_at": 1.0, "user_id": 1, "email": "a@b", "action": "x", "resource": "user"}
        connection.execute(sa.insert(audit_entries).values(**old))
    await service.parts[Audit].forget_old()
    assert [item["action"] for item in await entries(http)] == ["create"]


async def test_a_change_that_is_undone_leaves_no_entry(service):
    admin = await service.parts[Access].tokens.caller(service.parts[Access].tokens.ensure_service_token(None))

    def fails(connection: sa.Connection) -> None:
        trail.record(connection, admin, "create", Resource.GROUP, 5)
        raise LookupError("the change itself")

    with pytest.raises(LookupError):
        await service.database.write(fails)
    with service.database.connect() as connection:
        assert connection.execute(sa.select(audit_entries.c.action)).scalars().all() == [
            "create_token"
        ]  # the service's


async def test_submissions_are_not_recorded_but_who_cancels_is(http, service):
    submitted = await done(await http.post("/commands", json={"command_type": "ShellCommand", "inline": "true"}))
    assert await entries(http) == []
    await done(await http.put(f"/commands/{submitted['id']}", json={"status": "kill"}))
    assert [(item["action"], item["object_id"]) for item in await entries(http)] == [("cancel", str(submitted["id"]))]
