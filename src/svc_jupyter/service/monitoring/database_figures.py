"""The figures of the whole database. Each query reads what is current by an index, never what has ended."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from prometheus_client.core import GaugeMetricFamily

from svc_jupyter.api.states import ClusterState, CommandStatus
from svc_jupyter.service.database.database import database_clock
from svc_jupyter.service.schema.clusters import cluster_instances, cluster_nodes, clusters
from svc_jupyter.service.schema.commands import commands, replicas
from svc_jupyter.service.schema.schedules import AT_ONCE, schedules, service_leases

_OF_ALL = "; of the whole database, so equal on all replicas"
_C = commands.c
CURRENT_COMMANDS = (
    sa.select(_C.command_type, _C.status, sa.func.count().label("number"), sa.func.min(_C.created_at).label("oldest"))
    .where(_C.status.in_([CommandStatus.WAITING.value, CommandStatus.RUNNING.value]))
    .group_by(_C.command_type, _C.status)
)
DUE_SCHEDULE = sa.select(sa.func.min(schedules.c.due_at)).where(schedules.c.due_at > AT_ONCE)
NODES = (
    sa.select(cluster_nodes.c.status, sa.func.count().label("number"))
    .join(cluster_instances, cluster_instances.c.id == cluster_nodes.c.instance_id)
    .where(cluster_instances.c.state.in_([state.value for state in ClusterState if state is not ClusterState.DOWN]))
    .group_by(cluster_nodes.c.status)
)
_CLUSTERS = sa.select(clusters.c.state, sa.func.count().label("number")).group_by(clusters.c.state)
Labelled = Mapping[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """The figures of one moment; the keys are the values of the labels."""

    commands: Labelled
    oldest_waiting_seconds: float
    schedule_late_seconds: float
    replicas: Labelled
    lease_seconds: Labelled
    clusters: Labelled
    nodes: Labelled

    @classmethod
    def read(cls, connection: sa.Connection) -> DatabaseFigures:
        """Return the figures of now."""
        now, by_clock = time.time(), database_clock(connection)
        current = connection.execute(CURRENT_COMMANDS).all()
        waiting = [row.oldest for row in current if row.status == CommandStatus.WAITING]
        due_at = connection.execute(DUE_SCHEDULE).scalar()
        alive: dict[tuple[str, ...], float] = defaultdict(float)
        for until in connection.execute(sa.select(replicas.c.lease_until)).scalars():
            # On SQLite there is one replica, and its lease is the data folder's lock.
            alive[("alive" if connection.dialect.name == "sqlite" or until > by_clock else "expired",)] += 1
        leases = connection.execute(sa.select(service_leases.c.name, service_leases.c.until)).all()
        return cls(
            commands={(row.command_type, row.status): row.number for row in current},
            oldest_waiting_seconds=max(0.0, now - min(waiting)) if waiting else 0.0,
            schedule_late_seconds=0.0 if due_at is None else max(0.0, now - due_at),
            replicas=alive,
            lease_seconds={(row.name,): row.until - by_clock for row in leases},
            clusters={(row.state,): row.number for row in connection.execute(_CLUSTERS)},
            nodes={(row.status,): row.number for row in connection.execute(NODES)},
        )


def families(figures: DatabaseFigures | None) -> Iterable[GaugeMetricFamily]:
    """Yield the metrics; without values where there are no figures, since the database is away."""
    up = "Whether the database answered this process at the last look"
    yield GaugeMetricFamily("svc_database_up", up, value=0 if figures is None else 1)
    labelled = (
        ("svc_commands", "Waiting and running commands", ["command_type", "status"], "commands"),
        ("svc_replicas", "Replicas by their lease", ["lease"], "replicas"),
        ("svc_lease_seconds", "Seconds until a lease of one replica ends", ["name"], "lease_seconds"),
        ("svc_clusters", "Clusters by state", ["state"], "clusters"),
        ("svc_cluster_nodes", "Nodes of running clusters by status", ["status"], "nodes"),
    )
    for name, text, labels, field in labelled:
        family = GaugeMetricFamily(name, text + _OF_ALL, labels=labels)
        for values, number in {} if figures is None else getattr(figures, field).items():
            family.add_metric(values, number)
        yield family
    single = (
        ("svc_oldest_waiting_seconds", "How long the oldest waiting command has waited", "oldest_waiting_seconds"),
        ("svc_schedule_late_seconds", "How late the ticker is with the schedule due first", "schedule_late_seconds"),
    )
    for name, text, field in single:
        family = GaugeMetricFamily(name, text + _OF_ALL)
        if figures is not None:
            family.add_metric([], getattr(figures, field))
        yield family
