"""Notebooks, files and folders that the service keeps."""

from __future__ import annotations

import asyncio
import builtins
from pathlib import Path
from typing import Any

from svc_jupyter.api.jupyter_contents import Contents, ContentsDeleted, ContentsFormat, ContentsType
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.jupyter_contents import ContentsFlows, content_body, file_body


class AsyncJupyterContents:
    """The service's notebooks, files and folders, as `client.jupyter_contents`.

    Paths begin with `Common`, which all share, or `Users/<e-mail>`.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = ContentsFlows(performer.link)

    async def get(
        self,
        path: str = "",
        *,
        content: bool = True,
        contents_type: ContentsType | None = None,
        contents_format: ContentsFormat | None = None,
        with_hash: bool = False,
    ) -> Contents:
        """Return a notebook, file or folder; without `content` only what is known of it."""
        return await self._performer.run(
            self._flows.get(
                path,
                content=content,
                contents_type=contents_type,
                contents_format=contents_format,
                with_hash=with_hash,
            )
        )

    async def list(self, path: str = "") -> builtins.list[Contents]:
        """Return what is in a folder, by name; without a path the roots."""
        return await self._performer.run(self._flows.list(path))

    async def create(
        self,
        folder: str,
        *,
        name: str | None = None,
        contents_type: ContentsType = "notebook",
        kernel: str | None = None,
        copy_from: str | None = None,
    ) -> Contents:
        """Make a notebook, or what `contents_type` says, or a copy, in a folder; without `name` under a free one."""
        return await self._performer.run(self._flows.create(folder, name, contents_type, kernel, copy_from))

    async def save(self, path: str, content: dict[str, Any] | str | bytes) -> Contents:
        """Store a notebook (a dict, as nbformat has it), a text or bytes at a path, in place of what is there."""
        return await self._performer.run(self._flows.save(path, content_body(content)))

    async def upload(self, local_path: str | Path, *, to: str) -> Contents:
        """Store a local file under the path `to`, or with its own name in the folder `to`; what is there is replaced.

        Raises `OSError` when it cannot be read, `Invalid` when it is a notebook only by its name.
        """
        local = Path(local_path)
        body = await asyncio.to_thread(file_body, local)
        return await self._performer.run(self._flows.upload(local.name, body, to))

    async def move(self, path: str, to: str) -> Contents:
        """Give a notebook, file or folder another path; `Invalid` when anything is there."""
        return await self._performer.run(self._flows.move(path, to))

    async def delete(self, path: str) -> ContentsDeleted:
        """Delete a notebook or file, or a folder with all that is in it."""
        return await self._performer.run(self._flows.delete(path))
