import json
from typing import Any

import pytest
from tests.support.double.service import ServiceDouble

from svc_jupyter.client import NotFound, NotUnique

PASSWORD = "hunter2-hunter2"


def test_a_tap_is_made_changed_and_deleted(client: Any, service: ServiceDouble) -> None:
    tap = client.db_taps.create("flights", "postgresql", db_host="db.test", db_user="reader", db_passwd=PASSWORD)
    assert (tap.id, tap.name, tap.db_type, tap.db_host) == (1, "flights", "postgresql", "db.test")
    assert json.loads(service.requests[0].content)["db_passwd"] == PASSWORD
    assert service.requests[0].headers["Idempotency-Key"]

    assert client.db_taps.update(1, db_host="other.test").db_host == "other.test"
    assert client.db_taps.get(1).db_host == "other.test"
    assert [table.name for table in client.db_taps.tables(1)] == ["flights"]
    assert client.db_taps.delete(1).id == 1
    with pytest.raises(NotFound):
        client.db_taps.get(1)


def test_a_password_is_only_in_the_body(client: Any, service: ServiceDouble) -> None:
    tap = client.db_taps.create("flights", "postgresql", db_passwd=PASSWORD)
    request = service.requests[0]
    assert PASSWORD not in f"{request.url} {request.headers!r} {request!r} {tap!r}"


def test_taps_are_listed_by_page_and_walked_through(client: Any, service: ServiceDouble) -> None:
    for number in range(120):
        service.add_tap(f"tap {number}")
    page = client.db_taps.list(per_page=10)
    assert [tap.name for tap in page.db_taps][:2] == ["tap 119", "tap 118"]
    assert page.paging_info.next_page == 2
    assert len(list(client.db_taps.iter())) == 120


def test_a_tap_is_found_by_name_or_id(client: Any, service: ServiceDouble) -> None:
    for name in ("flights", "2", "weather"):
        service.add_tap(name)
    assert client.db_taps.find("weather").id == 3
    assert client.db_taps.find(3).name == "weather"
    assert client.db_taps.find("3").name == "weather"
    assert client.db_taps.find("2").id == 2  # a name comes before an id


def test_a_tap_that_is_not_there_is_reported_with_the_nearest(client: Any, service: ServiceDouble) -> None:
    with pytest.raises(NotFound, match="there are no DB taps yet"):
        client.db_taps.find("flights")
    service.add_tap("flights")
    service.add_tap("weather")
    with pytest.raises(NotFound, match="'flight'; did you mean flights") as raised:
        client.db_taps.find("flight")
    assert raised.value.status == 404


def test_a_name_that_several_taps_have_is_not_guessed(client: Any, service: ServiceDouble) -> None:
    service.add_tap("flights")
    service.add_tap("flights")
    with pytest.raises(NotUnique, match="give the id: 2, 1"):
        client.db_taps.find("flights")
