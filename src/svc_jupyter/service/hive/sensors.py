"""Sensors: whether partitions or files exist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Final

from svc_jupyter.api.sensors import FileSensor, PartitionSensor, SensorColumn, SensorStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.hive.partitions import PartitionSearch
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

COMBINATIONS_LIMIT: Final = 10_000


class Sensors:
    """Evaluates sensors."""

    def __init__(self, search: PartitionSearch, storage: Storage) -> None:
        self._search = search
        self._storage = storage

    async def partitions(self, body: PartitionSensor, *, by: Caller) -> SensorStatus:
        """Return whether every combination of the values has a partition.

        Raises `Invalid` for a missing table, a column that it is not partitioned by, and too many
        combinations.
        """
        require(by, Action.CREATE, Resource.SENSOR)
        wanted = combinations(body.columns)
        return _status(all(await self._search.found(body.schema_, body.table, wanted)))

    async def files(self, body: FileSensor, *, by: Caller) -> SensorStatus:
        """Return whether all files exist. Raises `Invalid` with the reason why one cannot be checked."""
        require(by, Action.CREATE, Resource.SENSOR)
        with translated(StorageFailure, to=Invalid, about="files"):
            there = await self._storage.existing(by.account_id, set(body.files), or_folders=True)
        return _status(all(file in there for file in body.files))


def combinations(columns: Sequence[SensorColumn]) -> list[dict[str, str]]:
    """Return all combinations of the columns' values. Raises `Invalid` for too many, and a duplicate column."""
    names = [column.column.lower() for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"columns: {name} is given twice")
    count = math.prod(len(column.values) for column in columns)
    if count > COMBINATIONS_LIMIT:
        raise Invalid(f"columns: {count} combinations of values are more than {COMBINATIONS_LIMIT}")
    return [dict(zip(names, values, strict=True)) for values in product(*(column.values for column in columns))]


def _status(is_there: bool) -> SensorStatus:
    return SensorStatus(status="true" if is_there else "false")
