"""Names of partitions, `day=2026-11-21/region=EU`, as Hive writes them in paths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final
from urllib.parse import unquote

DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
"""Stands for NULL and for the empty text."""
_ESCAPED: Final = re.compile(r"[\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
_WHOLE_NUMBERS: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")


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
