"""A SQLite database copied to PostgreSQL, with rows in every table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from svc_jupyter.cli.main import main
from svc_jupyter.service.data_folder import at_start, copying
from svc_jupyter.service.data_folder.copying import CopyFailure
from svc_jupyter.service.data_folder.data_folder import DataFolder
from svc_jupyter.service.data_folder.identity import FolderIdentity, ForeignDatabaseError
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.identity import database_identity
from svc_jupyter.service.schema.metadata import metadata

FIRST, ROWS = 101, 3
GONE = 500
"""The id of a row that was there once."""


@pytest.fixture
def source(tmp_path: Path) -> Settings:
    """A data folder whose SQLite database has rows in every table."""
    settings = Settings(data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    database = Database(settings)
    migrations.upgrade(database)
    at_start.join(settings, database)
    with database.begin() as connection:
        connection.execute(sa.text("PRAGMA defer_foreign_keys=ON"))
        for table in metadata.sorted_tables:
            if table is not database_identity:
                connection.execute(sa.insert(table), [row_of(table, number) for number in range(ROWS)])
        connection.execute(sa.text("UPDATE sqlite_sequence SET seq = :gone WHERE name = 'commands'"), {"gone": GONE})
    database.close()
    return settings


@pytest.fixture
def target(source: Settings, empty_postgres_url: str) -> Settings:
    return source.model_copy(update={"database_url": SecretStr(empty_postgres_url)})


@pytest.fixture
def copied(target: Settings) -> Iterator[Database]:
    """The database that is copied to."""
    database = Database(target)
    yield database
    database.close()


def row_of(table: sa.Table, number: int) -> dict[str, Any]:
    return {column.name: value_of(column, number) for column in table.columns}


def value_of(column: sa.Column[Any], number: int) -> Any:
    """Return a value of the column's type, another one for each row; references lead to a row that comes later, too."""
    for key in column.foreign_keys:
        is_own = key.column.table is column.table
        if not isinstance(column.type, sa.String):
            return FIRST + (ROWS - 1 - number if is_own else number)
        return value_of(key.column, number)
    if isinstance(column.type, sa.Boolean):
        return number == 0
    if isinstance(column.type, sa.Integer):
        return FIRST + number
    if isinstance(column.type, sa.Float):
        return 1_700_000_000.123456 + number
    if isinstance(column.type, sa.JSON):
        return {"text": "Zoë\u2028\t", "numbers": [1, 2.5, None], "row": number}
    if isinstance(column.type, sa.LargeBinary):
        return bytes(range(256)) * (number + 1)
    assert isinstance(column.type, sa.String), column
    return f"{number} Zoë ☃ {column.name}"[: column.type.length or 40]


def rows_of(database: Database, table: sa.Table) -> list[tuple[Any, ...]]:
    with database.connect() as connection:
        return sorted((tuple(row) for row in connection.execute(sa.select(table))), key=repr)


def test_every_row_of_every_table_arrives_as_it_was(source: Settings, target: Settings, copied: Database):
    told: dict[str, int] = {}
    copying.copy(source, target, told.__setitem__)
    original = Database(source)
    try:
        with copied.connect() as connection:
            assert set(sa.inspect(connection).get_table_names()) == {*metadata.tables, "alembic_version"}
        for table in metadata.sorted_tables:
            rows = rows_of(original, table)
            assert rows_of(copied, table) == rows, table.name
            assert told[table.name] == len(rows) >= 1
    finally:
        original.close()


def test_ids_go_on_above_the_highest_that_was_ever_given(source: Settings, target: Settings, copied: Database):
    copying.copy(source, target, lambda *_: None)
    new = row_of(commands, 0) | {"child_number": None, "parent_id": None}
    del new["id"]
    with copied.begin() as connection:
        assert connection.execute(sa.insert(commands).values(new).returning(commands.c.id)).scalar_one() == GONE + 1


def test_references_are_as_strict_as_in_a_new_database(source: Settings, target: Settings, copied: Database):
    copying.copy(source, target, lambda *_: None)
    with copied.connect() as connection:
        late = connection.execute(sa.text("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND condeferrable"))
        assert late.scalar_one() == 0


def test_the_folder_belongs_to_the_copy_from_then_on(source: Settings, target: Settings):
    before = FolderIdentity.read(source.data_dir)
    assert before is not None
    copying.copy(source, target, lambda *_: None)
    after = FolderIdentity.read(source.data_dir)
    assert after is not None
    assert (after.key, after.kind) == (before.key, "postgresql")
    with pytest.raises(ForeignDatabaseError, match="set SVC_DATABASE_URL"):
        DataFolder(source).open()
    folder = DataFolder(target)
    folder.open()
    folder.close()


def test_a_database_that_holds_anything_is_refused_and_unharmed(source: Settings, target: Settings, copied: Database):
    with copied.begin() as connection:
        connection.execute(sa.text("CREATE TABLE theirs (id INTEGER)"))
    with pytest.raises(CopyFailure, match=r"is not empty: it has 1 tables, such as theirs; make a new one"):
        copying.copy(source, target, lambda *_: None)
    with copied.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["theirs"]
    told = FolderIdentity.read(source.data_dir)
    assert told is not None
    assert told.kind == "sqlite"


def test_a_row_that_is_not_taken_is_named_and_nothing_stays(source: Settings, target: Settings, copied: Database):
    original = Database(source)
    with original.begin() as connection:
        connection.execute(sa.update(commands).where(commands.c.id == FIRST).values(name="x" * 300))
    original.close()
    with pytest.raises(CopyFailure, match=r"a row of commands is not taken by PostgreSQL: value too long"):
        copying.copy(source, target, lambda *_: None)
    with copied.connect() as connection:
        assert sa.inspect(connection).get_table_names() == []


class TestOnTheCommandLine:
    @pytest.fixture(autouse=True)
    def _environment(self, source: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SVC_DATA_DIR", str(source.data_dir))
        monkeypatch.delenv("SVC_DATABASE_URL", raising=False)

    def test_it_shows_what_it_copied_and_what_to_do_next(
        self, empty_postgres_url: str, capsys: pytest.CaptureFixture[str]
    ):
        assert main(["database", "copy", "--to", empty_postgres_url]) == 0
        output = capsys.readouterr().out
        assert f"commands: {ROWS} rows" in output
        assert "start the service with SVC_DATABASE_URL set to it" in output

    def test_a_service_on_the_folder_comes_first(
        self, source: Settings, empty_postgres_url: str, capsys: pytest.CaptureFixture[str]
    ):
        folder = DataFolder(source)
        folder.open()
        try:
            assert main(["database", "copy", "--to", empty_postgres_url]) == 3
        finally:
            folder.close()
        assert "stop it first" in capsys.readouterr().err

    @pytest.mark.parametrize(("to", "told"), [([], "where to?"), (["--to", ""], "it is empty; unset it for SQLite")])
    def test_without_a_target_it_asks_for_one(self, to: list[str], told: str, capsys: pytest.CaptureFixture[str]):
        assert main(["database", "copy", *to]) == 2
        assert told in capsys.readouterr().err

    def test_without_a_database_there_is_nothing_to_copy(
        self, tmp_path: Path, empty_postgres_url: str, capsys: pytest.CaptureFixture[str]
    ):
        assert main(["database", "copy", "--to", empty_postgres_url, "--data-dir", str(tmp_path / "none")]) == 1
        assert "there is no SQLite database in the data folder" in capsys.readouterr().err
        assert not (tmp_path / "none").exists()


def test_a_table_that_is_not_known_is_not_forgotten(source: Settings, target: Settings):
    database = Database(source)
    with database.begin() as connection:
        connection.execute(sa.text("CREATE TABLE of_another_version (id INTEGER)"))
    database.close()
    with pytest.raises(CopyFailure, match="does not know: of_another_version"):
        copying.copy(source, target, lambda *_: None)
