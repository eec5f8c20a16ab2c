"""Folders of notes and of dashboards."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.folders import Folder, FolderChanged, FolderContents, FolderDeleted, FolderDeletion
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("folders")


class FolderFlows:
    """Requests about folders, for both clients."""

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
    """Return the request fields for a folder given by location or id."""
    return {"folder_id" if isinstance(folder, int) else "location": folder, "type": folder_type}
