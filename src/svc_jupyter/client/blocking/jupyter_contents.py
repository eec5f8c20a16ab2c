"""Notebooks, files and folders stored in the service."""
# Made from asynchronous/jupyter_contents.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

from svc_jupyter.api.jupyter_contents import Contents, ContentsDeleted, ContentsFormat, ContentsType
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.errors import NotFound, UnexpectedAnswer
from svc_jupyter.client.requests.jupyter_contents import content_body, file_body, resource
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.wire import idempotency


class JupyterContents:
    """The service's notebooks, files and folders, as `client.jupyter_contents`.

    Paths begin with `Common`, which all users share, or `Users/<e-mail>`.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

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
        params = {
            "content": None if content else 0,
            "type": contents_type,
            "format": contents_format,
            "hash": 1 if with_hash else None,
        }
        return self._sender.fetch(Call("GET", resource(path), params), Contents)

    def list(self, path: str = "") -> builtins.list[Contents]:
        """Return a folder's items, by name; without a path, the roots."""
        folder = self.get(path, contents_type="directory")
        if not isinstance(folder.content, list):
            raise UnexpectedAnswer(f"the service answered the folder {path!r} without what is in it")
        return [Contents.model_validate(child) for child in folder.content]

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
        body = given(name=name, type=contents_type, kernel=kernel, copy_from=copy_from)
        return self._sender.fetch(Call("POST", resource(folder), body=body, headers=idempotency()), Contents)

    def save(self, path: str, content: dict[str, Any] | str | bytes) -> Contents:
        """Store a notebook (an nbformat dict), a text or bytes at a path and replace existing content."""
        return self._put(path, content_body(content))

    def upload(self, local_path: str | Path, *, to: str) -> Contents:
        """Upload a local file to the path `to`, or under its own name into the folder `to`; replaces existing content.

        Raises `OSError` when it cannot be read, `Invalid` when a `.ipynb` file is not a notebook.
        """
        local = Path(local_path)
        body = file_body(local)
        if to.endswith("/") or self._is_folder(to):
            to = f"{to.rstrip('/')}/{local.name}"
        return self._put(to, body)

    def move(self, path: str, to: str) -> Contents:
        """Move a notebook, file or folder to another path; raises `Invalid` when the path is taken."""
        return self._sender.fetch(Call("PATCH", resource(path), body={"path": to}), Contents)

    def delete(self, path: str) -> ContentsDeleted:
        """Delete a notebook or file, or a folder with its contents."""
        return self._sender.fetch(Call("DELETE", resource(path)), ContentsDeleted)

    def _put(self, path: str, body: dict[str, Any]) -> Contents:
        return self._sender.fetch(Call("PUT", resource(path), body=body), Contents)

    def _is_folder(self, path: str) -> bool:
        try:
            there = self.get(path, content=False)
        except NotFound:
            return False
        return there.type == "directory"
