"""Checks whether partitions exist: many at once, with as few metastore calls as possible.

So schedules find what their actions wait for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from svc_jupyter.api.schedules import DependencyInfo
from svc_jupyter.service.ground.errors import Invalid, Unavailable
from svc_jupyter.service.hive.catalogue import (
    Catalogue,
    matches,
    named_partitions,
    partition_name,
    partition_names,
    possible_names,
    values_in,
)
from svc_jupyter.service.hive.tables import Table
from svc_jupyter.service.schedules.dependencies import Needed

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client

Values = Mapping[str, str]
"""Values of partition columns, by lower-case names. A column without a value may have any."""


class PartitionSearch:
    """Looks up partitions."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def check(self, schema: str, name: str, columns: Sequence[str]) -> None:
        """Raise `Invalid` for a missing table, and for a column that it is not partitioned by."""
        table = await self._catalogue.table(schema, name, missing=_missing(schema, name))
        _check(table, dict.fromkeys(columns, ""))

    async def found(self, schema: str, name: str, wanted: Sequence[Values]) -> list[bool]:
        """Return for each whether such a partition exists. Raises as `check` does, and `Unavailable`."""

        def question(client: Client) -> list[bool]:
            # All in one call of a thread: the switch costs as much as a query.
            table = Table.of(client.get_table(schema.lower(), name.lower()))
            for values in wanted:
                _check(table, values)
            return _looked_up(client, table, wanted)

        answers: list[bool] = await self._catalogue.ask_about(schema, name, question, missing=_missing(schema, name))
        return answers


def _looked_up(client: Client, table: Table, wanted: Sequence[Values]) -> list[bool]:
    types = table.partition_types
    possible = [possible_names(types, values) if len(values) == len(types) else None for values in wanted]
    names = list(dict.fromkeys(name for some in possible for name in some or ()))
    there = {partition_name(list(types), found.values) for found in named_partitions(client, table, names)}
    return [
        _has_any(client, table, values) if some is None else not there.isdisjoint(some)
        for values, some in zip(wanted, possible, strict=True)
    ]


def _has_any(client: Client, table: Table, values: Values) -> bool:
    """Request the names that the metastore considers a match, and check them: it matches by patterns."""
    types = table.partition_types
    asked = [
        value if hive_type == "string" and _is_plain(value := values.get(column, "")) else ""
        for column, hive_type in types.items()
    ]
    return any(matches(types, values, name) for name in partition_names(client, table, asked))


def _check(table: Table, values: Values) -> None:
    if not table.partition_columns:
        raise Invalid(f"table {table.schema}.{table.name} has no partition columns")
    for column in values:
        if column not in table.partition_types:
            is_there = any(item.name.lower() == column for item in table.definition())
            kind = "partition column" if is_there else "column"
            by = ", ".join(table.partition_types)
            name = f"{table.schema}.{table.name}"
            raise Invalid(f"columns: {column} is not a {kind} of {name}, which is partitioned by {by}")


def _missing(schema: str, name: str) -> Invalid:
    return Invalid(f"there is no Hive table {schema}.{name}")


def _is_plain(value: str) -> bool:
    """Return whether a value is literal in a pattern; the metastore's patterns are of more than one kind."""
    return value.replace("-", "").isalnum() and value.isascii()


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
                fields = {f"dependency_info.{place}": error.message}
                raise Invalid(f"dependency_info: {place}: {error.message}", fields) from error
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
