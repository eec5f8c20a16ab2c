"""Notebooks, files and folders that the service keeps."""
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

    Paths begin with `Common`, which all share, or `Users/<e-mail>`.
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
        """Return a notebook, file or folder; without `content` only what is known of it."""
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
        """Return what is in a folder, by name; without a path the roots."""
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
        """Make a notebook, or what `contents_type` says, or a copy, in a folder; without `name` under a free one."""
        return self._performer.run(self._flows.create(folder, name, contents_type, kernel, copy_from))

    def save(self, path: str, content: dict[str, Any] | str | bytes) -> Contents:
        """Store a notebook (a dict, as nbformat has it), a text or bytes at a path, in place of what is there."""
        return self._performer.run(self._flows.save(path, content_body(content)))

    def upload(self, local_path: str | Path, *, to: str) -> Contents:
        """Store a local file under the path `to`, or with its own name in the folder `to`; what is there is replaced.

        Raises `OSError` when it cannot be read, `Invalid` when it is a notebook only by its name.
        """
        local = Path(local_path)
        body = file_body(local)
        return self._performer.run(self._flows.upload(local.name, body, to))

    def move(self, path: str, to: str) -> Contents:
        """Give a notebook, file or folder another path; `Invalid` when anything is there."""
        return self._performer.run(self._flows.move(path, to))

    def delete(self, path: str) -> ContentsDeleted:
        """Delete a notebook or file, or a folder with all that is in it."""
        return self._performer.run(self._flows.delete(path))
