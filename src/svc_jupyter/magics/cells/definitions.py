"""A command as its cell describes it, before anything is sent: what to run at once, in a composite or by a schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from svc_jupyter.magics.cells.running import Reader
from svc_jupyter.magics.display.failures import Origin


def _nothing() -> None:
    """Have nothing to forget."""


@dataclass(frozen=True)
class Definition:
    """The command of a cell.

    `fields` returns the fields of its type and may ask the service (for the id of a tap), so it is called beside the
    cell's thread. `refused` forgets what it had asked, when the service refuses the command.
    """

    command_type: str
    fields: Callable[[], dict[str, Any]]
    read: Reader
    origin: Origin
    refused: Callable[[], None] = _nothing
