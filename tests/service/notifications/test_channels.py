"""The rules of channels, and the room over HTTP without the other rooms."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from structlog.testing import capture_logs

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import authenticated_caller
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.rate_limit import RateLimit
from svc_jupyter.service.http.responses import install_error_handlers
from svc_jupyter.service.http.rooms import Parts
from svc_jupyter.service.notifications.channels import Channels, check_channels
from svc_jupyter.service.notifications.routes import router
from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.schema.notifications import channels as table

SECRET = "T0-secret-B0"
URL = f"https://hooks.example.org/{SECRET}"
MAIL = {"name": "team", "type": "email", "target": "ada@example.org, grace@example.org"}
HOOK = {"name": "on call", "type": "webhook", "target": URL}
Http = httpx.AsyncClient


@pytest.fixture
async def http(settings: Settings, database: Database, account_id: int, secrets: SecretBox) -> AsyncIterator[Http]:
    settings = settings.model_copy(update={"smtp_host": "mail.example.org"})
    caller = Caller(1, account_id, "ada@example.org", frozenset({BuiltinGroup.USER}), 1)
    app = FastAPI()
    channels = Channels(settings, database, secrets, lambda: 1_900_000_000.0)
    app.state.parts = Parts([channels, RateLimit(None)])
    app.dependency_overrides[authenticated_caller] = lambda: caller
    install_error_handlers(app)
    app.include_router(router)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service/api/v1.2") as client:
        yield client


def refusal(answer: httpx.Response, status: int) -> str:
    """Check the error envelope and return its message."""
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (status, status), answer.text
    assert SECRET not in answer.text
    return str(error["error_message"])


async def test_a_channel_is_made_changed_and_deleted(http: Http) -> None:
    made = (await http.post("/notification_channels", json=MAIL | {"unknown": 1})).json()
    assert {key: made[key] for key in MAIL} == MAIL
    path = f"/notification_channels/{made['id']}"
    assert (await http.get(path)).json() == made
    changed = (await http.put(path, json={"target": "ada@example.org", "name": None})).json()
    assert changed == made | {"target": "ada@example.org"}
    listed = (await http.get("/notification_channels")).json()
    assert listed["notification_channels"] == [changed]
    assert listed["paging_info"] == {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
    assert (await http.delete(path)).json() == {"status": "deleted", "id": made["id"]}
    for method in ("GET", "PUT", "DELETE"):
        answer = await http.request(method, path, **({"json": {"name": "x"}} if method == "PUT" else {}))
        assert refusal(answer, 404) == f"there is no notification channel {made['id']} in this account"


async def test_a_webhooks_url_is_sealed_and_shown_nowhere(
    http: Http, database: Database, secrets: SecretBox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as logs:
        made = await http.post("/notification_channels", json=HOOK)
        path = f"/notification_channels/{made.json()['id']}"
        answers = [made, await http.get(path), await http.get("/notification_channels")]
        answers.append(await http.put(path, json={"name": "night"}))

    assert [answer.status_code for answer in answers] == [200] * 4
    assert made.json()["target"] == "https://hooks.example.org/…"
    with database.connect() as connection:
        row = connection.execute(sa.select(table)).one()
    assert SECRET not in str(row) + caplog.text + str(logs) + "".join(answer.text for answer in answers)
    assert secrets.open(row.sealed_url) == URL


async def test_a_channel_that_is_sent_back_as_it_is_shown_keeps_its_url(
    http: Http, database: Database, secrets: SecretBox
) -> None:
    made = (await http.post("/notification_channels", json=HOOK)).json()

    changed = (await http.put(f"/notification_channels/{made['id']}", json=made | {"name": "night"})).json()

    assert changed == made | {"name": "night"}
    with database.connect() as connection:
        assert secrets.open(connection.execute(sa.select(table.c.sealed_url)).scalar_one()) == URL


async def test_a_channel_becomes_one_of_the_other_type_with_a_target_of_that_type(
    http: Http, database: Database
) -> None:
    made = (await http.post("/notification_channels", json=HOOK)).json()
    path = f"/notification_channels/{made['id']}"

    assert refusal(await http.put(path, json={"type": "email"}), 422).startswith("target: ")
    assert refusal(await http.put(path, json={"type": "email", "target": URL}), 422).startswith("target: ")
    changed = (await http.put(path, json={"type": "email", "target": "ada@example.org"})).json()

    assert changed == made | {"type": "email", "target": "ada@example.org"}
    with database.connect() as connection:
        assert connection.execute(sa.select(table.c.sealed_url)).scalar_one() is None


async def test_a_field_that_is_wrong_is_named(http: Http) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"name": "<b>"}, "name"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "n" * 256}, "name"),
        ({"type": "pager"}, "type"),
        ({"type": 7}, "type"),
        ({"target": "ada@example.org"}, "target"),
        ({"target": f"ftp://{SECRET}"}, "target"),
        ({"target": {"url": SECRET}}, "target"),
        ({"target": None}, "target"),
        ({"type": "email"}, "target"),
    ]
    for body, field in wrong:
        message = refusal(await http.post("/notification_channels", json=HOOK | body), 422)
        assert message.startswith(f"{field}: "), body


async def test_a_name_belongs_to_one_channel(http: Http) -> None:
    first = (await http.post("/notification_channels", json=HOOK)).json()
    second = (await http.post("/notification_channels", json=MAIL)).json()

    expected = f"name: notification channel {first['id']} is called on call already"
    assert refusal(await http.post("/notification_channels", json=HOOK), 422) == expected
    renamed = await http.put(f"/notification_channels/{second['id']}", json={"name": "on call"})
    assert refusal(renamed, 422) == expected


async def test_an_id_is_never_given_twice(http: Http) -> None:
    first = (await http.post("/notification_channels", json=HOOK)).json()
    await http.delete(f"/notification_channels/{first['id']}")

    assert (await http.post("/notification_channels", json=HOOK)).json()["id"] > first["id"]


async def test_an_email_channel_without_a_mail_server_says_so(
    settings: Settings, database: Database, account_id: int, secrets: SecretBox, add_channel: Callable[..., int]
) -> None:
    caller = Caller(1, account_id, "ada@example.org", frozenset({BuiltinGroup.USER}), 1)
    channels = Channels(settings, database, secrets)

    assert "SVC_SMTP_HOST" in str(channels.get(add_channel("ada@example.org"), by=caller).warning)
    assert channels.get(add_channel(URL), by=caller).warning is None


async def test_a_channel_that_schedules_use_is_not_deleted(
    http: Http, add_channel: Callable[..., int], add_schedule: Callable[..., dict[str, Any]]
) -> None:
    used, unused = add_channel(URL), add_channel("ada@example.org")
    add_schedule(id=7, notification_channels=[unused + 10, used])
    add_schedule(id=8, name=None, status="SUSPENDED", notification_channels=[used])
    add_schedule(id=9, status="KILLED", notification_channels=[unused])
    add_schedule(id=10, notification_channels=[int(f"{unused}3")])

    answer = await http.delete(f"/notification_channels/{used}")

    assert refusal(answer, 409) == (
        f"notification channel {used} is used by 2 schedule(s): 7 (Daily sales), 8; "
        "take it out of their notification_channels first"
    )
    assert (await http.delete(f"/notification_channels/{unused}")).status_code == 200
    assert (await http.get(f"/notification_channels/{used}")).status_code == 200


def test_unknown_channels_are_named(database: Database, account_id: int, add_channel: Callable[..., int]) -> None:
    with database.begin() as connection:
        connection.execute(sa.insert(accounts).values(id=2, name="other", features={}))
    known, foreign = add_channel(URL), add_channel("ada@example.org", account_id=2)

    with database.begin() as connection:
        check_channels(connection, account_id, [])
        check_channels(connection, account_id, [known, known])
        with pytest.raises(Invalid, match=rf"^notification_channels: .* no notification channel {foreign}, 99 in"):
            check_channels(connection, account_id, [99, known, foreign])


def test_a_channel_cannot_go_while_a_schedule_begins_to_use_it(
    settings: Settings,
    database: Database,
    account_id: int,
    secrets: SecretBox,
    add_channel: Callable[..., int],
    add_schedule: Callable[..., dict[str, Any]],
) -> None:
    caller = Caller(1, account_id, "ada@example.org", frozenset({BuiltinGroup.ADMIN}), 1)
    channel = add_channel(URL)
    schedule = add_schedule()
    channels = Channels(settings, database, secrets)

    def delete() -> str:
        try:
            channels.delete(channel, by=caller)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return "deleted"

    with ThreadPoolExecutor(1) as pool:
        with database.begin() as connection:
            check_channels(connection, account_id, [channel])
            deletion = pool.submit(delete)
            schedules = sa.table("schedules", sa.column("id"), sa.column("notification_channels", sa.JSON))
            connection.execute(
                sa.update(schedules).where(schedules.c.id == schedule.id).values(notification_channels=[channel])
            )
        assert deletion.result(30) == "StateConflict"
