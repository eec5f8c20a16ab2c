"""Looks up the partitions that actions wait for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from svc_jupyter.api.schedules import DependencyInfo
from svc_jupyter.service.ground.errors import Invalid, Unavailable
from svc_jupyter.service.hive.partition_names import values_in
from svc_jupyter.service.hive.partition_search import PartitionSearch
from svc_jupyter.service.schedules.dependencies import Needed


class HiveDependencies:
    """The `DependencyChecker` of partitions; finds nothing else."""

    def __init__(self, search: PartitionSearch) -> None:
        self._search = search

    async def check(self, account_id: int, info: DependencyInfo) -> None:  # noqa: ARG002  one metastore for all
        """Raise `Invalid` for a missing table, and a column that it is not partitioned by.

        Skips the check if the metastore is unavailable: the actions report it later.
        """
        for number, entry in enumerate(info.hive_tables):
            try:
                columns = [column.lower() for column in entry.columns]
                await self._search.check(entry.schema_, entry.name, columns)
            except Invalid as error:
                place = f"hive_tables.{number}"
                told = {f"dependency_info.{place}": error.message}
                raise Invalid(f"dependency_info: {place}: {error.message}", told) from error
            except Unavailable:
                return

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:  # noqa: ARG002  as above
        """Return the existing partitions. Raises `Invalid` for a table that is gone, and `Unavailable`."""
        by_table: defaultdict[tuple[str, str], list[Needed]] = defaultdict(list)
        for item in keys:
            if item.kind == "hive":
                schema, _, name = item.key.partition("/")[0].partition(".")
                by_table[schema, name].append(item)
        there: set[Needed] = set()
        for (schema, name), items in by_table.items():
            wanted = [values_in(item.key.partition("/")[2]) for item in items]
            answers = await self._search.found(schema, name, wanted)
            there.update(item for item, is_there in zip(items, answers, strict=True) if is_there)
        return there
