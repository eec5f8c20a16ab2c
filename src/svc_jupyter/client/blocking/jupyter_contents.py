"""Notebooks, files and folders stored in the service."""
# Made from asynchronous/jupyter_contents.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

from svc_jupyter.api.jupyter_contents import Contents, ContentsDeleted, ContentsFormat, ContentsType
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.jupyter_contents import ContentsFlows, content_body, file_body


class JupyterContents:
    """The service's notebooks, files and folders, as `client.jupyter_contents`.

    Paths begin with `Common`, which all users share, or `Users/<e-mail>`.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = ContentsFlows(performer.link)

    def get(
        self,
        path: str = "",
        *,
        content: bool = True,
        contents_type: ContentsType | None = None,
        contents_format: ContentsFormat | None = None,
        with_hash: bool = False,
    ) -> Contents:
        """Return a notebook, file or folder; without `content`, only its metadata."""
        return self._performer.run(
            self._flows.get(
                path,
                content=content,
                contents_type=contents_type,
                contents_format=contents_format,
                with_hash=with_hash,
            )
        )

    def list(self, path: str = "") -> builtins.list[Contents]:
        """Return a folder's items, by name; without a path, the roots."""
        return self._performer.run(self._flows.list(path))

    def create(
        self,
        folder: str,
        *,
        name: str | None = None,
        contents_type: ContentsType = "notebook",
        kernel: str | None = None,
        copy_from: str | None = None,
    ) -> Contents:
        """Create a notebook, an item of `contents_type`, or a copy in a folder; without `name`, under a free one."""
        return self._performer.run(self._flows.create(folder, name, contents_type, kernel, copy_from))

    def save(self, path: str, content: dict[str, Any] | str | bytes) -> Contents:
        """Store a notebook (an nbformat dict), a text or bytes at a path and replace existing content."""
        return self._performer.run(self._flows.save(path, content_body(content)))

    def upload(self, local_path: str | Path, *, to: str) -> Contents:
        """Upload a local file to the path `to`, or under its own name into the folder `to`; replaces existing content.

        Raises `OSError` when it cannot be read, `Invalid` when a `.ipynb` file is not a notebook.
        """
        local = Path(local_path)
        body = file_body(local)
        return self._performer.run(self._flows.upload(local.name, body, to))

    def move(self, path: str, to: str) -> Contents:
        """Move a notebook, file or folder to another path; raises `Invalid` when the path is taken."""
        return self._performer.run(self._flows.move(path, to))

    def delete(self, path: str) -> ContentsDeleted:
        """Delete a notebook or file, or a folder with its contents."""
        return self._performer.run(self._flows.delete(path))
