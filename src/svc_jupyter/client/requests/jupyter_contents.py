"""Paths and bodies of notebooks, files and folders that are stored in the service."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

from svc_jupyter.api import paths
from svc_jupyter.client.errors import Invalid

_NOTEBOOK_SUFFIX = ".ipynb"


def resource(path: str) -> str:
    """Return the path of the call for contents; raises `Invalid` for `.` and `..`, which would name another route."""
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise Invalid(f"the path {path!r} must not hold '.' or '..'", status=422)
    return paths.api("/".join(("jupyter_notebooks/contents", *(quote(part, safe="@") for part in parts))))


def content_body(content: dict[str, Any] | str | bytes) -> dict[str, Any]:
    """Return the request body for a value: a dict as a notebook, a text, and bytes as base64."""
    if isinstance(content, bytes):
        return {"type": "file", "format": "base64", "content": b64encode(content).decode()}
    if isinstance(content, str):
        return {"type": "file", "format": "text", "content": content}
    return {"type": "notebook", "format": "json", "content": content}


def file_body(local: Path) -> dict[str, Any]:
    """Return the request body for a local file: a notebook as JSON, text as text, anything else as base64.

    Raises `OSError` when it cannot be read, `Invalid` for a notebook that is not JSON.
    """
    data = local.read_bytes()
    if local.name.endswith(_NOTEBOOK_SUFFIX):
        try:
            return content_body(json.loads(data))
        except ValueError as error:
            raise Invalid(f"{local} is not a notebook: it is not JSON ({error})", status=422) from error
    try:
        return content_body(data.decode())
    except UnicodeDecodeError:
        return content_body(data)
