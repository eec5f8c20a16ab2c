"""The copy of a local notebook that a schedule runs: where it lies in the service, and whether it is still the same.

A schedule runs what the service has, so the notebook is copied there, to `Users/<email>/Scheduled/<its local path>`.
The path tells which notebook a schedule belongs to; nothing else is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FOLDER = "Scheduled"


def place_of(email: str, local_path: str) -> str:
    """Return where the copy of a local notebook lies in the service."""
    return f"Users/{email}/{FOLDER}/{local_path.strip('/')}"


def parents_of(place: str) -> list[str]:
    """Return the folders above a place that may have to be made, outermost first, without the user's own."""
    parts = place.split("/")
    return ["/".join(parts[:end]) for end in range(3, len(parts))]


def same_to_run(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two notebooks run the same: cells and tags count, outputs and execution counts do not."""
    return _what_runs(one) == _what_runs(other)


def _what_runs(notebook: Mapping[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (cell.get("cell_type", ""), _text(cell.get("source", "")), tuple(_tags(cell)))
        for cell in notebook.get("cells", [])
    ]


def _text(source: Any) -> str:
    return "".join(source) if isinstance(source, list) else str(source)


def _tags(cell: Mapping[str, Any]) -> list[str]:
    tags = cell.get("metadata", {}).get("tags", [])
    return sorted(map(str, tags)) if isinstance(tags, list) else []
