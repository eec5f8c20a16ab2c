"""Folders of notes and of dashboards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.folders import NOTES, Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.calls import Call, Flow, fetch, told_if_known
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_RESOURCE = paths.api("folders")


class _FolderFlows:
    """What both kinds of client say to the service about folders."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, location: str | None, folder_type: str, page: int, per_page: int) -> Flow[FolderContents]:
        params = {"type": folder_type, "location": location, "page": page, "per_page": per_page}
        return fetch(self.link, Call("GET", _RESOURCE, params), FolderContents)

    def whole(self, location: str | None, folder_type: str) -> Flow[FolderContents]:
        first = yield from self.page(location, folder_type, 1, WHOLE_PAGE)
        last, number = first, 1
        while last.paging_info is not None and (last.paging_info.next_page or 0) > number:
            number = last.paging_info.next_page or 0
            last = yield from self.page(location, folder_type, number, WHOLE_PAGE)
            first.folders += last.folders or []
            first.notes += last.notes or []
            first.notebook_dashboards += last.notebook_dashboards or []
        if first.paging_info is not None:
            first.paging_info.next_page = None
        return first

    def create(self, location: str, name: str, folder_type: str) -> Flow[Folder]:
        body = {"name": name, "location": location, "type": folder_type}
        return fetch(self.link, Call("POST", _RESOURCE, body=body, headers=idempotency(str(uuid4()))), Folder)

    def rename(self, folder: str | int, name: str, folder_type: str) -> Flow[Folder]:
        body = {**reference(folder, folder_type), "name": name}
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/rename", body=body), Folder)

    def move(self, folder: str | int, to: str, folder_type: str) -> Flow[FolderChanged]:
        body = {**reference(folder, folder_type), "destination_location": to}
        call = Call("POST", f"{_RESOURCE}/move", body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, FolderChanged)

    def deletion(self, folder: str | int, folder_type: str) -> Flow[FolderDeletion]:
        return fetch(self.link, Call("GET", f"{_RESOURCE}/delete", reference(folder, folder_type)), FolderDeletion)

    def delete(self, folder: str | int, folder_type: str) -> Flow[FolderDeleted]:
        return fetch(
            self.link, Call("DELETE", f"{_RESOURCE}/delete", body=reference(folder, folder_type)), FolderDeleted
        )


def reference(folder: str | int, folder_type: str) -> dict[str, Any]:
    """Return what a request says of a folder that is given by its location or by its id."""
    return {"folder_id" if isinstance(folder, int) else "location": folder, "type": folder_type}


class Folders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all share, or `Users/<e-mail>`; a folder may be given by its id, too.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _FolderFlows(client._link)

    def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of what is in a folder, by name, folders first; without a location the roots."""
        return self._client._run(self._flows.page(location, folder_type, page, per_page))

    def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all that is in a folder, however many pages it has; without a location the roots."""
        return self._client._run(self._flows.whole(location, folder_type))

    def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Make a folder in the one at a location; `Invalid` for a taken name."""
        return self._client._run(self._flows.create(location, name, folder_type))

    def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Give a folder another name."""
        return self._client._run(self._flows.rename(folder, name, folder_type))

    def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Put a folder with all that is in it into the folder at the location `to`; it keeps its name and its id."""
        return self._client._run(self._flows.move(folder, to, folder_type))

    def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would take, and delete nothing; None where the service cannot tell before."""
        return self._client._run(told_if_known(self._flows.deletion(folder, folder_type)))

    def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with all that is in it; the answer says how much went. `Conflict` while a note is run."""
        return self._client._run(self._flows.delete(folder, folder_type))


class AsyncFolders:
    """Folders of notes, or of dashboards with `folder_type="notebook_dashboards"`, as `client.folders`.

    Locations begin with `Common`, which all share, or `Users/<e-mail>`; a folder may be given by its id, too.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _FolderFlows(client._link)

    async def list(
        self, location: str | None = None, *, folder_type: str = NOTES, page: int = 1, per_page: int = 10
    ) -> FolderContents:
        """Return one page of what is in a folder, by name, folders first; without a location the roots."""
        return await self._client._run(self._flows.page(location, folder_type, page, per_page))

    async def get(self, location: str | None = None, *, folder_type: str = NOTES) -> FolderContents:
        """Return all that is in a folder, however many pages it has; without a location the roots."""
        return await self._client._run(self._flows.whole(location, folder_type))

    async def create(self, location: str, name: str, *, folder_type: str = NOTES) -> Folder:
        """Make a folder in the one at a location; `Invalid` for a taken name."""
        return await self._client._run(self._flows.create(location, name, folder_type))

    async def rename(self, folder: str | int, name: str, *, folder_type: str = NOTES) -> Folder:
        """Give a folder another name."""
        return await self._client._run(self._flows.rename(folder, name, folder_type))

    async def move(self, folder: str | int, to: str, *, folder_type: str = NOTES) -> FolderChanged:
        """Put a folder with all that is in it into the folder at the location `to`; it keeps its name and its id."""
        return await self._client._run(self._flows.move(folder, to, folder_type))

    async def deletion(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeletion | None:
        """Return what deleting a folder would take, and delete nothing; None where the service cannot tell before."""
        return await self._client._run(told_if_known(self._flows.deletion(folder, folder_type)))

    async def delete(self, folder: str | int, *, folder_type: str = NOTES) -> FolderDeleted:
        """Delete a folder with all that is in it; the answer says how much went. `Conflict` while a note is run."""
        return await self._client._run(self._flows.delete(folder, folder_type))
