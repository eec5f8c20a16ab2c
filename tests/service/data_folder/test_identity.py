"""Which database and which data folder belong together, before and after there was a word for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from structlog.testing import capture_logs
from tests.service.commands.rows import command_row

from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.data_folder import at_start, identity
from svc_jupyter.service.data_folder.identity import FolderIdentity, ForeignDatabaseError
from svc_jupyter.service.data_folder.taken_ids import commands_on_disk, highest_on_disk
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.ids import go_above
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.identity import database_identity

Join = Callable[[], None]


@pytest.fixture
def join(settings: Settings, database: Database) -> Join:
    """Does with the database what a start does."""

    def join() -> None:
        identity.check(settings, database)
        at_start.join(settings, database)

    return join


@pytest.fixture
def lonely(tmp_path: Path, empty_postgres_url: str) -> Iterator[tuple[Settings, Database]]:
    """A PostgreSQL database without tables, on the data folder of `settings`."""
    settings = Settings(data_dir=tmp_path / "data", database_url=SecretStr(empty_postgres_url))
    with closing(Database(settings)) as database:
        yield settings, database


def key_of(database: Database) -> str:
    with database.connect() as connection:
        return str(connection.execute(sa.select(database_identity.c.key)).scalar_one())


def add_command(database: Database, settings: Settings, **values: Any) -> int:
    with database.begin() as connection:
        account_id = ensure_account(connection, settings)
        row = asdict(command_row(account_id=account_id, **values))
        if "id" not in values:
            del row["id"]
        return int(connection.execute(sa.insert(commands).values(row).returning(commands.c.id)).scalar_one())


def test_both_get_the_same_key_once(settings: Settings, database: Database, join: Join):
    join()
    told = FolderIdentity.read(settings.data_dir)
    assert told is not None
    assert told.key == key_of(database)
    assert told.kind == ("sqlite" if settings.on_sqlite else "postgresql")
    assert (settings.data_dir / "identity.json").stat().st_mode & 0o777 == 0o600
    join()
    assert FolderIdentity.read(settings.data_dir) == told


def test_a_start_that_was_killed_before_the_folder_was_written_is_taken_up(
    settings: Settings, database: Database, join: Join
):
    join()
    key = key_of(database)
    (settings.data_dir / "identity.json").unlink()
    join()
    told = FolderIdentity.read(settings.data_dir)
    assert told is not None
    assert told.key == key


def test_an_older_database_takes_the_key_of_its_folder(settings: Settings, database: Database, join: Join):
    join()
    key = key_of(database)
    with database.begin() as connection:
        connection.execute(sa.delete(database_identity))
    join()
    assert key_of(database) == key


def test_another_key_is_refused(settings: Settings, database: Database, join: Join):
    join()
    with database.begin() as connection:
        connection.execute(sa.update(database_identity).values(key="another"))
    with pytest.raises(ForeignDatabaseError, match="does not belong to the data folder"):
        join()


def test_a_damaged_file_is_refused_with_what_to_do(settings: Settings, join: Join):
    def refusal(content: str) -> str:
        (settings.data_dir / "identity.json").write_text(content)
        with pytest.raises(ForeignDatabaseError) as refused:
            join()
        return str(refused.value)

    told = {content: refusal(content) for content in ("", "{", "[]", "{}", '{"key": "k", "kind": "sqlite"}')}
    expected = r"identity.json is damaged: .* Restore the file"
    assert {content: message for content, message in told.items() if not re.search(expected, message)} == {}


def test_an_empty_database_on_a_used_folder_is_refused(lonely: tuple[Settings, Database]):
    settings, database = lonely
    (settings.commands_dir / "0" / "1").mkdir(parents=True)
    with pytest.raises(ForeignDatabaseError, match=r"is empty, and the data folder .* holds files"):
        identity.check(settings, database)


def test_an_empty_database_on_a_folder_of_another_one_is_refused(lonely: tuple[Settings, Database]):
    settings, database = lonely
    settings.data_dir.mkdir()
    FolderIdentity("k", "postgresql", "svc at db.example.org").write(settings.data_dir)
    with pytest.raises(ForeignDatabaseError, match=r"belongs to svc at db.example.org: restore a backup"):
        identity.check(settings, database)


def test_postgresql_that_was_used_with_the_folder_before_there_were_keys_goes_on(
    lonely: tuple[Settings, Database],
):
    """A file of SQLite that was left from before does not stop it; one beside an empty PostgreSQL does."""
    settings, database = lonely
    settings.data_dir.mkdir()
    (settings.data_dir / "service.db").write_bytes(b"SQLite format 3\0")
    with pytest.raises(ForeignDatabaseError, match=r"belongs to the SQLite database service\.db in it"):
        identity.check(settings, database)
    migrations.upgrade(database)
    add_command(database, settings)
    identity.check(settings, database)


def test_a_database_is_named_without_its_password(tmp_path: Path):
    names = {
        "postgresql://svc:secret@db.example.org:6543/lake": "lake at db.example.org:6543",
        "postgres://svc:secret@db.example.org/lake": "lake at db.example.org",
        "postgresql:///lake?host=/run/pg": "lake at /run/pg",
    }
    found = {url: identity.name_of(Settings(data_dir=tmp_path, database_url=SecretStr(url))) for url in names}
    assert found == names


def test_commands_that_the_database_does_not_know_are_counted_and_no_id_of_them_is_given(
    settings: Settings, database: Database, join: Join
):
    known = add_command(database, settings)
    for name in (f"0/{known}-0a1b", "0/998", "0/999-0a1b", "1/1000-0a1b", "1/1001-0a1b", "1/log", "9/x"):
        (settings.commands_dir / name).mkdir(parents=True)
    with capture_logs() as logs:
        join()
    told = [entry for entry in logs if entry["event"] == "commands_unknown"]
    assert [(entry["count"], entry["highest_folder"]) for entry in told] == [(3, 1001)]
    assert add_command(database, settings) == 1002
    with capture_logs() as logs:
        join()
    assert logs == []


def test_ids_never_go_back(settings: Settings, database: Database, join: Join):
    known = add_command(database, settings, id=2000)
    with database.begin() as connection:
        go_above(connection, {commands: known})
    (settings.commands_dir / "0" / "7-0a1b").mkdir(parents=True)
    join()
    assert add_command(database, settings) == known + 1


def test_a_folder_without_any_number_shows_nothing(tmp_path: Path):
    (tmp_path / "commands" / "x").mkdir(parents=True)
    (tmp_path / "jupyter" / "1" / "users" / "x").mkdir(parents=True)
    assert highest_on_disk(tmp_path) == {}
    assert commands_on_disk(tmp_path / "commands", above=0) == set()


def test_looking_at_the_folders_of_many_commands_takes_only_the_newest(tmp_path: Path):
    """A start must not read a million names."""
    for parent in range(5):
        (tmp_path / "commands" / str(parent) / f"{parent}007-0a1b").mkdir(parents=True)
    oldest = tmp_path / "commands" / "0"
    oldest.joinpath("9999999-0a1b").mkdir()
    assert highest_on_disk(tmp_path)[commands] == 4007
