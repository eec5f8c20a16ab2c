"""Sensors: check whether partitions or files exist."""

from __future__ import annotations

from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.sensors import Columns, SensorFlows


class AsyncSensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = SensorFlows(performer.link)

    async def partition(self, schema: str, table: str, columns: Columns) -> bool:
        """Return whether a Hive table has the partitions with these values; raises Invalid for a missing table."""
        return await self._performer.run(self._flows.partition(schema, table, columns))

    async def files(self, *locations: str) -> bool:
        """Return whether all these files and folders exist in the storage."""
        return await self._performer.run(self._flows.files(locations))
