"""Against a real S3 server (`rclone serve s3`), which checks the signature of every request."""

from __future__ import annotations

import pytest
from tests.support.memory import Peak

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.storage.failures import StorageFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def account(storage, admin, s3):
    """The account's storage is in the bucket `lake`, with the right keys."""

    def store(url: str = "s3://lake", **changes: str):
        given = {"access_key": s3.access_key, "secret_key": s3.secret_key, "endpoint": s3.endpoint, "url": url}
        return storage.replace(StorageUpdate.model_validate(given | changes), by=admin)

    store()
    return store


@pytest.fixture
def fetch(storage, account_id, tmp_path):
    async def fetch(text: str) -> bytes:
        target = tmp_path / "copy"
        target.unlink(missing_ok=True)
        await storage.fetch(account_id, await storage.locate(account_id, text), target)
        return target.read_bytes()

    return fetch


async def failure_of(fetch, text: str) -> StorageFailure:
    with pytest.raises(StorageFailure) as failure:
        await fetch(text)
    return failure.value


async def test_objects_are_fetched_with_the_account_s_credentials(account, fetch, s3):
    s3.put("daily/run.sh", b"echo hi\n")
    s3.put("odd name%20é+#?.txt", b"odd")
    assert await fetch("s3://lake/daily/run.sh") == b"echo hi\n"
    assert await fetch("s3a://lake/daily/run.sh") == b"echo hi\n"
    assert await fetch("daily/run.sh") == b"echo hi\n"
    assert await fetch("s3://lake/odd name%20é+#?.txt") == b"odd"


async def test_relative_locations_follow_the_account_s_url(account, fetch, s3):
    s3.put("team/run.sh", b"team")
    account(url="s3://lake/team/")
    assert await fetch("run.sh") == b"team"


async def test_keys_of_the_environment_are_not_used(account, fetch, s3, monkeypatch):
    for name in ("ACCESS_KEY_ID", "SESSION_TOKEN", "REGION", "DEFAULT_REGION"):
        monkeypatch.setenv(f"AWS_{name}", "from-the-environment")
    for name in ("ENDPOINT", "ENDPOINT_URL", "ENDPOINT_URL_S3"):
        monkeypatch.setenv(f"AWS_{name}", "http://127.0.0.1:1")
    for name in ("SKIP_SIGNATURE", "VIRTUAL_HOSTED_STYLE_REQUEST"):
        monkeypatch.setenv(f"AWS_{name}", "true")
    s3.put("a", b"x")
    assert await fetch("a") == b"x"


async def test_wrong_credentials_are_reported_without_showing_them(account, fetch, s3):
    s3.put("a", b"x")
    for changes in ({"secret_key": "wrong-secret-key"}, {"access_key": "unknown-access-key"}):
        account(**changes)
        failure = await failure_of(fetch, "s3://lake/a")
        assert "s3://lake/a: access denied" in failure.message
        assert "PUT account/storage" in failure.message
        for secret in ("wrong-secret-key", "unknown-access-key", s3.access_key, s3.secret_key):
            assert secret not in failure.message + repr(failure)


async def test_a_missing_object_and_a_missing_bucket_are_distinguished(account, fetch, s3):
    assert (await failure_of(fetch, "s3://lake/nothing")).message == "s3://lake/nothing does not exist"
    account(url="s3://nowhere")
    assert "no bucket nowhere" in (await failure_of(fetch, "s3://nowhere/a")).message


async def test_a_server_that_is_down_is_named_and_read_again_when_it_is_back(account, fetch, s3):
    s3.put("a", b"x")
    s3.stop()
    failure = await failure_of(fetch, "a")
    assert f"s3://lake/a: cannot connect to the store at {s3.endpoint}: " in failure.message
    assert failure.may_retry
    s3.start()
    assert await fetch("a") == b"x"


async def test_a_large_object_streams_with_flat_memory(account, storage, account_id, s3, tmp_path):
    location = s3.put("big", b"")
    with (s3.folder / "lake" / "big").open("r+b") as file:
        file.truncate(300_000_000)
    peak = Peak()
    size = await storage.fetch(account_id, await storage.locate(account_id, location), tmp_path / "copy")
    assert size == (tmp_path / "copy").stat().st_size == 300_000_000
    assert peak.growth < 100_000_000


async def test_an_object_over_the_limit_is_not_fetched(account, fetch, settings, s3, tmp_path):
    s3.put("big", bytes(5000))
    settings.max_fetched_bytes = 4999
    assert "larger than 5.0 kB" in (await failure_of(fetch, "big")).message
    assert not (tmp_path / "copy").exists()


async def test_text_is_read_from_the_store(account, storage, account_id, s3):
    s3.put("q.sql", b"SELECT 1")
    assert await storage.read_text(account_id, "q.sql", 100) == "SELECT 1"
