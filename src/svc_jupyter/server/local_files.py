"""Notebooks and files of this server, read through its contents manager."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from jupyter_server.utils import ensure_async
from tornado.web import HTTPError


class Files(Protocol):
    """The used part of Jupyter's contents manager, which may be synchronous or asynchronous."""

    def get(self, path: str, content: bool = True) -> Any:
        """Return a model."""

    def save(self, model: Mapping[str, Any], path: str) -> Any:
        """Store a model; return it without content."""

    def increment_filename(self, filename: str, path: str, insert: str) -> Any:
        """Return a free name in a folder."""


async def read_local(manager: Files, path: str) -> dict[str, Any]:
    """Return type, format and content of a saved file. Raises `HTTPError` 404 for a missing one, 422 for a folder."""
    model: dict[str, Any] = await ensure_async(manager.get(path, content=True))
    if model["type"] == "directory":
        raise HTTPError(422, f"{path} is a directory; only notebooks and files can be stored")
    return {key: model[key] for key in ("name", "path", "type", "format", "content")}


async def read_notebook(manager: Files, path: str) -> dict[str, Any]:
    """Return the JSON of a saved notebook. Raises `HTTPError` 404 for a missing one, 422 for another file."""
    model = await read_local(manager, path)
    if model["type"] != "notebook":
        raise HTTPError(422, f"{path} is not a notebook: only notebooks can be scheduled")
    content: dict[str, Any] = model["content"]
    return content


async def save_beside(manager: Files, model: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Store a model in a folder under a free name derived from its own; return name, path and type."""
    name = await ensure_async(manager.increment_filename(model["name"], folder, insert="-copy"))
    kept = {key: model[key] for key in ("type", "format", "content")}
    saved = await ensure_async(manager.save(kept, f"{folder.strip('/')}/{name}".lstrip("/")))
    return {key: saved[key] for key in ("name", "path", "type")}
