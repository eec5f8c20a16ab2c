"""Commands that move rows between a Hive table and a DB tap."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from svc_jupyter.api.fields import Id, Request

_NAME = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$"
_PARTITION = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.+?)\s*", re.DOTALL)
TableName = Annotated[str, Field(pattern=_NAME, max_length=255)]
"""`table` or `schema.table`."""


def partition_of(spec: str | None) -> dict[str, str]:
    """Return the columns and values of `day=2026-11-21/region=EU` (commas do as well). Raises `ValueError`."""
    found: dict[str, str] = {}
    for part in re.split(r"[/,]", spec) if spec else ():
        match = _PARTITION.fullmatch(part)
        if match is None or match[1] in found:
            raise ValueError("is not of the form column=value/column=value")
        found[match[1]] = match[2].strip("'\"")
    return found


def _check_partition(value: str | None) -> str | None:
    partition_of(value)
    return value


class DbExportSubmission(Request):
    """Fields of a `DbExportCommand`: a Hive table, or a partition of it, into a table that the tap has.

    `db_update_keys` names the columns, comma-separated, by which rows that are there are updated instead of added
    (`db_update_mode` `allowinsert`); they must be a unique key of the table.
    """

    mode: Literal[1] = 1
    dbtap_id: Annotated[Id, Field(validation_alias=AliasChoices("dbtap_id", "db_tap_id"))]
    hive_table: TableName
    partition_spec: str | None = None
    db_table: TableName
    db_update_mode: Literal["allowinsert"] | None = None
    db_update_keys: str | None = None

    @property
    def keys(self) -> list[str]:
        """The columns of `db_update_keys`."""
        return [name.strip() for name in (self.db_update_keys or "").split(",") if name.strip()]

    @field_validator("partition_spec")
    @classmethod
    def _partition(cls, value: str | None) -> str | None:
        return _check_partition(value)

    @model_validator(mode="after")
    def _keys_with_mode(self) -> DbExportSubmission:
        if bool(self.keys) != (self.db_update_mode is not None):
            raise ValueError("give db_update_mode and db_update_keys together, or none of them")
        if any(not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$]*", key) for key in self.keys):
            raise ValueError("db_update_keys must be names of columns, comma-separated")
        return self


class DbImportSubmission(Request):
    """Fields of a `DbImportCommand`: a table of a tap (`mode` 1, with `db_where` some of its rows), or a query there
    (`mode` 2, `db_extract_query`), into a Hive table, which is made when it is not there.
    """

    mode: Literal[1, 2] = 1
    dbtap_id: Annotated[Id, Field(validation_alias=AliasChoices("dbtap_id", "db_tap_id"))]
    hive_table: TableName
    partition_spec: str | None = None
    db_table: TableName | None = None
    db_where: Annotated[str | None, Field(validation_alias=AliasChoices("db_where", "where_clause"))] = None
    db_extract_query: str | None = None

    @field_validator("partition_spec")
    @classmethod
    def _partition(cls, value: str | None) -> str | None:
        return _check_partition(value)

    @model_validator(mode="after")
    def _of_its_mode(self) -> DbImportSubmission:
        if self.mode == 1 and (not self.db_table or self.db_extract_query):
            raise ValueError("mode 1 imports db_table; a db_extract_query needs mode 2")
        if self.mode == 2 and (self.db_table or self.db_where or not (self.db_extract_query or "").strip()):
            raise ValueError("mode 2 imports the rows of db_extract_query, without db_table and db_where")
        return self
