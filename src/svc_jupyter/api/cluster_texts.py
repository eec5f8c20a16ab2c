"""A cluster's labels, and the lines of its `custom_config`: texts of a configuration, and their form."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

LABEL_LIMIT = 255
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SETTING = re.compile(r"[A-Za-z][A-Za-z0-9_.*-]*")
_RESERVED = "reassign-label"
"""Stands where a cluster's label stands in a path."""


def is_label(text: str) -> bool:
    """Return whether a text has the form of a label; no cluster has any other."""
    return len(text) <= LABEL_LIMIT and _LABEL.fullmatch(text) is not None


def _check_label(value: str) -> str:
    if not is_label(value):
        raise ValueError(
            f"{value[:40]!r} is not a label: letters, digits, '_', '.', '-', not first a sign, "
            f"at most {LABEL_LIMIT} characters"
        )
    if value.isdigit() or value == _RESERVED:
        raise ValueError(f"{value!r} cannot be a label: it must differ from the ids of clusters and from {_RESERVED!r}")
    return value


def _labels(value: Any) -> Any:
    """One label may come as a text."""
    return [value] if isinstance(value, str) else value


def _check_labels(value: list[str]) -> list[str]:
    if len(set(value)) != len(value):
        raise ValueError("names a label twice")
    return value


def parse_custom_config(text: str | None) -> dict[str, str]:
    """Return the settings in `key=value` lines; blank lines and lines that begin with `#` say nothing.

    Raises `ValueError`, which names the line.
    """
    settings: dict[str, str] = {}
    for number, line in enumerate((text or "").splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        key, sign, value = stripped.partition("=")
        if not sign or not _SETTING.fullmatch(key.strip()):
            raise ValueError(f"line {number} is not of the form key=value")  # the line may hold a secret
        settings[key.strip()] = value.strip()
    return settings


def _check_custom_config(value: str) -> str:
    parse_custom_config(value)
    return value


ClusterLabel = Annotated[str, AfterValidator(_check_label)]
ClusterLabels = Annotated[
    list[ClusterLabel], BeforeValidator(_labels), AfterValidator(_check_labels), Field(max_length=50)
]
CustomConfig = Annotated[str, Field(max_length=65_536), AfterValidator(_check_custom_config)]
"""Lines `key=value` that go into the engine's configuration files."""
