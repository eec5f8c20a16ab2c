"""Each call is compared with the contract's own words."""

from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import Conflict

SECRET = "T0-secret-B0"
URL = f"https://hooks.example.org/{SECRET}"
CHANNEL = {"id": 3, "name": "on call", "type": "webhook", "target": "https://hooks.example.org/…"}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}


def calls(client: Any) -> dict[str, tuple[Any, dict[str, Any], str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    channels = client.notification_channels
    base = "/api/v1.2/notification_channels"
    body = {"name": "on call", "type": "webhook", "target": URL}
    return {
        "list": (
            channels.list,
            {"notification_channels": [CHANNEL], "paging_info": PAGE},
            f"GET {base}?page=1&per_page=10",
            None,
        ),
        "get": (lambda: channels.get(3), CHANNEL, f"GET {base}/3", None),
        "create": (lambda: channels.create("on call", "webhook", URL), CHANNEL, f"POST {base}", body),
        "rename": (lambda: channels.update(3, name="night"), CHANNEL, f"PUT {base}/3", {"name": "night"}),
        "retarget": (
            lambda: channels.update(3, type="email", target="ada@example.org"),
            CHANNEL,
            f"PUT {base}/3",
            {"type": "email", "target": "ada@example.org"},
        ),
        "delete": (lambda: channels.delete(3), {"status": "deleted", "id": 3}, f"DELETE {base}/3", None),
    }


def test_a_call_says_what_the_contract_has(client: Any, service: ServiceDouble) -> None:
    rows = calls(client)
    service.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    channels = {name: make() for name, (make, *_) in rows.items()}

    assert sent(service) == [(line, body) for _, _, line, body in rows.values()]
    records = {name: channel.model_dump(exclude_unset=True) for name, channel in channels.items()}
    assert records == {name: answer for name, (_, answer, _, _) in rows.items()}
    assert ["Idempotency-Key" in request.headers for request in service.requests] == [name == "create" for name in rows]
    shown = "".join(f"{request.url} {request.headers!r} {request!r}" for request in service.requests)
    assert SECRET not in f"{shown} {channels!r}"


def test_all_channels_are_walked_through_page_by_page(client: Any, service: ServiceDouble) -> None:
    for page, ids in ((1, [3, 2]), (2, [1])):
        following = 2 if page == 1 else None
        info = {"page": page, "per_page": 100, "next_page": following, "previous_page": None}
        shown = [CHANNEL | {"id": number} for number in ids]
        service.next_answers.append(httpx.Response(200, json={"notification_channels": shown, "paging_info": info}))

    assert [channel.id for channel in client.notification_channels.iter()] == [3, 2, 1]
    assert [call.partition("?")[2] for call in service.calls] == ["page=1&per_page=100", "page=2&per_page=100"]


def test_a_channel_in_use_is_not_deleted_and_the_error_names_the_schedules(client: Any, service: ServiceDouble) -> None:
    message = "notification channel 3 is used by 1 schedule(s): 7 (Daily sales)"
    service.next_answers.append(error(409, message))

    with pytest.raises(Conflict, match="7 \\(Daily sales\\)"):
        client.notification_channels.delete(3)
