"""Folders of notes and of dashboards."""

from __future__ import annotations

from svc_jupyter.api.folders import NOTES, Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.folders import FolderFlows
from svc_jupyter.client.transport.calls import answer_if_known


class AsyncFolders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all users share, or `Users/<e-mail>`; a folder can also be given by its id.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = FolderFlows(performer.link)

    async def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of a folder's items, folders first, by name; without a location, the roots."""
        return await self._performer.run(self._flows.page(location, folder_type, page, per_page))

    async def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all items of a folder; without a location, the roots."""
        return await self._performer.run(self._flows.whole(location, folder_type))

    async def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Create a folder at a location; raises `Invalid` for a taken name."""
        return await self._performer.run(self._flows.create(location, name, folder_type))

    async def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Rename a folder."""
        return await self._performer.run(self._flows.rename(folder, name, folder_type))

    async def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Move a folder with its contents into the folder at the location `to`; it keeps its name and id."""
        return await self._performer.run(self._flows.move(folder, to, folder_type))

    async def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would delete, without deleting; None when the service cannot say."""
        return await self._performer.run(answer_if_known(self._flows.deletion(folder, folder_type)))

    async def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with its contents and return the counts. Raises `Conflict` while one of its notes runs."""
        return await self._performer.run(self._flows.delete(folder, folder_type))
