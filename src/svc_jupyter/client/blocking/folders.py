"""Folders of notes and of dashboards."""
# Made from asynchronous/folders.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.folders import NOTES, Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("folders")


class Folders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all users share, or `Users/<e-mail>`; a folder can also be given by its id.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of a folder's items, folders first, by name; without a location, the roots."""
        params = {"type": folder_type, "location": location, "page": page, "per_page": per_page}
        return self._sender.fetch(Call("GET", _RESOURCE, params), FolderContents)

    def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all items of a folder; without a location, the roots."""
        first = self.list(location, folder_type=folder_type, per_page=WHOLE_PAGE)
        last, number = first, 1
        while last.paging_info is not None and (last.paging_info.next_page or 0) > number:
            number = last.paging_info.next_page or 0
            last = self.list(location, folder_type=folder_type, page=number, per_page=WHOLE_PAGE)
            first.folders += last.folders or []
            first.notes += last.notes or []
            first.notebook_dashboards += last.notebook_dashboards or []
        if first.paging_info is not None:
            first.paging_info.next_page = None
        return first

    def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Create a folder at a location; raises `Invalid` for a taken name."""
        body = {"name": name, "location": location, "type": folder_type}
        return self._sender.fetch(Call("POST", _RESOURCE, body=body, headers=idempotency()), Folder)

    def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Rename a folder."""
        body = {**_reference(folder, folder_type), "name": name}
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/rename", body=body), Folder)

    def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Move a folder with its contents into the folder at the location `to`; it keeps its name and id."""
        body = {**_reference(folder, folder_type), "destination_location": to}
        call = Call("POST", f"{_RESOURCE}/move", body=body, headers=idempotency())
        return self._sender.fetch(call, FolderChanged)

    def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would delete, without deleting; None when the service cannot say."""
        call = Call("GET", f"{_RESOURCE}/delete", _reference(folder, folder_type))
        return self._sender.fetch_if_known(call, FolderDeletion)

    def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with its contents and return the counts. Raises `Conflict` while one of its notes runs."""
        call = Call("DELETE", f"{_RESOURCE}/delete", body=_reference(folder, folder_type))
        return self._sender.fetch(call, FolderDeleted)


def _reference(folder: str | int, folder_type: str) -> dict[str, Any]:
    """Return the request's fields for a folder given by location or id."""
    return {"folder_id" if isinstance(folder, int) else "location": folder, "type": folder_type}
