"""The files of a command over HTTP: their size, their deletion, and whether they are kept (an extension)."""

from __future__ import annotations

from svc_jupyter.api.fields import Id
from svc_jupyter.api.retention import CommandFiles, CommandFilesUpdate
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.commands.route_parameters import NEEDS_TO_READ, CommandsDep, ReaderDep
from svc_jupyter.service.http.routers import resource_router

router = resource_router(prefix="/commands/{command_id}/files", tags=["commands"])


@router.get("", dependencies=[NEEDS_TO_READ])
async def get_files(command_id: Id, commands: CommandsDep, caller: ReaderDep) -> CommandFiles:
    """Return the size of a command's files, and when and by which rule they were deleted."""
    return await commands.files(await commands.row(command_id, caller))


@router.put("", dependencies=[needs(Action.UPDATE, Resource.COMMAND)])
async def keep_files(
    command_id: Id, body: CommandFilesUpdate, commands: CommandsDep, caller: CallerDep
) -> CommandFiles:
    """Keep a command's files whatever the rules say, or no longer. 409 when they have been deleted.

    The files of a sub-command are kept with those of its composite.
    """
    return await commands.keep(await commands.row(command_id, caller), caller, keep=body.keep)
