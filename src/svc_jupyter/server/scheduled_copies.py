"""The copies of local notebooks that schedules run: where they lie in the service, and whether they are still the same.

A schedule runs what the service has, so the notebook is copied there. Each schedule, each update of it and each run by
hand gets a copy in a folder of its own: `Users/<email>/Scheduled/<server>-<copy>/<local path>`. So a copy is never
written over, and its path tells which notebook of which Jupyter server it is of. Copies of earlier releases lie at
`Users/<email>/Scheduled/<local path>`; they are still found.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_FOLDER = "Scheduled"
_COPY_BYTES = 8


@dataclass(frozen=True)
class CopyPlaces:
    """Where one Jupyter server's copies lie among its user's; `server` is a name that no other server has."""

    email: str
    server: str

    @property
    def folder(self) -> str:
        """The folder that holds the folders of all copies."""
        return f"Users/{self.email}/{_FOLDER}"

    def new_folder(self) -> str:
        """Return a folder for one more copy, which nobody has yet."""
        return f"{self.folder}/{self.server}-{secrets.token_hex(_COPY_BYTES)}"

    def is_copy_of(self, local_path: str, place: object) -> bool:
        """Return whether what lies at a place is a copy of a local notebook."""
        if not isinstance(place, str):
            return False
        own = f"{self.folder}/{self.server}-"
        folder = own + place.removeprefix(own).partition("/")[0] if place.startswith(own) else self.folder
        return place == place_in(folder, local_path)

    def own(self, names: Iterable[str]) -> list[str]:
        """Return those of the names in `folder` that are folders of this server's copies."""
        return [name for name in names if name.startswith(f"{self.server}-")]


def place_in(folder: str, local_path: str) -> str:
    """Return where the copy of a local notebook lies in its folder."""
    return f"{folder}/{local_path.strip('/')}"


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
