"""Whether objects are there, on a real S3 server. How few questions that takes is in test_presence_questions.py."""

from __future__ import annotations

import pytest

from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.storage import presence
from svc_jupyter.service.storage.failures import StorageFailure

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])


@pytest.fixture
def account(storage, admin, s3):
    """The account's storage is in the bucket `lake`, with the right keys."""

    def store(**changes: str):
        given = {"access_key": s3.access_key, "secret_key": s3.secret_key, "endpoint": s3.endpoint, "url": "s3://lake"}
        return storage.replace(StorageUpdate.model_validate(given | changes), by=admin)

    store()
    return store


@pytest.fixture
def existing(storage, account, account_id):
    async def existing(*texts: str, or_folders: bool = True) -> set[str]:
        return await storage.existing(account_id, texts, or_folders=or_folders)

    return existing


async def test_objects_and_filled_prefixes_are_there(existing, s3):
    s3.put("day/21/part-0", b"x")
    s3.put("empty.csv", b"")
    s3.put("odd name%20é+#?.txt", b"x")
    asked = ("s3://lake/day/21/part-0", "day/21/part-0", "day/21", "day/21/", "day", "empty.csv", "s3://lake")
    assert await existing(*asked) == set(asked)
    odd = "s3a://lake/odd name%20é+#?.txt"
    assert await existing(odd) == {odd}
    assert await existing("day/2", "day/22", "day/21/part-", "nothing", "empty.csv/", "day/21/part-0/x") == set()


async def test_where_a_file_is_meant_a_prefix_will_not_do(existing, s3):
    s3.put("day/21/_SUCCESS", b"")
    assert await existing("day/21", "day/21/_SUCCESS", or_folders=False) == {"day/21/_SUCCESS"}
    assert await existing("day/21", "day/22", "day/23", "day/24", or_folders=False) == set()


@pytest.mark.parametrize("most", [1000, 3])
async def test_many_keys_of_one_folder_are_found_in_its_listing(existing, s3, monkeypatch, most):
    """Also when the listing is cut short, and the rest is looked up key by key."""
    monkeypatch.setattr(presence, "LISTED_AT_ONCE", most)
    monkeypatch.setattr("svc_jupyter.service.storage.presence.LISTED_AT_ONCE", most)
    for day in range(1, 30, 2):
        s3.put(f"f/{day:02}.csv", b"x")
        s3.put(f"f/{day:02}.csv.bak", b"x")
        s3.put(f"f/{day:02}-folder/part-0", b"x")
        s3.put(f"f/{day:02}-folder/part-1", b"x")
    s3.put("f/02.csv", b"")
    days = [*range(1, 30, 2), 2]
    asked = [f"f/{day:02}{end}" for day in range(1, 31) for end in (".csv", "-folder", "-folder/", ".csv/")]
    there = {f"f/{day:02}{end}" for day in days for end in (".csv", "-folder", "-folder/")} - {"f/02-folder"}
    assert await existing(*asked) == there - {"f/02-folder/"}
    assert await existing(*asked, or_folders=False) == {f"f/{day:02}.csv" for day in days}
    root = ("a", "b", "f", "g", "f.csv")
    assert await existing(*root) == {"f"}


async def test_a_bucket_that_cannot_be_read_is_a_failure_without_secrets(existing, account, s3):
    s3.put("a", b"x")
    account(secret_key="wrong-secret-key")
    for asked in (("a",), ("a", "b", "c", "d")):
        with pytest.raises(StorageFailure, match="access denied") as failure:
            await existing(*asked)
        assert "wrong-secret-key" not in failure.value.message
    account()
    s3.stop()
    with pytest.raises(StorageFailure, match="cannot connect to the store"):
        await existing("a")


async def test_a_missing_bucket_is_a_failure(existing, account):
    account(url="s3://nowhere")
    with pytest.raises(StorageFailure, match="no bucket nowhere"):
        await existing("a/b/c")
