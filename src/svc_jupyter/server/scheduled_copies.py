"""The copies of local notebooks that schedules run: their location in the service, and whether they are current.

A schedule runs what is stored in the service, so the notebook is copied there. Each schedule, each update of it and
each manual run gets a copy in a separate folder: `Users/<email>/Scheduled/<server>-<copy>/<local path>`. So a copy is
never overwritten, and its path identifies the notebook and the Jupyter server it came from.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_FOLDER = "Scheduled"
_COPY_BYTES = 8


@dataclass(frozen=True)
class CopyPaths:
    """The location of one Jupyter server's copies among its user's; `server` is unique to the server."""

    email: str
    server: str

    @property
    def folder(self) -> str:
        """The folder of the folders of all copies."""
        return f"Users/{self.email}/{_FOLDER}"

    def new_folder(self) -> str:
        """Return a new, unique folder for one more copy."""
        return f"{self.folder}/{self.server}-{secrets.token_hex(_COPY_BYTES)}"

    def is_copy_of(self, local_path: str, place: object) -> bool:
        """Return whether a path is that of a copy of a local notebook."""
        own = f"{self.folder}/{self.server}-"
        if not isinstance(place, str) or not place.startswith(own):
            return False
        return place == place_in(own + place.removeprefix(own).partition("/")[0], local_path)

    def own(self, names: Iterable[str]) -> list[str]:
        """Return the names in `folder` that are folders of this server's copies."""
        return [name for name in names if name.startswith(f"{self.server}-")]


def place_in(folder: str, local_path: str) -> str:
    """Return the path of a local notebook's copy in its folder."""
    return f"{folder}/{local_path.strip('/')}"


def parents_of(place: str) -> list[str]:
    """Return the folders above a path that may have to be created, outermost first, without the user's own."""
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
