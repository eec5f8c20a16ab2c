"""Dependencies of the routes of commands: the commands, a caller with access to one, and common parameters."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.fields import Id
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import decision, require_to_read_some
from svc_jupyter.service.access.route_rights import needs_to
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.ground.errors import Forbidden, NotFound
from svc_jupyter.service.http.rooms import part

CommandsDep = Annotated[Commands, part(Commands)]
Flag = Annotated[str, Query(pattern="^(?i:true|false|0|1)$")]
Seconds = Annotated[float, Query(ge=0, le=60, description="seconds to wait for the end")]


async def require_readable(command_id: int, commands: Commands, caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may read commands, or has submitted this one.

    The error is the same for another user's command and for an unknown one.
    """
    found = decision(caller, Action.READ, Resource.COMMAND)
    if found.allowed:
        return
    try:
        is_own = (await commands.row(command_id, caller)).user_id == caller.user_id
    except NotFound:
        is_own = False
    if not is_own:
        raise Forbidden(f"{found.because}; command {command_id} is none of yours (permission to read command)")


async def _reader(command_id: Id, commands: CommandsDep, caller: CallerDep) -> Caller:
    await require_readable(command_id, commands, caller)
    return caller


ReaderDep = Annotated[Caller, Depends(_reader)]
NEEDS_TO_READ = needs_to(require_to_read_some)


def is_true(flag: str) -> bool:
    """Return the value of a `Flag`."""
    return flag.lower() in ("true", "1")
