"""Sensors: check whether partitions or files exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.sensors import SensorStatus
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call


class AsyncSensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def partition(self, schema: str, table: str, columns: Mapping[str, str | Sequence[str]]) -> bool:
        """Return whether a Hive table has the partitions with these values; raises Invalid for a missing table.

        `columns` has the values by partition column, several as a sequence.
        """
        wanted = [
            {"column": name, "values": [values] if isinstance(values, str) else list(values)}
            for name, values in columns.items()
        ]
        return await self._holds("partition_sensor", {"schema": schema, "table": table, "columns": wanted})

    async def files(self, *locations: str) -> bool:
        """Return whether all these files and folders exist in the storage."""
        return await self._holds("file_sensor", {"files": list(locations)})

    async def _holds(self, sensor: str, body: dict[str, Any]) -> bool:
        answer = await self._sender.fetch(Call("POST", paths.api(f"sensors/{sensor}"), body=body), SensorStatus)
        return str(answer.status).lower() == "true"
