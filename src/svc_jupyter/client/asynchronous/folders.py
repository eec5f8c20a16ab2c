"""Folders of notes and of dashboards."""

from __future__ import annotations

from svc_jupyter.api.folders import NOTES, Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.folders import FolderFlows
from svc_jupyter.client.transport.calls import told_if_known


class AsyncFolders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all share, or `Users/<e-mail>`; a folder may be given by its id, too.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = FolderFlows(performer.link)

    async def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of what is in a folder, by name, folders first; without a location the roots."""
        return await self._performer.run(self._flows.page(location, folder_type, page, per_page))

    async def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all that is in a folder, however many pages it has; without a location the roots."""
        return await self._performer.run(self._flows.whole(location, folder_type))

    async def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Make a folder in the one at a location; `Invalid` for a taken name."""
        return await self._performer.run(self._flows.create(location, name, folder_type))

    async def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Give a folder another name."""
        return await self._performer.run(self._flows.rename(folder, name, folder_type))

    async def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Put a folder with all that is in it into the folder at the location `to`; it keeps its name and its id."""
        return await self._performer.run(self._flows.move(folder, to, folder_type))

    async def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would take, and delete nothing; None where the service cannot tell before."""
        return await self._performer.run(told_if_known(self._flows.deletion(folder, folder_type)))

    async def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with all that is in it; the answer says how much went. `Conflict` while a note is run."""
        return await self._performer.run(self._flows.delete(folder, folder_type))
