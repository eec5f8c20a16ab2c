"""`folders`: folders of notes and dashboards."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import ServiceHandler, asks_the_service


class FoldersHandler(ServiceHandler):
    """A folder's contents; creating and deleting folders."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with the folders and notes, or dashboards, of `location` and `type`."""
        await self.pass_on(Call("GET", paths.api("folders"), self.query))

    @asks_the_service
    async def post(self) -> None:
        """Create a folder: `{name, location, type}`."""
        await self.pass_on(Call("POST", paths.api("folders"), body=self.body))

    @asks_the_service
    async def delete(self) -> None:
        """Delete a folder: `{folder_id, location, type}`, in the body or the query."""
        await self.pass_on(Call("DELETE", paths.api("folders/delete"), body={**self.query, **self.body}))


class FolderDeletionHandler(ServiceHandler):
    """What deleting a folder would delete."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with the counts for the folder of `location` or `folder_id` and `type`."""
        await self.pass_on(Call("GET", paths.api("folders/delete"), self.query))


class FolderMoveHandler(ServiceHandler):
    """Moving a folder."""

    @asks_the_service
    async def post(self) -> None:
        """Move a folder with its contents: `{location, destination_location, type}`."""
        await self.pass_on(Call("POST", paths.api("folders/move"), body=self.body))


class FolderRenameHandler(ServiceHandler):
    """Renaming a folder."""

    @asks_the_service
    async def put(self) -> None:
        """Rename a folder."""
        await self.pass_on(Call("PUT", paths.api("folders/rename"), body=self.body))


FOLDER_HANDLERS = (
    (r"folders", FoldersHandler),
    (r"folders/deletion", FolderDeletionHandler),
    (r"folders/move", FolderMoveHandler),
    (r"folders/rename", FolderRenameHandler),
)
