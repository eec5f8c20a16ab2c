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

_DATES = {"Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT", "ETag": '"1"'}


@pytest.fixture
def read(tmp_path):
    def read(location: str, account: AccountStorage) -> bytes:
        room = Room(tmp_path, what=location, max_bytes=1000, min_free_bytes=0)
        return read_bytes(parse_location(location), account, [], room)

    return read


def test_a_gs_object_is_asked_for_at_the_account_s_endpoint(read, web):
    key = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})
    web.answer("/lake/a%2Fb%2Esh", b"echo", headers=_DATES)
    account = AccountStorage(parse_location("gs://lake"), None, key, None, web.url)
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


@pytest.mark.parametrize(
    ("base", "outside", "keys"),
    [
        ("s3://lake/team", "s3://lake/other/a", ("access-key", "secret-key")),
        ("s3://lake", "s3://lake2/a", ("access-key", "secret-key")),
        (
            "gs://lake",
            "gs://lake2/a",
            (None, '{"disable_oauth": true, "client_email": "", "private_key": "", "private_key_id": ""}'),
        ),
        (
            "abfss://lake@acme.dfs.core.windows.net",
            "abfss://lake@other.dfs.core.windows.net/a",
            ("acme", "c2VjcmV0"),
        ),
        ("s3://lake", "gs://lake/a", ("access-key", "secret-key")),
    ],
)
def test_credentials_and_endpoint_go_nowhere_but_under_the_account_s_url(base, outside, keys):
    account = AccountStorage(parse_location(base), *keys, None, "http://127.0.0.1:1")
    store = object_store(parse_location(outside), account)
    assert store.config["skip_signature"] == "true"
    shown = repr(store.config) + repr(store.client_options)
    assert "127.0.0.1" not in shown
    assert store.client_options["allow_http"] == "false"
    for secret in keys:
        assert secret is None or secret == "acme" or secret not in shown


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


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (
            403,
            b"<Code>AccessDenied</Code><Message>key access-key may not</Message>",
            "(AccessDenied: key <hidden> may not)",
        ),
        (301, b"", "another region than eu-west-1"),
        (400, b"<Code>AuthorizationHeaderMalformed</Code>", "another region than eu-west-1"),
        (418, b"<Code>Odd</Code>", "the store answered 418 (Odd)"),
    ],
)
def test_an_error_of_the_store_is_reported_without_secrets(read, web, status, body, reason):
    web.answer("/lake/a", body, status=status)
    account = AccountStorage(parse_location("s3://lake"), "access-key", "secret-key", "eu-west-1", web.url)
    with pytest.raises(StorageFailure) as failure:
        read("s3://lake/a", account)
    assert failure.value.message.startswith("s3://lake/a: ")
    assert reason in failure.value.message
    assert "access-key" not in failure.value.message


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
    key = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})
    account = AccountStorage(parse_location(base), "access-key", key, None, "http://1.2.3.4.5")
    with pytest.raises(StorageFailure, match="check endpoint in account/storage"):
        read(f"{base}/a", account)
