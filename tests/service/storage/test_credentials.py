from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.ground.errors import Forbidden, Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.schema.storage import account_storage
from svc_jupyter.service.storage.storage import Storage

S3 = {"url": "s3://lake/team", "access_key": "access-key", "secret_key": "secret-key"}
GS_KEY = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})


def update(**given: str) -> StorageUpdate:
    return StorageUpdate.model_validate(given)


def refusal(storage: Storage, by: Caller, given: dict[str, str]) -> str:
    with pytest.raises(Invalid) as refused:
        storage.replace(update(**given), by=by)
    return refused.value.message


def test_until_another_is_stored_the_storage_is_the_service_s_own_folder(storage, settings, account_id):
    record = storage.show(account_id)
    assert record.model_dump() == {
        "url": f"file://{settings.storage_dir}",
        "access_key": None,
        "secret_key": None,
        "region": None,
        "endpoint": None,
    }


def test_stored_settings_are_shown_without_their_secrets(storage, admin, account_id):
    stored = storage.replace(update(**S3, region="eu-west-1", endpoint="https://storage.example.com/"), by=admin)
    assert stored == storage.show(account_id)
    assert stored.model_dump() == {
        "url": "s3://lake/team",
        "access_key": "<hidden>",
        "secret_key": "<hidden>",
        "region": "eu-west-1",
        "endpoint": "https://storage.example.com",
    }


def test_secrets_are_sealed_in_the_database(storage, admin, database):
    storage.replace(update(**S3), by=admin)
    with database.connect() as connection:
        row = connection.execute(sa.select(account_storage)).one()
    assert "access-key" not in repr(row)
    assert "secret-key" not in repr(row)


async def test_stored_settings_are_available_to_the_next_service(storage, settings, database, admin, account_id):
    storage.replace(update(**S3), by=admin)
    later = Storage(settings, database, SecretBox(settings.data_dir / "secret.key"))
    try:
        assert str(await later.locate(account_id, "a.sh")) == "s3://lake/team/a.sh"
        assert later.show(account_id).secret_key == "<hidden>"
    finally:
        later.close()


async def test_a_lost_key_is_reported(storage, settings, database, admin, account_id):
    storage.replace(update(**S3), by=admin)
    (settings.data_dir / "secret.key").unlink()
    later = Storage(settings, database, SecretBox(settings.data_dir / "secret.key"))
    try:
        with pytest.raises(Invalid, match=r"secret\.key .* is not the key"):
            await later.locate(account_id, "a.sh")
    finally:
        later.close()


def test_hidden_secrets_stay_and_missing_ones_are_cleared(storage, admin, account_id):
    storage.replace(update(**S3), by=admin)
    kept = storage.replace(
        update(url="s3://lake/other", access_key="<hidden>", secret_key="<hidden>", region="eu-west-1"), by=admin
    )
    assert (kept.url, kept.secret_key) == ("s3://lake/other", "<hidden>")
    account = storage._credentials.of(account_id)
    assert (account.access_key, account.secret_key) == ("access-key", "secret-key")
    assert storage.replace(update(url="s3://lake"), by=admin).secret_key is None


def test_hidden_secrets_never_go_to_another_store(storage, admin):
    storage.replace(update(**S3), by=admin)
    hidden = S3 | {"access_key": "<hidden>", "secret_key": "<hidden>"}
    others = ({"url": "s3://other"}, {"endpoint": "https://evil.example.com"}, {"url": "az://lake"})
    told = "enter access_key and secret_key again: they were stored for another url or endpoint"
    assert [refusal(storage, admin, hidden | other) for other in others] == [told] * 3


def test_only_an_administrator_changes_it(storage, member, account_id):
    with pytest.raises(Forbidden, match="system-admin"):
        storage.replace(update(**S3), by=member)
    assert storage.show(account_id).url.startswith("file://")


def test_each_kind_of_store_can_be_the_account_s(storage, admin, account_id):
    blob = {"access_key": "acme", "secret_key": "c2VjcmV0"}
    named = "abfss://lake@acme.dfs.core.windows.net"
    kinds = [
        ({"url": "gs://lake", "secret_key": GS_KEY}, ("gs://lake", None)),
        ({"url": "az://lake", **blob}, (named, None)),
        ({"url": f"{named}/team", **blob}, (f"{named}/team", None)),
        ({"url": "https://example.org/public"}, ("https://example.org/public", None)),
        ({"url": "s3://lake", "endpoint": "http://[::1]:9000/path"}, ("s3://lake", "http://[::1]:9000/path")),
    ]

    def stored(given: dict[str, str]) -> tuple[str, str | None]:
        return storage.replace(update(**given), by=admin).url, storage.show(account_id).endpoint

    assert [(given, stored(given)) for given, _ in kinds] == kinds


SCHEMES = "known are file://, s3://, gs://, az://, abfss:// and https://"
BOTH = "give both access_key and secret_key, or neither"
FORM = "secret_key is not of the form that this kind of storage needs"
JSON_KEY = "secret_key must be the service account's JSON key, as downloaded"
ENDPOINT = "endpoint must be a URL such as https://storage.example.com, without user, password and query"
REFUSED = [
    ({"url": "nonsense"}, f"the location nonsense has no scheme; {SCHEMES}"),
    ({"url": "ftp://host/a"}, f"the location ftp://host/a has an unknown scheme; {SCHEMES}"),
    (
        {"url": "file:///etc"},
        "file:///etc is outside the folders that this service may read; put the file into the account's storage, "
        "or have the operator add its folder to file_roots",
    ),
    ({"url": "https://example.org/?signature=secret"}, "url must not have a query"),
    (
        {"url": "https://reader:secret@example.org/"},
        "the location https://example.org/ must not hold a user or a password; use a signed URL",
    ),
    ({"url": "s3://lake", "access_key": "secret"}, BOTH),
    ({"url": "s3://lake", "secret_key": "secret"}, BOTH),
    ({"url": "az://lake", "secret_key": "c2VjcmV0"}, BOTH),
    ({"url": "az://lake", "access_key": "acme", "secret_key": "not base64 secret"}, FORM),
    (
        {"url": "abfss://lake@acme.dfs.core.windows.net", "access_key": "other", "secret_key": "c2VjcmV0"},
        "access_key must be the name of the storage account in url, acme",
    ),
    ({"url": "gs://lake", "secret_key": "secret"}, JSON_KEY),
    ({"url": "gs://lake", "secret_key": '["secret"]'}, JSON_KEY),
    ({"url": "gs://lake", "secret_key": '{"secret": 1}'}, FORM),
    (
        {"url": "gs://lake", "access_key": "secret", "secret_key": GS_KEY},
        "access_key does not belong to a gs:// url; secret_key is the service account's JSON key",
    ),
    ({"url": "https://example.org/", "access_key": "secret"}, "access_key does not belong to a https:// url"),
    ({"url": "s3://lake", "region": "eu west/1"}, "region must be a name such as eu-west-1"),
    ({"url": "s3://lake", "endpoint": "nonsense"}, ENDPOINT),
    ({"url": "s3://lake", "endpoint": "https://"}, ENDPOINT),
    ({"url": "s3://lake", "endpoint": "https://reader:secret@host"}, ENDPOINT),
    ({"url": "s3://lake", "endpoint": "https://host/?secret"}, ENDPOINT),
    ({"url": "s3://lake", "endpoint": "https://host:port"}, "endpoint is not a valid URL"),
    ({"url": "s3://lake", "endpoint": "https://[::1"}, "endpoint is not a valid URL"),
    ({"url": "s3://lake", "endpoint": "ftp://host"}, ENDPOINT),
    ({"url": "s3://lake", "endpoint": "http://999.1.1.1:9000"}, ENDPOINT),
    ({"url": "s3://lake", "access_key": "a\0secret", "secret_key": "secret"}, "access_key holds a control character"),
    (
        {"url": "s3://lake", "access_key": "secret" * 9999, "secret_key": "secret"},
        "access_key is longer than 16384 characters",
    ),
]


def test_invalid_settings_are_refused_without_showing_secrets(storage, admin, account_id):
    assert [(given, refusal(storage, admin, given)) for given, _ in REFUSED] == REFUSED
    assert storage.show(account_id).url.startswith("file://")
