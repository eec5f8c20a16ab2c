"""The clusters of sub-commands: each is UP before its sub-command's row is created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.database import Database


class ChildPlaces:
    """Finds the cluster that a sub-command needs, and waits for it."""

    def __init__(self, database: Database, gate: ClusterGate, kinds: Mapping[str, Kind]) -> None:
        self._database = database
        self._gate = gate
        self._kinds = kinds

    async def cluster_of(self, values: Mapping[str, Any]) -> int | None:
        """Return the id of the cluster that must be UP for the row of a sub-command, None where none is needed.

        Raises `Invalid` when no cluster can run it (any more).
        """
        kind = self._kinds[values["command_type"]]
        return await self._database.look_up(partial(self._gate.place, kind=kind, values=values))

    async def until_up(self, values: Mapping[str, Any], is_given_up: Callable[[], bool]) -> None:
        """Return once the cluster of a row is UP; start it when it is DOWN. Raises as `ClusterGate.until_up`."""
        await self._gate.until_up(values["cluster_id"], values["user_id"], is_given_up=is_given_up)

    def is_open(self, connection: sa.Connection, values: Mapping[str, Any]) -> bool:
        """Return whether the sub-command of a row may begin in this transaction."""
        cluster_id = values["cluster_id"]
        return cluster_id is None or self._gate.open_for(connection, cluster_id, values["user_id"])
