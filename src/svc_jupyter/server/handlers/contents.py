"""`uploads`, `downloads`: copies between the service's Jupyter notebooks and this server's files."""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError

from svc_jupyter.client.requests.jupyter_contents import resource
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service, without
from svc_jupyter.server.local_files import read_local, save_beside

_CREATED = 201


class UploadHandler(ServiceHandler):
    """Upload from this server to the service."""

    @asks_the_service
    async def post(self) -> None:
        """Store the local file `path` at `to` in the service: `{path, to}`; answer with the service's model."""
        path, to = _two_paths(self.body)
        model = await read_local(self.contents_manager, path)
        await self.pass_on(Call("PUT", resource(to), body=without(model, "name", "path")))


class DownloadHandler(ServiceHandler):
    """Download from the service to this server."""

    @asks_the_service
    async def post(self) -> None:
        """Store a copy of the service's `path` in the local folder `to`, under a free name; answer with its model."""
        path, folder = _two_paths(self.body)
        model = (await self.connection.answer(Call("GET", resource(path)))).json()
        if model["type"] == "directory":
            raise HTTPError(422, f"{path} is a directory; only notebooks and files can be opened as a copy")
        saved = await save_beside(self.contents_manager, model, folder)
        self.set_status(_CREATED)
        self.finish(saved)


def _two_paths(body: dict[str, Any]) -> tuple[str, str]:
    path, to = body.get("path"), body.get("to")
    if not isinstance(path, str) or not isinstance(to, str) or not path:
        raise HTTPError(422, "path and to must be paths")
    return path, to


CONTENTS_HANDLERS = (
    (r"uploads", UploadHandler),
    (r"downloads", DownloadHandler),
)
