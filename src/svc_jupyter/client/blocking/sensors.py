"""Sensors: check whether partitions or files exist."""
# Made from asynchronous/sensors.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.sensors import Columns, SensorFlows


class Sensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = SensorFlows(performer.link)

    def partition(self, schema: str, table: str, columns: Columns) -> bool:
        """Return whether a Hive table has the partitions with these values; raises Invalid for a missing table."""
        return self._performer.run(self._flows.partition(schema, table, columns))

    def files(self, *locations: str) -> bool:
        """Return whether all these files and folders exist in the storage."""
        return self._performer.run(self._flows.files(locations))
