"""The right to run code: to submit a command of a type, or to create a schedule that does. Pure.

The right to create commands covers all types. Jupyter notebooks can also be run with the right to create
`jupyter_notebook_command`, and scheduled with the right to update notebooks in addition.
"""

from __future__ import annotations

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import decide
from svc_jupyter.service.access.rights import Permission
from svc_jupyter.service.ground.errors import Forbidden

_SCHEDULES_NOTEBOOKS: tuple[Permission, ...] = (
    (Action.UPDATE, Resource.JUPYTER_NOTEBOOK),
    (Action.CREATE, Resource.JUPYTER_NOTEBOOK_COMMAND),
)


def lack_to_submit(caller: Caller, command_type: object) -> str | None:
    """Return the missing right to submit a command of a type, None if the caller may."""
    is_notebook = command_type == CommandType.JUPYTER_NOTEBOOK
    return _lack(caller, (Action.CREATE, Resource.JUPYTER_NOTEBOOK_COMMAND if is_notebook else Resource.COMMAND))


def lack_to_schedule(caller: Caller, command_type: object) -> str | None:
    """Return the missing right to create a schedule of a type of command, None if the caller may."""
    lack = _lack(caller, (Action.CREATE, Resource.SCHEDULER))
    if lack is None or command_type != CommandType.JUPYTER_NOTEBOOK:
        return lack
    return lack if any(_lack(caller, permission) for permission in _SCHEDULES_NOTEBOOKS) else None


def require_to_submit_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may submit some type of command."""
    if lack_to_submit(caller, CommandType.JUPYTER_NOTEBOOK) is not None:  # the right to submit all includes this
        _require(_lack(caller, (Action.CREATE, Resource.COMMAND)))


def require_to_schedule_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may schedule some type of command."""
    if lack_to_schedule(caller, CommandType.JUPYTER_NOTEBOOK) is not None:
        _require(_lack(caller, (Action.CREATE, Resource.SCHEDULER)))


def require_to_read_some(caller: Caller) -> None:
    """Raise `Forbidden` unless the caller may read commands, or at least those that they may submit."""
    if lack_to_submit(caller, CommandType.JUPYTER_NOTEBOOK) is not None:
        _require(_lack(caller, (Action.READ, Resource.COMMAND)))


def require_to_submit(caller: Caller, command_type: object) -> None:
    """Raise `Forbidden` with the missing right, unless the caller may submit a command of a type."""
    _require(lack_to_submit(caller, command_type))


def require_to_schedule(caller: Caller, command_type: object) -> None:
    """Raise `Forbidden` with the missing right, unless the caller may create a schedule of a type of command."""
    _require(lack_to_schedule(caller, command_type))


def require_to_write_code(caller: Caller, what: str) -> None:
    """Raise `Forbidden` unless the caller may submit commands: `what` runs later, like the text of a command."""
    lack = _lack(caller, (Action.CREATE, Resource.COMMAND))
    _require(None if lack is None else f"{what} is code that the service runs; {lack}")


def _lack(caller: Caller, permission: Permission) -> str | None:
    action, resource = permission
    found = decide(caller, action, resource)
    return None if found.allowed else f"{found.because} (permission to {action} {resource})"


def _require(lack: str | None) -> None:
    if lack is not None:
        raise Forbidden(lack)
