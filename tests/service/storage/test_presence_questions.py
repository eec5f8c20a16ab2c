"""What is asked of a store to learn what is there: a web server in its place shows the requests."""

from __future__ import annotations

import json

import pytest

from svc_jupyter.service.storage import presence
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import parse_location
from svc_jupyter.service.storage.object_stores import object_store
from svc_jupyter.service.storage.presence import Search


def listing(*keys: str, size: int = 1) -> bytes:
    contents = "".join(
        f"<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>2026-11-21T10:00:00.000Z</LastModified></Contents>"
        for key in keys
    )
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>".encode()


def search(account: AccountStorage, *texts: str, or_folders: bool = True) -> set[str]:
    located = {text: parse_location(text) for text in texts}
    work = Search(located.values(), account, [], or_folders=or_folders)
    work.work()
    return {text for text, location in located.items() if location in work.found}


@pytest.fixture
def s3_account(web):
    return AccountStorage(parse_location("s3://lake"), "access-key", "secret-key", None, web.url)


def test_thirty_days_take_one_question(web, s3_account):
    web.answer("/lake", listing("d/2026-11-02.csv", "d/2026-11-07.csv"))
    days = [f"s3://lake/d/2026-11-{day:02}.csv" for day in range(1, 31)]
    assert search(s3_account, *days, or_folders=False) == {days[1], days[6]}
    [(path, _)] = web.requests
    assert "prefix=d%2F" in path
    assert "start-after=d%2F2026-11-01.csu" in path


def test_two_keys_take_a_question_each(web, s3_account):
    assert search(s3_account, "s3://lake/d/a", "s3://lake/d/b", or_folders=False) == set()
    assert {path for path, _ in web.requests} == {"/lake/d/a", "/lake/d/b"}


def test_the_marker_of_an_empty_folder_is_neither_a_file_nor_something_in_it(web, s3_account):
    """A listing shows the key `d/b/` without its slash; asked for itself, `d/b` is not there."""
    web.answer("/lake", listing("d/b/", size=0))
    asked = [f"s3://lake/d/{name}" for name in "abc"]
    assert search(s3_account, *asked) == set()
    assert search(s3_account, *asked, or_folders=False) == set()


def test_locations_outside_the_account_url_are_checked_with_a_client_of_their_own(web, monkeypatch):
    """Each kind of location has a client of its own; test_object_stores.py has what the two send."""
    account = AccountStorage(parse_location("s3://lake/team"), "access-key", "secret-key", None, web.url)
    made = []

    def recorded(location, account, retries):
        made.append(str(location))
        return object_store(parse_location("s3://lake/team/any"), account, retries)

    monkeypatch.setattr(presence, "object_store", recorded)
    asked = ("s3://lake/team/a", "s3://lake/team/b", "s3://lake/other/a", "s3://lake/other/b")
    assert search(account, *asked, or_folders=False) == set()
    assert made == ["s3://lake/team/a", "s3://lake/other/a"]


def test_a_folder_whose_content_a_listing_did_not_reach_is_asked_for(web, s3_account, monkeypatch):
    """`d/a-1` comes before `d/a/part-0`, and so can a thousand others."""
    monkeypatch.setattr(presence, "LISTED_AT_ONCE", 1)
    web.answer("/lake", listing("d/a-1", "d/a-2", "d/a-3", "d/a/part-0"))
    web.answer("/lake", listing("d/a/part-0"))
    assert search(s3_account, *(f"s3://lake/d/{name}" for name in ("a", "a-0", "a-1"))) == {
        "s3://lake/d/a",
        "s3://lake/d/a-1",
    }


def test_the_other_stores_are_asked_key_by_key_or_by_listing(web):
    dates = {"Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT", "ETag": '"1"'}
    azure = AccountStorage(parse_location("abfss://lake@acme.dfs.core.windows.net"), "acme", "c2VjcmV0", None, web.url)
    web.answer("/lake/d/b", b"x", headers=dates)
    asked = [f"az://lake/d/{name}" for name in "abcd"]
    located = [parse_location(text, base=azure.base) for text in asked]
    work = Search(located, azure, [], or_folders=False)
    work.work()
    assert work.found == {located[1]}
    assert len(web.requests) == 4
    web.requests.clear()
    key = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})
    google = AccountStorage(parse_location("gs://lake"), None, key, None, web.url)
    web.answer("/lake/d%2Fb", b"x", headers=dates)
    assert search(google, "gs://lake/d/a", "gs://lake/d/b", or_folders=False) == {"gs://lake/d/b"}
