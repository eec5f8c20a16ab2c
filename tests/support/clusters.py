"""Clusters for tests that are about something else: the default one is there, and nothing can start it."""

from __future__ import annotations

from svc_jupyter.service.access.accounts import ACCOUNT_ID
from svc_jupyter.service.clusters.first_clusters import DEFAULT, ensure_clusters
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.clusters.life_cycle import LifeCycle
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings


def gate_of(settings: Settings, database: Database, bus: Bus) -> ClusterGate:
    """Return a gate in front of the account's clusters; its life cycle has no engine."""
    return ClusterGate(database, bus, LifeCycle(settings, bus, {}, ()))


def make_default_cluster(database: Database) -> None:
    """Give the account its first cluster."""
    with database.begin() as connection:
        ensure_clusters(connection, ACCOUNT_ID, [DEFAULT])
