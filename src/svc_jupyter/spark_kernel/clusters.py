"""Which cluster runs the cells of a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.widgets.clusters.view import name_of, type_of

if TYPE_CHECKING:
    from svc_jupyter.client import Client

_MARK = "svc_jupyter"


def note_of_notebook() -> int | None:
    """Return the note of which the kernel's notebook is a copy; None for any other notebook."""
    from svc_jupyter.magics.session.notebook import notebook_path

    path = notebook_path({})
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8") as file:
            metadata: Any = json.load(file)["metadata"]
        note = metadata[_MARK]["note"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return note if isinstance(note, int) else None


def label_for(client: Client, note: int | None, default: str | None) -> str:
    """Return the label of the note's cluster, or the default, or of the only Spark cluster.

    Raises SvcUsageError when there is none, or a choice of several; and the client's errors.
    """
    if note is not None and (bound := client.notes.get(note).cluster_id):
        return name_of(client.clusters.get(bound))
    if default:
        return default
    names = [name_of(one) for one in client.clusters.iter() if type_of(one) == "Spark"]
    if not names:
        raise SvcUsageError("the service has no Spark cluster. Make one, then run the cell again")
    if len(names) > 1:
        raise SvcUsageError(f"which cluster? There are {', '.join(sorted(names))}: choose with %%cluster NAME")
    return names[0]
