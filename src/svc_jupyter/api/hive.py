"""Hive's schemas, tables and partitions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, RootModel

from svc_jupyter.api.fields import PagingInfo, Record, Request
from svc_jupyter.api.text import UNREADABLE

PROPERTIES_LIMIT = 100
PROPERTY_LIMIT = 4000
"""Characters of a property's value that the metastore's own database has room for."""
PropertyName = Annotated[str, Field(min_length=1, max_length=256, pattern=rf"^[^{UNREADABLE}]*$")]


class Column(Record):
    """A column of a table; partition columns come last."""

    name: str
    type: str
    comment: str | None = None


class HiveColumns(RootModel[list[Column]]):
    """The definition of a table."""


class HiveSchemas(Record):
    """One page of the names of schemas."""

    schemas: list[str]
    paging_info: PagingInfo | None = None


class HiveTables(Record):
    """One page of the names of a schema's tables."""

    tables: list[str]
    paging_info: PagingInfo | None = None


class HivePartition(Record):
    """A partition, such as `day=2026-11-21/region=EU`; `created_at` is ISO 8601 UTC with `Z`."""

    name: str
    values: dict[str, str | None] = Field(default_factory=dict)
    location: str | None = None
    created_at: str | None = None


class HivePartitions(Record):
    """One page of the partitions of a table, the highest first."""

    partitions: list[HivePartition]
    paging_info: PagingInfo | None = None


class HiveTableProperties(Record):
    """What the metastore knows of a table besides its columns; `properties` are its TBLPROPERTIES."""

    schema_: str | None = Field(default=None, alias="schema")
    table: str
    table_type: str | None = None
    owner: str | None = None
    location: str | None = None
    created_at: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    serde: str | None = None
    partition_columns: list[str] = Field(default_factory=list)
    properties: dict[str, str] = Field(default_factory=dict)


class PropertiesToSet(Request):
    """Properties of a table to add or change; the others stay."""

    properties: dict[PropertyName, Annotated[str, Field(max_length=PROPERTY_LIMIT, pattern=r"^[^\x00]*$")]] = Field(
        min_length=1, max_length=PROPERTIES_LIMIT
    )


class PropertiesToRemove(Request):
    """Names of properties to remove; one that is not there is no mistake."""

    properties: list[PropertyName] = Field(default_factory=list, max_length=PROPERTIES_LIMIT)
