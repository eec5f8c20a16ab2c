"""Who may use a data folder, and how others find the service that does."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from svc_jupyter.service.data_folder import data_folder as module
from svc_jupyter.service.data_folder.data_folder import DataFolder, DataFolderTakenError
from svc_jupyter.service.ground.settings import Settings

POSTGRES = "postgresql://db.example.org/svc"
Open = Callable[..., DataFolder]


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Open]:
    """Opens the folder as a service does, any number of times."""
    opened: list[DataFolder] = []

    def open_folder(database_url: str | None = None) -> DataFolder:
        folder = DataFolder(Settings(data_dir=tmp_path / "data", database_url=database_url))
        folder.open()
        opened.append(folder)
        return folder

    yield open_folder
    for folder in opened:
        folder.close()


def test_the_folders_are_made_for_the_user_alone(open_folder: Open, tmp_path: Path):
    open_folder()
    for name in ("data", "data/storage", "data/commands"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_a_second_service_on_sqlite_is_refused_and_the_first_one_named(open_folder: Open):
    open_folder().announce("http://127.0.0.1:4321", "secret-token", "0.1")
    with pytest.raises(DataFolderTakenError) as raised:
        open_folder()
    text = str(raised.value)
    assert f"http://127.0.0.1:4321 (process {os.getpid()})" in text
    assert "--data-dir" in text
    assert "secret-token" not in text


def test_a_first_service_that_is_just_starting_is_reported_as_such(open_folder: Open):
    open_folder()
    with pytest.raises(DataFolderTakenError, match="one that is just starting"):
        open_folder()


def test_a_file_left_by_an_ended_service_is_not_reported_as_a_running_service(open_folder: Open, tmp_path: Path):
    open_folder()
    left = {"base_url": "http://127.0.0.1:1", "token": "t", "pid": 2**22 + 1, "version": "0.1"}
    (tmp_path / "data" / "service.json").write_text(json.dumps(left))
    with pytest.raises(DataFolderTakenError, match="one that is just starting"):
        open_folder()


def test_the_folder_is_free_once_the_first_is_gone(open_folder: Open):
    open_folder().close()
    open_folder()


def test_replicas_on_postgresql_share_it_and_the_first_announces(open_folder: Open):
    first, second = open_folder(POSTGRES), open_folder(POSTGRES)
    with first.turn_to_announce() as is_free:
        assert is_free
        first.announce("http://127.0.0.1:4321", "token", "0.1")
    with second.turn_to_announce() as is_free:
        assert not is_free
    assert (first.is_announcer, second.is_announcer) == (True, False)
    first.close()
    with second.turn_to_announce() as is_free:
        assert is_free, "what an ended service has left is free"


@pytest.mark.parametrize(("first", "second"), [(None, POSTGRES), (POSTGRES, None)])
def test_sqlite_and_postgresql_never_work_on_one_folder(open_folder: Open, first: str | None, second: str | None):
    """Also when the first of several replicas, which is announced, has ended."""
    announced = open_folder(first)
    if first is not None:
        open_folder(first)
        announced.close()
    with pytest.raises(DataFolderTakenError):
        open_folder(second)


def test_a_look_at_the_lock_keeps_no_service_from_starting(
    open_folder: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(module._took.__kwdefaults__, "patience", 30)  # the look may end late on a busy machine
    open_folder().close()
    with (tmp_path / "data" / "service.lock").open("rb") as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        looking = threading.Timer(0.05, look.close)
        looking.start()
        open_folder()
        looking.join()


def test_a_folder_that_others_can_read_is_put_right(open_folder: Open, tmp_path: Path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    for name in ("service.db", "service.db-wal", "secret.key"):
        (folder / name).touch(0o644)
    with capture_logs() as logs:
        open_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {item.stat().st_mode & 0o077 for item in folder.iterdir() if item.name != "service.lock"} == {0}
    assert [(entry["event"], entry["mode"]) for entry in logs] == [("data_folder_was_open", "755")]


def test_the_database_is_made_for_the_user_alone(open_folder: Open, tmp_path: Path):
    open_folder()
    assert (tmp_path / "data" / "service.db").stat().st_mode & 0o777 == 0o600


def test_service_json_is_for_the_user_alone_and_whole(open_folder: Open, tmp_path: Path):
    open_folder().announce("http://127.0.0.1:4321", "token", "0.1")
    file = tmp_path / "data" / "service.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text()) == {
        "base_url": "http://127.0.0.1:4321", "token": "token", "pid": os.getpid(), "version": "0.1", "is_locked": True,
    }  # fmt: skip
    assert [item.name for item in file.parent.iterdir() if item.name.startswith(".")] == []


def test_the_token_is_kept_for_the_next_start(open_folder: Open):
    first = open_folder(POSTGRES)
    assert first.read_token() is None
    first.announce("http://127.0.0.1:4321", "token", "0.1")
    first.close()
    assert open_folder(POSTGRES).read_token() == "token"


def test_a_broken_service_json_is_as_none(open_folder: Open, tmp_path: Path):
    folder = open_folder()

    def token_of(content: str) -> str | None:
        (tmp_path / "data" / "service.json").write_text(content)
        with pytest.raises(DataFolderTakenError):
            open_folder()
        return folder.read_token()

    broken = ["", "{", "[]", '{"token": 7}', '"text"']
    assert {content: token_of(content) for content in broken} == dict.fromkeys(broken)
