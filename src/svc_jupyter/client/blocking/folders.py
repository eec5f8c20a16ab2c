"""Folders of notes and of dashboards."""
# Made from asynchronous/folders.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from svc_jupyter.api.folders import NOTES, Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.folders import FolderFlows
from svc_jupyter.client.transport.calls import answer_if_known


class Folders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all users share, or `Users/<e-mail>`; a folder can also be given by its id.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = FolderFlows(performer.link)

    def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of a folder's items, folders first, by name; without a location, the roots."""
        return self._performer.run(self._flows.page(location, folder_type, page, per_page))

    def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all items of a folder; without a location, the roots."""
        return self._performer.run(self._flows.whole(location, folder_type))

    def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Create a folder at a location; raises `Invalid` for a taken name."""
        return self._performer.run(self._flows.create(location, name, folder_type))

    def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Rename a folder."""
        return self._performer.run(self._flows.rename(folder, name, folder_type))

    def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Move a folder with its contents into the folder at the location `to`; it keeps its name and id."""
        return self._performer.run(self._flows.move(folder, to, folder_type))

    def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would delete, without deleting; None when the service cannot say."""
        return self._performer.run(answer_if_known(self._flows.deletion(folder, folder_type)))

    def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with its contents and return the counts. Raises `Conflict` while one of its notes runs."""
        return self._performer.run(self._flows.delete(folder, folder_type))
