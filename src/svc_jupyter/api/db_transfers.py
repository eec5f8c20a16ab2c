"""Commands that move rows between a Hive table and a DB tap."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from svc_jupyter.api.commands import NoQuery
from svc_jupyter.api.fields import Id, Refused

_PART = r"^[A-Za-z_][A-Za-z0-9_$]*$"
_NAME = r"^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)?$"
_QUERY = 2
"""The mode of an import that reads a query's rows."""
_PARTITION = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.+?)\s*", re.DOTALL)
TableName = Annotated[str, Field(pattern=_NAME, max_length=255)]
"""`table` or `schema.table`."""
HiveFormat = Literal["parquet", "orc", "avro", "textfile", "sequencefile", "rcfile"]
"""In what format a Hive table is made."""
_OTHER_CLUSTER = Refused("the cluster of the command's label moves the rows, and no other one")
_NO_FOLDER = Refused("only a Hive table can be exported")


def partition_of(spec: str | None) -> dict[str, str]:
    """Return the columns and values of `day=2026-11-21/region=EU` (commas do as well). Raises `ValueError`."""
    found: dict[str, str] = {}
    for part in re.split(r"[/,]", spec) if spec else ():
        match = _PARTITION.fullmatch(part)
        if match is None or match[1] in found:
            raise ValueError("is not of the form column=value/column=value")
        found[match[1]] = match[2].strip("'\"")
    return found


class _TransferSubmission(NoQuery):
    """Fields of both directions. `schema` is that of a `db_table` without one of its own."""

    dbtap_id: Annotated[Id, Field(validation_alias=AliasChoices("dbtap_id", "db_tap_id"))]
    hive_table: TableName
    partition_spec: Annotated[str | None, Field(validation_alias=AliasChoices("partition_spec", "part_spec"))] = None
    db_table: TableName | None = None
    db_schema: Annotated[str | None, Field(alias="schema", pattern=_PART, max_length=255)] = None
    use_customer_cluster: Annotated[bool | None, _OTHER_CLUSTER] = None
    customer_cluster_label: Annotated[str | None, _OTHER_CLUSTER] = None
    additional_options: Annotated[str | None, Refused("options of Sqoop have no meaning here")] = None

    @property
    def whole_db_table(self) -> str | None:
        """The `db_table` with its schema, if any is given."""
        if self.db_schema is None or self.db_table is None or "." in self.db_table:
            return self.db_table
        return f"{self.db_schema}.{self.db_table}"

    @field_validator("partition_spec")
    @classmethod
    def _partition(cls, value: str | None) -> str | None:
        partition_of(value)
        return value


class DbExportSubmission(_TransferSubmission):
    """Fields of a `DbExportCommand`: a Hive table, or a partition of it, into a table that the tap has.

    `db_update_keys` names the columns, comma-separated, by which rows that are there are updated instead of added
    (`db_update_mode` `allowinsert`); they must be a unique key of the table.
    """

    mode: Literal[1, 2] = 1
    db_table: TableName
    db_update_mode: Literal["allowinsert", "updateonly"] | None = None
    db_update_keys: str | None = None
    export_dir: Annotated[str | None, _NO_FOLDER] = None
    fields_terminated_by: Annotated[str | None, _NO_FOLDER] = None

    @property
    def keys(self) -> list[str]:
        """The columns of `db_update_keys`."""
        return [name.strip() for name in (self.db_update_keys or "").split(",") if name.strip()]

    @field_validator("mode")
    @classmethod
    def _no_folder(cls, value: int) -> int:
        if value != 1:
            raise ValueError("2, the export of a folder, is not supported: export a Hive table by mode 1")
        return value

    @field_validator("db_update_mode")
    @classmethod
    def _inserts(cls, value: str | None) -> str | None:
        if value == "updateonly":
            raise ValueError("updateonly is not supported: rows with new keys are always added (allowinsert)")
        return value

    @model_validator(mode="after")
    def _keys_with_mode(self) -> DbExportSubmission:
        if bool(self.keys) != (self.db_update_mode is not None):
            raise ValueError("give db_update_mode and db_update_keys together, or none of them")
        if any(not re.fullmatch(_PART, key) for key in self.keys):
            raise ValueError("db_update_keys must be names of columns, comma-separated")
        return self


class DbImportSubmission(_TransferSubmission):
    """Fields of a `DbImportCommand`: a table of a tap (`mode` 1, with `db_where` some of its rows), or a query there
    (`mode` 2, `db_extract_query`), into a Hive table, which is made when it is not there, in the format `hive_serde`.

    A query's `$CONDITIONS`, which splits an import elsewhere, is true here: one connection reads all rows, of
    `db_parallelism` at most, whatever the `db_split_column`. In mode 2, `db_table` only names the source.
    """

    mode: Literal[1, 2] = 1
    db_where: Annotated[str | None, Field(validation_alias=AliasChoices("db_where", "where_clause"))] = None
    db_extract_query: str | None = None
    db_boundary_query: Annotated[str | None, Refused("an import is not split: give bounds in db_where")] = None
    db_split_column: str | None = None
    db_parallelism: Annotated[int, Field(ge=1)] | None = None
    hive_serde: HiveFormat | None = None

    @property
    def select(self) -> str:
        """The query at the tap."""
        if self.mode == _QUERY:
            return (self.db_extract_query or "").replace("$CONDITIONS", "(1 = 1)")
        where = f" WHERE {self.db_where}" if self.db_where else ""
        return f"SELECT * FROM {self.whole_db_table}{where}"  # noqa: S608  the user's own query

    @field_validator("hive_serde", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _of_its_mode(self) -> DbImportSubmission:
        if self.mode == 1 and (not self.db_table or self.db_extract_query):
            raise ValueError("mode 1 imports db_table; a db_extract_query needs mode 2")
        if self.mode == _QUERY and (self.db_where or not (self.db_extract_query or "").strip()):
            raise ValueError("mode 2 imports the rows of db_extract_query, without db_where")
        return self
