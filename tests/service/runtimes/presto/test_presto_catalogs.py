"""Catalogues that show the tables of DB taps."""

from __future__ import annotations

import pytest

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.db_taps.db_taps import OpenTap
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.ground.errors import NotFound
from svc_jupyter.service.runtimes.presto.configuration import connector, tap_catalogs
from svc_jupyter.sql_tokens import Dialect


def tap(target: str, engine: EngineName = EngineName.POSTGRESQL) -> OpenTap:
    return OpenTap(7, "shop", Connection("shop", engine.value, engine, Dialect.POSTGRESQL, "db:5432", target))


class Taps:
    """The account's taps: one."""

    def __init__(self, only: OpenTap) -> None:
        self._only = only

    async def opened(self, account_id: int, tap_id: int) -> OpenTap:
        if (account_id, tap_id) != (1, 7):
            raise NotFound(f"there is no DB tap {tap_id} in this account")
        return self._only


def test_a_tap_becomes_a_connector_with_its_login():
    found = connector("sales", tap("host='db.example' port='5433' dbname='a b' user='ann' password='p\\'w'"))
    assert found["connector.name"] == "postgresql"
    assert found["connection-url"] == "jdbc:postgresql://db.example:5433/a%20b"
    assert (found["connection-user"], found["connection-password"]) == ("ann", "p'w")


def test_a_tap_at_a_socket_of_this_machine_cannot_be_one():
    with pytest.raises(ClusterFailure, match=r"catalogue sales: DB tap 7 .* give the tap a db_host"):
        connector("sales", tap("host='/run/postgresql' dbname='x'"))


async def test_a_tap_of_another_database_or_none_is_reported_with_the_catalogue():
    with pytest.raises(ClusterFailure, match=r"catalogue sales: DB tap 7 \(shop\) is sqlite"):
        await tap_catalogs(Taps(tap("/x.db", EngineName.SQLITE)), 1, {"sales": 7})
    with pytest.raises(ClusterFailure, match="catalogue sales: there is no DB tap 8"):
        await tap_catalogs(Taps(tap("host='db'")), 1, {"sales": 8})
