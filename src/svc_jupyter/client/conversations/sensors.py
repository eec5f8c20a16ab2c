"""Sensors: check whether partitions or files exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.sensors import SensorStatus
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link

Columns = Mapping[str, str | Sequence[str]]
"""Values by partition column, several as a sequence."""


class SensorFlows:
    """Requests to the sensors, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def partition(self, schema: str, table: str, columns: Columns) -> Flow[bool]:
        wanted = [{"column": name, "values": _values(values)} for name, values in columns.items()]
        return self._status("sensors/partition_sensor", {"schema": schema, "table": table, "columns": wanted})

    def files(self, locations: Sequence[str]) -> Flow[bool]:
        return self._status("sensors/file_sensor", {"files": list(locations)})

    def _status(self, path: str, body: dict[str, Any]) -> Flow[bool]:
        answer = yield from fetch(self.link, Call("POST", paths.api(path), body=body), SensorStatus)
        return str(answer.status).lower() == "true"


def _values(values: str | Sequence[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)
