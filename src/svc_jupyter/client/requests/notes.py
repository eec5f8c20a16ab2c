"""Notes as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from svc_jupyter.client.errors import Invalid


def document_in(local: Path) -> dict[str, Any]:
    """Return the document in a `.zpln` or `.ipynb` file.

    Raises `OSError` when it cannot be read, `Invalid` when it is not JSON.
    """
    try:
        document = json.loads(local.read_bytes())
    except ValueError as error:
        raise Invalid(f"{local} is not a note: it is not JSON ({error})", status=422) from error
    if not isinstance(document, dict):
        raise Invalid(f"{local} is not a note: it is not a JSON object", status=422)
    return document
