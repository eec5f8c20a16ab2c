"""The schema, step by step, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from pydantic import SecretStr
from tests.service.conftest import DATABASES

from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.metadata import metadata
from svc_jupyter.service.schema.workspace import note_revisions
from svc_jupyter.service.workspace.note_documents import packed

Open = Callable[[], Database]


@pytest.fixture(params=DATABASES)
def open_empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens a database that is empty at first."""
    if request.param == "postgresql":
        url = SecretStr(request.getfixturevalue("empty_postgres_url"))
        settings = Settings(data_dir=tmp_path, database_url=url)
    else:
        settings = Settings(data_dir=tmp_path)
    opened: list[Database] = []

    def open_empty() -> Database:
        opened.append(Database(settings))
        return opened[-1]

    yield open_empty
    for database in opened:
        database.close()


def upgrade_to(connection: sa.Connection, revision: str) -> None:
    config = migrations._config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def revision_of(database: Database) -> str:
    with database.connect() as connection:
        return str(connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one())


def test_an_empty_database_gets_the_schema_of_the_tables(open_empty: Open):
    database = open_empty()
    migrations.upgrade(database)
    with database.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": metadata}
        )
        assert compare_metadata(context, metadata) == []
    assert revision_of(database) == migrations.HEAD


def test_on_sqlite_the_ids_that_are_never_given_twice_are_those_of_the_tables(tmp_path):
    """What a policy or the audit log names by its id must not come to be another object."""
    database = Database(Settings(data_dir=tmp_path))
    try:
        migrations.upgrade(database)
        with database.connect() as connection:
            found = connection.execute(sa.text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'"))
            never_twice = set(found.scalars()) - {"sqlite_sequence"}
    finally:
        database.close()
    wanted = {table.name for table in metadata.tables.values() if table.dialect_options["sqlite"]["autoincrement"]}
    assert never_twice == wanted
    assert {"notes", "folders", "schedules"} <= wanted


def test_the_newest_revision_is_the_one_the_service_knows():
    script = ScriptDirectory.from_config(migrations._config())
    assert script.get_heads() == [migrations.HEAD]
    assert [item.revision for item in script.walk_revisions()][-1] == migrations._FIRST


def test_a_current_database_is_left_alone(open_empty: Open, monkeypatch: pytest.MonkeyPatch):
    database = open_empty()
    migrations.upgrade(database)
    monkeypatch.setattr(migrations, "_config", lambda: pytest.fail("loaded Alembic"))
    migrations.upgrade(database)


def test_a_newer_database_is_refused_and_unharmed(open_empty: Open):
    database = open_empty()
    migrations.upgrade(database)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(RuntimeError, match=r"revision 9999.*made by a newer svc-jupyter; upgrade this installation"):
        migrations.upgrade(database)
    assert revision_of(database) == "9999"


def test_a_database_of_before_the_first_release_is_refused_in_words_and_unharmed(open_empty: Open):
    database = open_empty()
    migrations.upgrade(database)
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0012'"))
    with pytest.raises(RuntimeError, match=r"before the first release.*Start with another --data-dir"):
        migrations.upgrade(database)
    assert revision_of(database) == "0012"


def test_notes_of_an_older_version_are_found_by_their_newest_text(open_empty: Open):
    database = open_empty()
    documents = [
        {"paragraphs": [{"id": "p", "text": "former"}]},
        {
            "paragraphs": [
                {"id": "p", "title": "Für", "text": "%sql SELECT 1\0"},
                {"id": "q"},
                {"id": "r", "text": None},
            ]
        },
    ]
    with database.begin() as connection:
        upgrade_to(connection, "0020")
    with database.begin() as connection:
        for statement in (
            "INSERT INTO accounts (id, name, features) VALUES (1, 'a', '{}')",
            "INSERT INTO users (id, account_id, email, name, enabled, created_at)"
            " VALUES (1, 1, 'ann@example.org', 'Ann', true, 0)",
            "INSERT INTO folders (id, account_id, type, root_of, name, created_at) VALUES (1, 1, 'notes', 0, '', 0)",
            "INSERT INTO notes (id, account_id, folder_id, name, note_type, user_id, created_at, updated_by,"
            " updated_at, version, revision) VALUES (7, 1, 1, 'n', 'spark', 1, 0, 1, 0, 5, 2)",
        ):
            connection.execute(sa.text(statement))
        for number, document in enumerate(documents, 1):
            values = {
                "note_id": 7,
                "number": number,
                "user_id": 1,
                "created_at": 0,
                "size": 1,
                "document": packed(document)[0],
            }
            connection.execute(sa.insert(note_revisions).values(values))
    migrations.upgrade(database)
    with database.connect() as connection:
        assert connection.execute(sa.text("SELECT note_id, text FROM note_texts")).all() == [
            (7, "für\n%sql select 1\ufffd")
        ]


def test_replicas_that_start_together_migrate_once(empty_postgres_url: str, tmp_path: Path):
    settings = Settings(data_dir=tmp_path, database_url=SecretStr(empty_postgres_url))
    replicas = [Database(settings) for _ in range(4)]
    barrier = Barrier(len(replicas))

    def prepare(database: Database) -> int:
        barrier.wait(10)
        migrations.upgrade(database)
        with database.begin() as connection:
            return ensure_account(connection, settings)

    try:
        with ThreadPoolExecutor(len(replicas)) as pool:
            assert list(pool.map(prepare, replicas)) == [1] * 4
        assert revision_of(replicas[0]) == migrations.HEAD
        with replicas[0].connect() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM users")).scalar() == 1
    finally:
        for database in replicas:
            database.close()


def test_a_step_that_fails_changes_nothing(open_empty: Open):
    """A half-migrated database would be neither the old version's nor the new one's."""
    database = open_empty()
    with database.begin() as connection:
        connection.execute(sa.text("CREATE TABLE notification_outbox (id INTEGER)"))
    with pytest.raises(sa.exc.DBAPIError, match="already exists"):
        migrations.upgrade(database)
    with database.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["notification_outbox"]
