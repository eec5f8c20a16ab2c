"""Sensors: check whether partitions or files exist."""
# Made from asynchronous/sensors.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.sensors import SensorStatus
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call


class Sensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def partition(self, schema: str, table: str, columns: Mapping[str, str | Sequence[str]]) -> bool:
        """Return whether a Hive table has the partitions with these values; raises Invalid for a missing table.

        `columns` has the values by partition column, several as a sequence.
        """
        wanted = [
            {"column": name, "values": [values] if isinstance(values, str) else list(values)}
            for name, values in columns.items()
        ]
        return self._holds("partition_sensor", {"schema": schema, "table": table, "columns": wanted})

    def files(self, *locations: str) -> bool:
        """Return whether all these files and folders exist in the storage."""
        return self._holds("file_sensor", {"files": list(locations)})

    def _holds(self, sensor: str, body: dict[str, Any]) -> bool:
        answer = self._sender.fetch(Call("POST", paths.api(f"sensors/{sensor}"), body=body), SensorStatus)
        return str(answer.status).lower() == "true"
