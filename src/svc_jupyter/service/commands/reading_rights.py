"""Who may read a command: whoever may read commands, and whoever submitted it what came of it."""

from __future__ import annotations

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import decision
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.errors import Forbidden, NotFound


async def require_readable(command_id: int, commands: Commands, caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may read a command; the same for another's and for one that is not there."""
    found = decision(caller, Action.READ, Resource.COMMAND)
    if found.allowed:
        return
    try:
        is_own = (await commands.row(command_id, caller))["user_id"] == caller.user_id
    except NotFound:
        is_own = False
    if not is_own:
        raise Forbidden(f"{found.because}; command {command_id} is none of yours (permission to read command)")
