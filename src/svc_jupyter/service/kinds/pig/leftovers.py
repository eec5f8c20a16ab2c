"""What a run leaves: its temporary files and, if it failed, what it had begun to store.

All or nothing: a failed script leaves no output, so that it can run again. The run records each location before it
writes there (`stores.json`), and only locations that did not exist; so nothing older is ever removed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from svc_jupyter.service.kinds.pig.job import SCRATCH_FILE, STORES_FILE


def begun_stores(folder: Path) -> list[str]:
    """Return the URIs that the attempt in a folder has begun to store."""
    try:
        told = json.loads((folder / STORES_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [str(location) for location in told]


def remove_scratch(folder: Path) -> None:
    """Remove the temporary files of the attempt in a folder; safe to repeat."""
    try:
        scratch = (folder / SCRATCH_FILE).read_text("utf-8").strip()
    except FileNotFoundError:
        return
    shutil.rmtree(scratch, ignore_errors=True)


def remove_local_stores(folder: Path) -> list[str]:
    """Remove what the attempt in a folder has begun to store on this machine; return the URIs that existed."""
    removed = []
    for location in begun_stores(folder):
        uri = urlsplit(location)
        path = Path(unquote(uri.path))
        if uri.scheme == "file" and path.exists():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            removed.append(location)
    return removed
