"""Notebooks, files and folders stored in the service."""

from __future__ import annotations

import asyncio
import builtins
from pathlib import Path
from typing import Any

from svc_jupyter.api.jupyter_contents import Contents, ContentsDeleted, ContentsFormat, ContentsType
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.errors import NotFound, UnexpectedAnswer
from svc_jupyter.client.requests.jupyter_contents import content_body, file_body, resource
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.wire import idempotency


class AsyncJupyterContents:
    """The service's notebooks, files and folders, as `client.jupyter_contents`.

    Paths begin with `Common`, which all users share, or `Users/<e-mail>`.
    """

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(
        self,
        path: str = "",
        *,
        content: bool = True,
        contents_type: ContentsType | None = None,
        contents_format: ContentsFormat | None = None,
        with_hash: bool = False,
    ) -> Contents:
        """Return a notebook, file or folder; without `content`, only its metadata."""
        params = {
            "content": None if content else 0,
            "type": contents_type,
            "format": contents_format,
            "hash": 1 if with_hash else None,
        }
        return await self._sender.fetch(Call("GET", resource(path), params), Contents)

    async def list(self, path: str = "") -> builtins.list[Contents]:
        """Return a folder's items, by name; without a path, the roots."""
        folder = await self.get(path, contents_type="directory")
        if not isinstance(folder.content, list):
            raise UnexpectedAnswer(f"the service answered the folder {path!r} without what is in it")
        return [Contents.model_validate(child) for child in folder.content]

    async def create(
        self,
        folder: str,
        *,
        name: str | None = None,
        contents_type: ContentsType = "notebook",
        kernel: str | None = None,
        copy_from: str | None = None,
    ) -> Contents:
        """Create a notebook, an item of `contents_type`, or a copy in a folder; without `name`, under a free one."""
        body = given(name=name, type=contents_type, kernel=kernel, copy_from=copy_from)
        return await self._sender.fetch(Call("POST", resource(folder), body=body, headers=idempotency()), Contents)

    async def save(self, path: str, content: dict[str, Any] | str | bytes) -> Contents:
        """Store a notebook (an nbformat dict), a text or bytes at a path and replace existing content."""
        return await self._put(path, content_body(content))

    async def upload(self, local_path: str | Path, *, to: str) -> Contents:
        """Upload a local file to the path `to`, or under its own name into the folder `to`; replaces existing content.

        Raises `OSError` when it cannot be read, `Invalid` when a `.ipynb` file is not a notebook.
        """
        local = Path(local_path)
        body = await asyncio.to_thread(file_body, local)
        if to.endswith("/") or await self._is_folder(to):
            to = f"{to.rstrip('/')}/{local.name}"
        return await self._put(to, body)

    async def move(self, path: str, to: str) -> Contents:
        """Move a notebook, file or folder to another path; raises `Invalid` when the path is taken."""
        return await self._sender.fetch(Call("PATCH", resource(path), body={"path": to}), Contents)

    async def delete(self, path: str) -> ContentsDeleted:
        """Delete a notebook or file, or a folder with its contents."""
        return await self._sender.fetch(Call("DELETE", resource(path)), ContentsDeleted)

    async def _put(self, path: str, body: dict[str, Any]) -> Contents:
        return await self._sender.fetch(Call("PUT", resource(path), body=body), Contents)

    async def _is_folder(self, path: str) -> bool:
        try:
            there = await self.get(path, content=False)
        except NotFound:
            return False
        return there.type == "directory"
