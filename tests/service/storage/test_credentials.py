from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.ground.errors import Forbidden, Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.schema.storage import account_storage
from svc_jupyter.service.storage.storage import Storage

S3 = {"url": "s3://lake/team", "access_key": "access-key", "secret_key": "secret-key"}
GS_KEY = json.dumps({"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""})


def update(**given: str) -> StorageUpdate:
    return StorageUpdate.model_validate(given)


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


@pytest.mark.parametrize(
    "changes", [{"url": "s3://other"}, {"endpoint": "https://evil.example.com"}, {"url": "az://lake"}]
)
def test_hidden_secrets_never_go_to_another_store(storage, admin, changes):
    storage.replace(update(**S3), by=admin)
    with pytest.raises(Invalid, match="enter access_key and secret_key again"):
        storage.replace(update(**(S3 | {"access_key": "<hidden>", "secret_key": "<hidden>"} | changes)), by=admin)


def test_only_an_administrator_changes_it(storage, member, account_id):
    with pytest.raises(Forbidden, match="system-admin"):
        storage.replace(update(**S3), by=member)
    assert storage.show(account_id).url.startswith("file://")


@pytest.mark.parametrize(
    "given",
    [
        {"url": "gs://lake", "secret_key": GS_KEY},
        {"url": "az://lake", "access_key": "acme", "secret_key": "c2VjcmV0"},
        {"url": "abfss://lake@acme.dfs.core.windows.net/team", "access_key": "acme", "secret_key": "c2VjcmV0"},
        {"url": "https://example.org/public"},
        {"url": "s3://lake", "endpoint": "http://[::1]:9000/path"},
    ],
)
def test_each_kind_of_store_can_be_the_account_s(storage, admin, account_id, given):
    names_account = {"az://lake": "abfss://lake@acme.dfs.core.windows.net"}
    assert storage.replace(update(**given), by=admin).url == names_account.get(given["url"], given["url"])
    assert storage.show(account_id).endpoint == given.get("endpoint")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"url": "nonsense"}, "no scheme"),
        ({"url": "ftp://host/a"}, "unknown scheme"),
        ({"url": "file:///etc"}, "outside the folders"),
        ({"url": "https://example.org/?signature=secret"}, "must not have a query"),
        ({"url": "https://reader:secret@example.org/"}, "must not hold a user"),
        ({"url": "s3://lake", "access_key": "secret"}, "both access_key and secret_key"),
        ({"url": "s3://lake", "secret_key": "secret"}, "both access_key and secret_key"),
        ({"url": "az://lake", "secret_key": "c2VjcmV0"}, "both access_key and secret_key"),
        (
            {"url": "az://lake", "access_key": "acme", "secret_key": "not base64 secret"},
            "secret_key is not of the form",
        ),
        (
            {"url": "abfss://lake@acme.dfs.core.windows.net", "access_key": "other", "secret_key": "c2VjcmV0"},
            "the name of the storage account",
        ),
        ({"url": "gs://lake", "secret_key": "secret"}, "JSON key"),
        ({"url": "gs://lake", "secret_key": '["secret"]'}, "JSON key"),
        ({"url": "gs://lake", "secret_key": '{"secret": 1}'}, "secret_key is not of the form"),
        ({"url": "gs://lake", "access_key": "secret", "secret_key": GS_KEY}, "access_key does not belong"),
        ({"url": "https://example.org/", "access_key": "secret"}, "access_key does not belong"),
        ({"url": "s3://lake", "region": "eu west/1"}, "region"),
        ({"url": "s3://lake", "endpoint": "nonsense"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "https://"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "https://reader:secret@host"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "https://host/?secret"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "https://host:port"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "https://[::1"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "ftp://host"}, "endpoint"),
        ({"url": "s3://lake", "endpoint": "http://999.1.1.1:9000"}, "endpoint"),
        ({"url": "s3://lake", "access_key": "a\0secret", "secret_key": "secret"}, "control character"),
        ({"url": "s3://lake", "access_key": "secret" * 9999, "secret_key": "secret"}, "longer than"),
    ],
)
def test_invalid_settings_are_refused_without_showing_secrets(storage, admin, account_id, given, reason):
    with pytest.raises(Invalid, match=r".") as refusal:
        storage.replace(update(**given), by=admin)
    assert reason in refusal.value.message
    assert "secret" not in refusal.value.message.replace("secret_key", "")
    assert storage.show(account_id).url.startswith("file://")
