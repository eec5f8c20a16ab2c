"""The interface between commands and the clusters that some of them need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Kind


class ClusterGate(Protocol):
    """Decides which cluster a command needs, and whether it may begin; implemented in `clusters/gate.py`."""

    async def cluster_for(
        self, kind: Kind, label: str | None, command: Mapping[str, Any], caller: Caller
    ) -> int | None:
        """Return the id of the cluster that must be UP for a command, None where none is needed.

        Raises `Invalid` for an unknown label or a cluster that cannot run the command, and `Forbidden` where the
        cluster's policy denies it.
        """
        ...

    def place(self, connection: sa.Connection, kind: Kind, values: Mapping[str, Any]) -> int | None:
        """Like `cluster_for`, with the rights of a row's owner and last editor; runs in its creating transaction."""
        ...

    def open_for(self, connection: sa.Connection, cluster_id: int, user_id: int) -> bool:
        """Return whether a user's command may begin now on a cluster; one that is DOWN is started."""
        ...

    async def until_up(self, cluster_id: int, user_id: int, *, is_given_up: Callable[[], bool]) -> None:
        """Return once a cluster is UP; one that is DOWN is started. Raises `ServiceError` when that fails."""

    def waits_for(self, connection: sa.Connection, cluster_id: int) -> str | None:
        """Return why a command waits for a cluster, as text for its record; None when the cluster is UP."""
        ...
