"""Which node command has a node: marks in the node's row, so that no two have the same one, and that a command finds
its nodes again after the service was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import sqlalchemy as sa

from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.clusters.tables import cluster_nodes

CLAIMED_BY: Final = "command_id"
"""Key in a node's details: the command that is adding or removing it now."""
ADDED_BY: Final = "added_by"
"""Key in a node's details: the command that added it; it stays."""
LEAVING: Final = "leaving"
"""Key in a node's details while it is to go: how, a `Manner`. A node's status only shows how far it has come."""


class Manner(StrEnum):
    """How a node goes."""

    GRACEFUL = "graceful"
    """When what runs there has ended, and nobody needs what is kept there."""
    AT_ONCE = "at_once"
    """Without waiting: an addition that is taken back; what runs there is run elsewhere again."""


def unclaimed(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that no command is adding or removing."""
    return [node for node in nodes if node.details.get(CLAIMED_BY) is None]


def claimed_by(nodes: Iterable[Node], command_id: int) -> Sequence[Node]:
    """Return the nodes that a command is adding or removing."""
    return [node for node in nodes if node.details.get(CLAIMED_BY) == command_id]


def claim(connection: sa.Connection, node_id: int, command_id: int) -> bool:
    """Mark a node as a command's; False when it is gone or another command has it."""
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
