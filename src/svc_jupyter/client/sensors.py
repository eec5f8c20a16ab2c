"""Sensors: whether something is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from svc_jupyter.api import paths
from svc_jupyter.api.sensors import SensorStatus
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

Columns = Mapping[str, str | Sequence[str]]
"""Values by the name of a partition column, several as a sequence."""


class _SensorFlows:
    """What both kinds of client say to the service's sensors."""

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


class Sensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _SensorFlows(client._link)

    def partition(self, schema: str, table: str, columns: Columns) -> bool:
        """Return whether a Hive table has the partitions of these values; Invalid for a missing table."""
        return self._client._run(self._flows.partition(schema, table, columns))

    def files(self, *locations: str) -> bool:
        """Return whether all these files and folders of the storage are there."""
        return self._client._run(self._flows.files(locations))


class AsyncSensors:
    """Sensors, as `client.sensors`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _SensorFlows(client._link)

    async def partition(self, schema: str, table: str, columns: Columns) -> bool:
        """Return whether a Hive table has the partitions of these values; Invalid for a missing table."""
        return await self._client._run(self._flows.partition(schema, table, columns))

    async def files(self, *locations: str) -> bool:
        """Return whether all these files and folders of the storage are there."""
        return await self._client._run(self._flows.files(locations))
