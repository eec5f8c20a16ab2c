"""Data folders of before there was Presto get a Presto cluster; nothing else of them changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service import migrations
from svc_jupyter.service.database import Database
from svc_jupyter.service.settings import Settings


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A data folder with an account and its first user, of before there was Presto."""
    database = Database(Settings(data_dir=tmp_path))
    upgrade_to(database, "0009")
    execute(database, "INSERT INTO accounts (id, name, features) VALUES (1, 'a', '{}')")
    execute(
        database,
        "INSERT INTO users (id, account_id, email, name, enabled, created_at) "
        "VALUES (7, 1, 'ann@example.com', '', 1, 0)",
    )
    yield database
    database.close()


def upgrade_to(database: Database, revision: str) -> None:
    with database.begin() as connection:
        config = migrations._config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def execute(database: Database, statement: str) -> None:
    with database.begin() as connection:
        connection.execute(sa.text(statement))


def add_cluster(database: Database, label: str, configuration: str = "{}") -> None:
    execute(
        database,
        "INSERT INTO clusters (id, account_id, user_id, created_at, configuration, state) "
        f"VALUES (1, 1, 7, 0, '{configuration}', 'DOWN')",
    )
    execute(
        database,
        f"INSERT INTO cluster_labels (account_id, label, cluster_id, position) VALUES (1, '{label}', 1, 0)",
    )


def presto_clusters(database: Database) -> list[tuple[int, str]]:
    """Return owner and label of each Presto cluster."""
    query = (
        "SELECT clusters.user_id, clusters.configuration, cluster_labels.label FROM clusters "
        "JOIN cluster_labels ON cluster_labels.cluster_id = clusters.id ORDER BY clusters.id"
    )
    with database.connect() as connection:
        rows = connection.execute(sa.text(query).columns(configuration=sa.JSON())).all()
    types = [(row, ClusterConfiguration.model_validate(row.configuration).cluster_type) for row in rows]
    return [(row.user_id, row.label) for row, kind in types if kind is ClusterType.PRESTO]


def test_an_older_data_folder_gets_a_presto_cluster(database: Database):
    add_cluster(database, "default")
    upgrade_to(database, "0010")
    assert presto_clusters(database) == [(7, "presto")]


def test_a_label_that_is_taken_stays_where_it_is(database: Database):
    add_cluster(database, "presto")
    upgrade_to(database, "0010")
    assert presto_clusters(database) == []


def test_who_configured_one_keeps_it_and_gets_no_other(database: Database):
    add_cluster(database, "fast", '{"presto_settings": {"enable_presto": true}}')
    upgrade_to(database, "0010")
    assert presto_clusters(database) == [(7, "fast")]


def test_an_account_without_clusters_is_left_to_the_start(database: Database):
    upgrade_to(database, "0010")
    assert presto_clusters(database) == []
