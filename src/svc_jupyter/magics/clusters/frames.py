"""Clusters and nodes as DataFrames, their state and health as fact tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from svc_jupyter.magics.display.frames import frame_of
from svc_jupyter.widgets.clusters.view import ClusterView, name_of, size_of, type_of
from svc_jupyter.widgets.clusters.words import doing, figures, health_entries, since, state_words, workers_line

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.clusters import ClusterNode, ClusterRecord

CLUSTER_COLUMNS = ("id", "label", "type", "state", "initial_nodes", "max_nodes", "labels")
NODE_COLUMNS = ("private_dns", "role", "status", "private_ip", "instance_type", "up")


def clusters_frame(records: Iterable[ClusterRecord]) -> pd.DataFrame:
    """Return a row per cluster."""
    rows = [
        (
            record.id,
            name_of(record),
            type_of(record),
            str(record.state),
            size_of(record, "initial_nodes"),
            size_of(record, "max_nodes"),
            list(record.label),
        )
        for record in records
    ]
    return frame_of(CLUSTER_COLUMNS, rows)


def nodes_frame(nodes: Iterable[ClusterNode], now: datetime) -> pd.DataFrame:
    """Return a row per node, the coordinator first; `up` is its uptime."""
    rows = [
        (
            node.private_dns,
            str(node.role),
            str(node.status),
            node.private_ip,
            node.instance_type,
            since(node.up_time, now),
        )
        for node in nodes
    ]
    return frame_of(NODE_COLUMNS, rows)


def state_facts(view: ClusterView, now: datetime) -> list[tuple[str, str]]:
    """Return the facts of a cluster's state."""
    facts = [("state", state_words(view, now)), ("type", view.type)]
    if told := doing(view):
        facts.append(("last" if view.phase == "DOWN" else "doing", told.removeprefix("Last: ")))
    if view.phase == "UP":
        facts.append(("workers", workers_line(view).removeprefix("Workers ")))
    return facts


def health_facts(view: ClusterView) -> list[tuple[str, str]]:
    """Return the state of each daemon, and the metrics."""
    facts = []
    for entry in health_entries(view):
        reason = f" ({entry.reason})" if entry.reason else ""
        facts.append((entry.name, f"{entry.dot} {entry.word}{reason}"))
    if view.health is not None:
        facts.append(("figures", " · ".join(figures(view))))
    return facts
