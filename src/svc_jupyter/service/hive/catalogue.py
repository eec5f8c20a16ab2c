"""Hive's schemas, tables and partitions, read from the metastore, whose exceptions become the service's.

Names of partitions, `day=2026-11-21/region=EU`, are as Hive writes them in paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from svc_jupyter.api.fields import PagingInfo
from svc_jupyter.api.hive import Column
from svc_jupyter.service.ground.errors import Invalid, NotFound, ServiceError, Unavailable
from svc_jupyter.service.hive.tables import Table, column_of, instant
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.runtimes.metastore.connections import HiveConnections

if TYPE_CHECKING:
    from pymetastore.hive_metastore.ThriftHiveMetastore import Client
    from pymetastore.hive_metastore.ttypes import Partition as ThriftPartition

Answer = TypeVar("Answer")
_SHOWN = 500
Record = dict[str, Any]
ALL: Final = -1
NAMES_AT_ONCE: Final = 500
"""Partitions that one call requests by name: each comes back with all its storage description."""
_OF_SCHEMA: Final = "SerDeException"
"""The metastore's error when it cannot read the schema that defines a table's columns."""
_NAME: Final = re.compile(r"\w{1,128}", re.ASCII)
DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
"""Stands for NULL and for the empty text."""
_ESCAPED: Final = re.compile(r"[\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
_WHOLE_NUMBERS: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")


class MetastoreError(Unavailable):
    """An internal error of the metastore."""


async def asked(hive: HiveConnections, question: Callable[[Client], Answer], missing: ServiceError) -> Answer:
    """Return the metastore's answer. Raises `missing` if the object does not exist.

    Raises `Invalid` when it refuses, and `Unavailable` for its internal errors.
    """
    return await hive.call(partial(_answer, question, missing))


def _answer(question: Callable[[Client], Answer], missing: ServiceError, client: Client) -> Answer:
    from pymetastore.hive_metastore import ttypes
    from thrift.protocol.TProtocol import TProtocolException
    from thrift.Thrift import TException
    from thrift.transport.TTransport import TTransportException

    try:
        return question(client)
    except (TTransportException, TProtocolException):
        raise
    except (ttypes.NoSuchObjectException, ttypes.UnknownDBException, ttypes.UnknownTableException) as error:
        raise missing from error
    except (ttypes.InvalidOperationException, ttypes.InvalidObjectException, ttypes.InvalidInputException) as error:
        raise Invalid(f"the Hive metastore refuses it: {_text(error)}") from error
    except TException as error:
        raise MetastoreError(f"the Hive metastore failed: {_text(error)}") from error


def _text(error: Exception) -> str:
    """Return the first line of an exception's message."""
    message = str(getattr(error, "message", None) or error).strip()
    return message.partition("\n")[0][:_SHOWN] or type(error).__name__


class Catalogue:
    """Queries the metastore. Names of schemas and tables are case-insensitive, as in Hive. All raise `Unavailable`."""

    def __init__(self, hive: HiveConnections) -> None:
        self._hive = hive

    async def schemas(self, page: Page, part: str | None = None) -> Record:
        """Return a page of the names of schemas that contain `part`."""
        names = await asked(self._hive, lambda client: client.get_all_databases(), NotFound("there are no schemas"))
        return _page_of("schemas", _with(part, names), page)

    async def tables(self, schema: str, page: Page, part: str | None = None) -> Record:
        """Return a page of the names of a schema's tables and views that contain `part`. Raises `NotFound`."""

        def question(client: Client) -> Any:
            client.get_database(schema.lower())
            return client.get_all_tables(schema.lower())

        missing = NotFound(f"there is no Hive schema {schema}")
        if not _NAME.fullmatch(schema):
            raise missing
        return _page_of("tables", _with(part, await asked(self._hive, question, missing)), page)

    async def table(self, schema: str, name: str, *, missing: ServiceError | None = None) -> Table:
        """Return a table or view. Raises `missing`, by default `NotFound`, if it does not exist."""

        def question(client: Client) -> Any:
            return client.get_table(schema.lower(), name.lower())

        return Table.of(await self.ask_about(schema, name, question, missing=missing))

    async def definition(self, schema: str, name: str) -> list[Column]:
        """Return a table's columns, then its partition columns.

        The columns of an AVRO table come from its AVRO schema. Raises `NotFound`, and `Invalid` for a schema that Hive
        cannot read.
        """
        table = await self.table(schema, name)
        if not table.is_read_from_avro:
            return table.definition()

        def question(client: Client) -> Any:
            return client.get_schema(table.schema, table.name)

        try:
            fields = await self.ask_about(table.schema, table.name, question)
        except MetastoreError as error:
            if _OF_SCHEMA not in error.message:
                raise
            reason = error.message.rpartition(_OF_SCHEMA)[2].strip()
            raise Invalid(f"the AVRO schema of {table.schema}.{table.name} cannot be read: {reason}") from error
        return list(map(column_of, fields))

    async def partitions(self, schema: str, name: str, page: Page) -> Record:
        """Return a page of a table's partitions, highest values first. Raises `NotFound`; `Invalid` if it has none."""
        table = await self.table(schema, name)
        if not table.partition_columns:
            raise Invalid(f"table {table.schema}.{table.name} has no partition columns")

        def question(client: Client) -> tuple[list[str], PagingInfo, list[ThriftPartition]]:
            names = sorted(partition_names(client, table), key=order_of, reverse=True)
            shown, paging_info = page.of(names)
            return shown, paging_info, named_partitions(client, table, shown)

        shown, paging_info, found = await self.ask_about(table.schema, table.name, question)
        by_values = {tuple(partition.values): partition for partition in found}
        records = [
            _partition_record(key, by_values[values])
            for key in shown
            if (values := tuple(values_in(key).values())) in by_values
        ]
        return {"partitions": records, "paging_info": paging_info}

    async def ask_about(
        self, schema: str, name: str, question: Callable[[Client], Any], *, missing: ServiceError | None = None
    ) -> Any:
        """Return the metastore's answer about a table. Raises `missing`, by default `NotFound`."""
        missing = missing or NotFound(f"there is no Hive table {schema}.{name}")
        if not (_NAME.fullmatch(schema) and _NAME.fullmatch(name)):
            raise missing
        return await asked(self._hive, question, missing)


def partition_names(client: Client, table: Table, first_values: Sequence[str] = ()) -> list[str]:
    """Return the names of a table's partitions that have these values in its columns, and perhaps more.

    An empty value matches any.
    """
    if any(first_values):
        names: list[str] = client.get_partition_names_ps(table.schema, table.name, list(first_values), ALL)
    else:
        names = client.get_partition_names(table.schema, table.name, ALL)
    return names


def named_partitions(client: Client, table: Table, names: Sequence[str]) -> list[ThriftPartition]:
    """Return the existing partitions among these names."""
    found: list[ThriftPartition] = []
    for start in range(0, len(names), NAMES_AT_ONCE):
        some = list(names[start : start + NAMES_AT_ONCE])
        found += client.get_partitions_by_names(table.schema, table.name, some)
    return found


def _partition_record(name: str, partition: ThriftPartition) -> Record:
    return {
        "name": name,
        "values": values_in(name),
        "location": partition.sd.location if partition.sd else None,
        "created_at": instant(partition.createTime),
    }


def _with(part: str | None, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not part or part.lower() in name)


def _page_of(plural: str, names: Sequence[str], page: Page) -> Record:
    shown, paging_info = page.of(names)
    return {plural: shown, "paging_info": paging_info}


def partition_name(columns: Sequence[str], values: Sequence[str]) -> str:
    """Return the name of the partition with these values."""
    return "/".join(
        f"{escaped(column.lower())}={escaped(value)}" for column, value in zip(columns, values, strict=True)
    )


def escaped(text: str) -> str:
    """Return a column's name or a value in the escaped form of partition names."""
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)


def values_in(name: str) -> dict[str, str]:
    """Return the values, by column, in the name of a partition."""
    parts = (part.partition("=") for part in name.split("/"))
    return {unquote(column): unquote(value) for column, _, value in parts}


def spellings(value: str, hive_type: str) -> list[str]:
    """Return the ways in which the metastore may have written a value of this type.

    Hive writes the number 3 as `3`, others write `03`, and a mask such as `%m` always has two digits.
    """
    if hive_type in _WHOLE_NUMBERS and _NUMBER.fullmatch(value):
        return list(dict.fromkeys((value, str(int(value)))))
    return [value]


def possible_names(types: Mapping[str, str], values: Mapping[str, str]) -> list[str]:
    """Return the possible names of the partition with these values of all columns; `types` is in Hive's order."""
    ways = product(*(spellings(values[column], hive_type) for column, hive_type in types.items()))
    return [partition_name(list(types), way) for way in ways]


def matches(types: Mapping[str, str], wanted: Mapping[str, str], name: str) -> bool:
    """Return whether the partition of this name has these values of some columns."""
    there = values_in(name)
    return all(there.get(column) in spellings(value, types[column]) for column, value in wanted.items())


def order_of(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names by their values: numbers as numbers, others as texts, NULL first."""
    return tuple(_rank(value) for value in values_in(name).values())


def _rank(value: str) -> tuple[int, int, str]:
    if value == DEFAULT_PARTITION:
        return (0, 0, "")
    if _NUMBER.fullmatch(value):
        return (1, int(value), value)
    return (2, 0, value)
