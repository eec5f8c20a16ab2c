"""Notebooks, files and folders stored in the service."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.jupyter_contents import Contents, ContentsDeleted, ContentsFormat, ContentsType
from svc_jupyter.client.errors import Invalid, NotFound, UnexpectedAnswer
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

_NOTEBOOK_SUFFIX = ".ipynb"


class ContentsFlows:
    """Requests about contents, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(
        self,
        path: str,
        *,
        content: bool = True,
        contents_type: ContentsType | None = None,
        contents_format: ContentsFormat | None = None,
        with_hash: bool = False,
    ) -> Flow[Contents]:
        params = {
            "content": None if content else 0,
            "type": contents_type,
            "format": contents_format,
            "hash": 1 if with_hash else None,
        }
        return fetch(self.link, Call("GET", resource(path), params), Contents)

    def list(self, path: str) -> Flow[list[Contents]]:
        folder = yield from self.get(path, contents_type="directory")
        if not isinstance(folder.content, list):
            raise UnexpectedAnswer(f"the service answered the folder {path!r} without what is in it")
        return [Contents.model_validate(child) for child in folder.content]

    def create(
        self, folder: str, name: str | None, contents_type: ContentsType, kernel: str | None, copy_from: str | None
    ) -> Flow[Contents]:
        fields = {"name": name, "type": contents_type, "kernel": kernel, "copy_from": copy_from}
        body = {field: value for field, value in fields.items() if value is not None}
        call = Call("POST", resource(folder), body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, Contents)

    def save(self, path: str, body: dict[str, Any]) -> Flow[Contents]:
        return fetch(self.link, Call("PUT", resource(path), body=body), Contents)

    def upload(self, name: str, body: dict[str, Any], to: str) -> Flow[Contents]:
        if to.endswith("/") or (yield from self._is_folder(to)):
            to = f"{to.rstrip('/')}/{name}"
        return (yield from self.save(to, body))

    def move(self, path: str, to: str) -> Flow[Contents]:
        return fetch(self.link, Call("PATCH", resource(path), body={"path": to}), Contents)

    def delete(self, path: str) -> Flow[ContentsDeleted]:
        return fetch(self.link, Call("DELETE", resource(path)), ContentsDeleted)

    def _is_folder(self, path: str) -> Flow[bool]:
        try:
            there = yield from self.get(path, content=False)
        except NotFound:
            return False
        return there.type == "directory"


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
