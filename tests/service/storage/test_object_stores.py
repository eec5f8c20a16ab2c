"""What is asked of which store. S3 is tested against a real server in test_s3.py. Of the other two no server can be
had without a container, so a web server of our own stands in for them: it shows the request, not what they make of it.
"""

from __future__ import annotations

import json

import pytest

from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.downloads import read_bytes
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.locations import parse_location
from svc_jupyter.service.storage.object_stores import object_store
from svc_jupyter.service.storage.room import Room

GS_KEY = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})
_DATES = {"Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT", "ETag": '"1"'}


@pytest.fixture
def read(tmp_path):
    def read(location: str, account: AccountStorage) -> bytes:
        room = Room(tmp_path, what=location, max_bytes=1000, min_free_bytes=0)
        return read_bytes(parse_location(location), account, [], room)

    return read


def test_a_gs_object_is_asked_for_at_the_account_s_endpoint(read, web):
    web.answer("/lake/a%2Fb%2Esh", b"echo", headers=_DATES)
    account = AccountStorage(parse_location("gs://lake"), None, GS_KEY, None, web.url)
    assert read("gs://lake/a/b.sh", account) == b"echo"


@pytest.mark.parametrize("text", ["az://lake/a/b%.sh", "abfss://lake@acme.dfs.core.windows.net/a/b%.sh"])
def test_an_az_blob_is_asked_for_with_the_account_s_key(read, web, text):
    web.answer("/lake/a/b%25.sh", b"echo", headers=_DATES)
    base = parse_location("abfss://lake@acme.dfs.core.windows.net")
    account = AccountStorage(base, "acme", "c2VjcmV0", None, web.url)
    assert read(text, account) == b"echo"
    authorization = web.requests[0][1]["authorization"]
    assert authorization.startswith("SharedKey acme:")
    assert "c2VjcmV0" not in authorization


def test_credentials_and_endpoint_go_nowhere_but_under_the_account_s_url():
    aws, acme = ("access-key", "secret-key"), "abfss://lake@acme.dfs.core.windows.net"
    elsewhere = {
        ("s3://lake/team", "s3://lake/other/a"): aws,
        ("s3://lake", "s3://lake2/a"): aws,
        ("gs://lake", "gs://lake2/a"): (None, GS_KEY),
        (acme, "abfss://lake@other.dfs.core.windows.net/a"): ("acme", "c2VjcmV0"),
        ("s3://lake", "gs://lake/a"): aws,
    }

    def goes_along(base: str, outside: str, *keys: str | None) -> list[str]:
        account = AccountStorage(parse_location(base), *keys, None, "http://127.0.0.1:1")
        store = object_store(parse_location(outside), account)
        assert (store.config["skip_signature"], store.client_options["allow_http"]) == ("true", "false")
        shown = repr(store.config) + repr(store.client_options)
        return [text for text in ("127.0.0.1", *keys) if text not in (None, "acme") and text in shown]

    assert {way: goes_along(*way, *keys) for way, keys in elsewhere.items()} == {way: [] for way in elsewhere}


def test_plain_http_is_spoken_only_with_an_endpoint_that_says_so():
    base = parse_location("s3://lake")
    for endpoint, allowed in (("http://127.0.0.1:1", "true"), ("https://127.0.0.1:1", "false"), (None, "false")):
        store = object_store(base, AccountStorage(base, "access", "secret", None, endpoint))
        assert store.client_options["allow_http"] == allowed


def test_secrets_show_in_no_repr():
    base = parse_location("s3://lake")
    account = AccountStorage(base, "access-key", "secret-key", "eu-west-1", "https://127.0.0.1:1")
    store = object_store(base, account)
    assert "secret-key" not in repr(account) + repr(store) + repr(store.config)
    assert "access-key" not in repr(account) + repr(store) + repr(store.config)


def test_an_az_location_without_a_storage_account_says_how_to_name_one():
    account = AccountStorage(parse_location("file:///data"))
    with pytest.raises(StorageFailure, match="names no storage account; write abfss://"):
        object_store(parse_location("az://lake/a"), account)


def test_an_error_of_the_store_is_reported_without_secrets(read, web):
    account = AccountStorage(parse_location("s3://lake"), "access-key", "secret-key", "eu-west-1", web.url)
    moved = "the bucket is in another region than eu-west-1; an administrator sets the region with PUT account/storage"
    denied = (
        "access denied (AccessDenied: key <hidden> may not); an administrator checks the credentials with "
        "PUT account/storage"
    )
    told = {
        (403, b"<Code>AccessDenied</Code><Message>key access-key may not</Message>"): f"s3://lake/403: {denied}",
        (301, b""): f"s3://lake/301: {moved}",
        (400, b"<Code>AuthorizationHeaderMalformed</Code>"): f"s3://lake/400: {moved}",
        (418, b"<Code>Odd</Code>"): "s3://lake/418: the store answered 418 (Odd)",
    }

    def failure(status: int, body: bytes) -> str:
        web.answer(f"/lake/{status}", body, status=status)
        with pytest.raises(StorageFailure) as failed:
            read(f"s3://lake/{status}", account)
        return failed.value.message

    assert {answer: failure(*answer) for answer in told} == told


def test_a_refusal_without_credentials_says_that_none_were_sent(read, web):
    web.answer("/lake/a", b"", status=403)
    account = AccountStorage(parse_location("s3://lake"), endpoint=web.url)
    with pytest.raises(
        StorageFailure, match="has no credentials; an administrator stores them with PUT account/storage"
    ):
        read("s3://lake/a", account)
    assert "authorization" not in web.requests[0][1]


@pytest.mark.parametrize("base", ["s3://lake", "gs://lake"])
def test_a_panic_of_the_client_is_a_failure_like_others(read, base):
    """Its address parser panics on a host such as this, which the check of the endpoint does not let through."""
    account = AccountStorage(parse_location(base), "access-key", GS_KEY, None, "http://1.2.3.4.5")
    with pytest.raises(StorageFailure, match="check endpoint in account/storage"):
        read(f"{base}/a", account)
