"""The account's S3 store as settings of Hadoop's client."""

from __future__ import annotations

from dataclasses import replace

from svc_jupyter.service.runtimes.s3.access import S3Access, s3_access
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import parse_location

STORE = AccountStorage(parse_location("s3://lake/team"), "the-key", "the-secret", "eu-west-1", "http://127.0.0.1:9000")


def test_no_setting_holds_a_secret_and_the_secrets_are_found_by_the_names_that_the_client_asks_for() -> None:
    access = s3_access(STORE)

    assert access.secrets == {
        "fs.s3a.bucket.lake.access.key": "the-key",
        "fs.s3a.bucket.lake.secret.key": "the-secret",
    }
    shown = f"{access.settings} {access!r} {access.digest}"
    assert "the-key" not in shown
    assert "the-secret" not in shown
    assert access.settings["hadoop.security.credential.provider.path"] == "user:///"


def test_address_and_keys_are_those_of_the_accounts_bucket_alone() -> None:
    settings = s3_access(STORE).settings

    assert settings["fs.s3a.bucket.lake.endpoint"] == "http://127.0.0.1:9000"
    assert settings["fs.s3a.bucket.lake.aws.credentials.provider"].endswith(".SimpleAWSCredentialsProvider")
    assert "fs.s3a.endpoint" not in settings
    assert settings["fs.s3a.aws.credentials.provider"].endswith(".AnonymousAWSCredentialsProvider")
    assert settings["fs.s3a.endpoint.region"] == "eu-west-1"


def test_a_store_without_keys_is_asked_without_a_signature() -> None:
    access = s3_access(replace(STORE, access_key=None, secret_key=None, endpoint=None))

    assert access.settings["fs.s3a.bucket.lake.aws.credentials.provider"].endswith(".AnonymousAWSCredentialsProvider")
    assert not access.secrets
    assert "fs.s3a.bucket.lake.endpoint" not in access.settings


def test_another_storage_needs_nothing_of_it() -> None:
    bases = ("file:///lake", "gs://lake", "az://lake")
    accesses = [s3_access(AccountStorage(parse_location(base))) for base in bases]

    assert accesses == [S3Access()] * 3
    assert not S3Access().is_needed


def test_new_keys_are_another_access() -> None:
    digests = {s3_access(each).digest for each in (STORE, replace(STORE, secret_key="new"), replace(STORE))}

    assert len(digests) == 2
