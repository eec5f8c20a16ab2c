from __future__ import annotations

import os
import socket
from dataclasses import replace

import psycopg
import pytest

from svc_jupyter.service.db_taps import table_lists
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.db_taps import OpenTap
from svc_jupyter.service.db_taps.table_lists import list_tables
from svc_jupyter.service.ground.errors import Invalid, Unavailable
from svc_jupyter.service.ground.settings import Settings


async def test_tables_and_views_of_every_schema_are_listed(workers, postgres_connection):
    with psycopg.connect(postgres_connection.target) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t (a int); CREATE VIEW v AS SELECT 1 AS a")
        connection.execute("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    found = await list_tables(OpenTap(1, "warehouse", postgres_connection), workers)
    assert [(table.schema_name, table.name, table.type) for table in found.tables] == [
        ("public", "m", "view"),
        ("public", "v", "view"),
        ("s", "t", "table"),
    ]


async def test_a_server_that_never_answers_is_not_waited_for(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(table_lists.tempfile, "tempdir", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        tap = TapAttributes("warehouse", "postgresql", db_host="127.0.0.1", port=port, password="geheim")
        connection = connection_of(tap, Settings(data_dir=tmp_path))
        with pytest.raises(Invalid) as refused:
            await list_tables(OpenTap(1, "warehouse", connection), workers, limit_seconds=0.5)
    assert refused.value.message == f"tap warehouse (postgresql) at 127.0.0.1:{port} did not answer within 0.5 s"
    assert list(tmp_path.iterdir()) == []


async def test_without_a_worker_the_service_is_reported_as_away(workers, postgres_connection):
    await workers.stop()
    with pytest.raises(Unavailable, match="the service is stopping"):
        await list_tables(OpenTap(1, "warehouse", postgres_connection), workers)


async def test_a_worker_that_is_killed_is_reported(workers, postgres_connection, monkeypatch):
    start = workers.start

    async def start_and_kill(job):
        process = await start(replace(job, connection=silent))
        os.killpg(process.pid, 9)
        return process

    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"host=127.0.0.1 port={server.getsockname()[1]}"
        silent = replace(postgres_connection, target=target)
        monkeypatch.setattr(workers, "start", start_and_kill)
        with pytest.raises(Invalid, match="tables of tap warehouse could not be listed"):
            await list_tables(OpenTap(1, "warehouse", postgres_connection), workers)
