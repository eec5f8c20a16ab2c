"""DB taps over HTTP."""

from __future__ import annotations

from typing import Annotated

from svc_jupyter.api.db_taps import DbTap, DbTapCreate, DbTapList, DbTapTables, DbTapUpdate, Deleted
from svc_jupyter.api.fields import Id
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.db_taps.db_taps import DbTaps
from svc_jupyter.service.db_taps.table_lists import TableLists
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

router = resource_router(tags=["db taps"])


DbTapsDep = Annotated[DbTaps, part(DbTaps)]
TableListsDep = Annotated[TableLists, part(TableLists)]


@router.get("/db_taps", dependencies=[needs(Action.READ, Resource.DB_TAP)])
def list_db_taps(db_taps: DbTapsDep, caller: CallerDep, page: PageDep) -> DbTapList:
    """Return a page of the account's taps, newest first. Passwords and URLs are never shown."""
    return db_taps.list(page, by=caller)


@router.post("/db_taps", dependencies=[needs(Action.CREATE, Resource.DB_TAP)])
def create_db_tap(body: DbTapCreate, db_taps: DbTapsDep, caller: CallerDep) -> DbTap:
    """Create a tap. 422 for an unknown type, a missing attribute, a file that may not be opened, or a taken name."""
    return db_taps.create(body, by=caller)


@router.get("/db_taps/{db_tap_id}", dependencies=[needs(Action.READ, Resource.DB_TAP)])
def get_db_tap(db_tap_id: Id, db_taps: DbTapsDep, caller: CallerDep) -> DbTap:
    """Return a tap."""
    return db_taps.get(db_tap_id, by=caller)


@router.put("/db_taps/{db_tap_id}", dependencies=[needs(Action.UPDATE, Resource.DB_TAP)])
def update_db_tap(db_tap_id: Id, body: DbTapUpdate, db_taps: DbTapsDep, caller: CallerDep) -> DbTap:
    """Change the given attributes of a tap. An empty text removes an attribute."""
    return db_taps.update(db_tap_id, body, by=caller)


@router.delete("/db_taps/{db_tap_id}", dependencies=[needs(Action.DELETE, Resource.DB_TAP)])
def delete_db_tap(db_tap_id: Id, db_taps: DbTapsDep, caller: CallerDep) -> Deleted:
    """Delete a tap. Queries that run on it continue."""
    db_taps.delete(db_tap_id, by=caller)
    return Deleted(id=db_tap_id)


@router.get("/db_taps/{db_tap_id}/tables", dependencies=[needs(Action.READ, Resource.DB_TAP)])
async def list_db_tap_tables(db_tap_id: Id, table_lists: TableListsDep, caller: CallerDep) -> DbTapTables:
    """Return the tables and views that the tap's user can see. 422 with the database's reason if it refuses."""
    return await table_lists.of_tap(caller.account_id, db_tap_id)
