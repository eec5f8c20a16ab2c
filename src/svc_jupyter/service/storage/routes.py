"""The account's storage over HTTP."""

from __future__ import annotations

from typing import Annotated

from svc_jupyter.api.account import Storage as StorageRecord
from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.storage.storage import Storage

router = resource_router(tags=["account"])


StorageDep = Annotated[Storage, part(Storage)]


@router.get("/account/storage", dependencies=[needs(Action.READ, Resource.ACCOUNT)])
def get_storage(storage: StorageDep, caller: CallerDep) -> StorageRecord:
    """Return the account's storage. Secrets are `<hidden>`."""
    return storage.show(caller.account_id)


@router.put("/account/storage", dependencies=[needs(Action.UPDATE, Resource.ACCOUNT)])
def put_storage(body: StorageUpdate, storage: StorageDep, caller: CallerDep) -> StorageRecord:
    """Replace the account's storage.

    A secret sent as `<hidden>` stays unchanged. 403 unless the caller is in `system-admin`.
    """
    return storage.replace(body, by=caller)
