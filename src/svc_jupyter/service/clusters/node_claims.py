"""Marks in a node's row that assign it to a node command, so that no two commands have the same node and a command
finds its nodes again after the service was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import sqlalchemy as sa

from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.schema.clusters import cluster_nodes

CLAIMED_BY: Final = "command_id"
"""Key in a node's details: the command that is adding or removing it."""
ADDED_BY: Final = "added_by"
"""Key in a node's details: the command that added it; permanent."""
LEAVING: Final = "leaving"
"""Key in a node's details while it leaves: a `Manner`. The node's status only shows the progress."""


class Manner(StrEnum):
    """How a node leaves."""

    GRACEFUL = "graceful"
    """After its work has ended and the data on it are no longer needed."""
    AT_ONCE = "at_once"
    """Without waiting, when an addition is taken back; its work is repeated elsewhere."""


def unclaimed(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that no command is adding or removing."""
    return [node for node in nodes if node.details.get(CLAIMED_BY) is None]


def claimed_by(nodes: Iterable[Node], command_id: int) -> Sequence[Node]:
    """Return the nodes that a command is adding or removing."""
    return [node for node in nodes if node.details.get(CLAIMED_BY) == command_id]


def claim(connection: sa.Connection, node_id: int, command_id: int) -> bool:
    """Assign a node to a command; return False when the node is gone or belongs to another command."""
    query = sa.select(cluster_nodes.c.details).where(cluster_nodes.c.id == node_id).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        return False
    details = row.details or {}
    if details.get(CLAIMED_BY) not in {None, command_id}:
        return False
    values = {"details": {**details, CLAIMED_BY: command_id}}
    connection.execute(sa.update(cluster_nodes).where(cluster_nodes.c.id == node_id).values(values))
    return True
