"""Sensors: whether data is there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from svc_jupyter.api.fields import Record, Request

FILES_LIMIT = 1000
COLUMNS_LIMIT = 32
VALUES_LIMIT = 1000
_WRITABLE = r"^[^\x00-\x1f\x7f]*$"


def _text(value: Any) -> Any:
    """A partition's value is a text in the metastore, and a number in many a client's JSON."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class SensorColumn(Request):
    """A partition column and the values that must be there."""

    column: str = Field(min_length=1, max_length=128, pattern=_WRITABLE)
    values: list[Annotated[str, BeforeValidator(_text), Field(min_length=1, max_length=4000, pattern=_WRITABLE)]] = (
        Field(min_length=1, max_length=VALUES_LIMIT)
    )


class PartitionSensor(Request):
    """Asks for partitions of a Hive table: every combination of the values must be there.

    Columns that are not named may have any value.
    """

    schema_: Annotated[str, Field(alias="schema", min_length=1, max_length=128)]
    table: str = Field(min_length=1, max_length=128)
    columns: list[SensorColumn] = Field(min_length=1, max_length=COLUMNS_LIMIT)


class FileSensor(Request):
    """Asks for files: each must be there, or be a folder with anything in it."""

    files: list[Annotated[str, Field(min_length=1, max_length=2048)]] = Field(min_length=1, max_length=FILES_LIMIT)


class SensorStatus(Record):
    """What a sensor found: a text, not a boolean."""

    status: Literal["true", "false"]
