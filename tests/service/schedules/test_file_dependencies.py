from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from svc_jupyter.api.schedules import DependencyInfo, TimeUnit
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schedules.dependencies import DependencyChecker, Needed, needed
from svc_jupyter.service.schedules.dependency_checks import FileDependencies
from svc_jupyter.service.schedules.timetable import Timetable
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"])
DAILY = Timetable(datetime(2026, 11, 1, 9, tzinfo=UTC), None, "UTC", 1, TimeUnit.DAYS)
NOMINAL = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.fixture
def checker(settings: Settings, database: Database, account_id: int) -> Iterator[DependencyChecker]:
    settings.storage_dir.mkdir()
    settings.webhook_private_addresses = True  # a closed port of this machine is looked at
    storage = Storage(settings, database, SecretBox(settings.data_dir / "secret.key"))
    yield FileDependencies(storage)
    storage.close()


async def test_the_files_of_a_window_are_found_as_they_come(checker, account_id, settings):
    entry = {"path": "flights/%Y/%m/%d", "window_start": -2, "done_flag": "_SUCCESS"}
    wanted = needed(DependencyInfo.model_validate({"files": [entry]}), NOMINAL, DAILY)
    assert [item.key for item in wanted] == [f"flights/2026/11/{day}/_SUCCESS" for day in (19, 20, 21)]
    assert await checker.found(account_id, wanted) == set()
    for number, item in enumerate(wanted, start=1):
        file = settings.storage_dir / item.key
        file.parent.mkdir(parents=True)
        (file.parent / "part-0").touch()
        assert len(await checker.found(account_id, wanted)) == number - 1
        file.touch()
        assert await checker.found(account_id, wanted) == set(wanted[:number])


async def test_a_path_is_a_file_or_a_filled_folder_and_a_done_flag_only_a_file(checker, account_id, settings):
    (settings.storage_dir / "day/flag").mkdir(parents=True)
    (settings.storage_dir / "day/file").touch()
    path, flag, folder_as_flag, empty = (
        Needed("file", "day", may_be_folder=True),
        Needed("file", "day/file"),
        Needed("file", "day", may_be_folder=False),
        Needed("file", "day/flag", may_be_folder=True),
    )
    assert await checker.found(account_id, [path, flag, folder_as_flag, empty]) == {path, flag}


async def test_partitions_are_not_its_to_find(checker, account_id, settings):
    (settings.storage_dir / "a").touch()
    assert await checker.found(account_id, [Needed("hive", "a")]) == set()


async def test_a_location_that_cannot_be_checked_raises_an_error(checker, account_id, closed_store):
    with pytest.raises(Invalid, match="outside the folders"):
        await checker.found(account_id, [Needed("file", "file:///etc/passwd")])
    with pytest.raises(StorageFailure, match="cannot connect"):
        await checker.found(account_id, [Needed("file", closed_store)])


@pytest.fixture
def closed_store() -> str:
    """A URL at whose port nothing listens."""
    return "http://127.0.0.1:1/a.csv"
