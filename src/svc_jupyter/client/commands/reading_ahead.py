"""Reading the rows of a query while it still writes them, beside the wait for its end.

It only saves time. The rows count when their stream came to its end marker, and the record of the finished command
tells as many rows and bytes; whatever else happens (the query fails, its rows are written anew, the service restarts
or is too old for this), they are read after the end as ever.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx

from svc_jupyter.api import paths
from svc_jupyter.client.commands.streams import PLAIN_BYTES
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import Invalid, SvcError
from svc_jupyter.client.transport.calls import Call

if TYPE_CHECKING:
    import pyarrow as pa


_HOLD = 30
"""Seconds that a service is asked to wait for the first rows."""
STALL_SECONDS = 5.0
"""The last rows of a command that is done lie ready: when nothing comes for so long, they are better asked for anew."""
EXPECTED = (SvcError, httpx.RequestError, MemoryError)
"""What may end the reading: the rows are then read after the end, and a problem that lasts is told there."""


def can_read_ahead(command: Tracked) -> bool:
    """Return whether a command may have rows that can be read before its end."""
    return command.has_typed_results and command._link.extended and not command.ended


class Asking:
    """The calls that wait for the first rows."""

    def __init__(self, command: Tracked) -> None:
        self._path = paths.command(command.id, "results")
        self._asked = 0.0

    def call(self) -> Call:
        """Return the next call."""
        self._asked = time.monotonic()
        params = {"follow": True, "wait": _HOLD}
        return Call("GET", self._path, params, accept=paths.ARROW_STREAM, headers=PLAIN_BYTES, hold=_HOLD, stream=True)

    def check(self, refusal: Invalid) -> None:
        """Raise the refusal unless it means: no rows yet. A service without this extension refuses at once."""
        if time.monotonic() - self._asked < _HOLD / 2:
            raise refusal


def confirmed(command: Tracked, table: pa.Table | None, size: int) -> pa.Table | None:
    """Return the rows if they are what the finished command says its result is."""
    record = command.record
    if table is None or (record.result_rows, record.result_bytes) != (table.num_rows, size):
        return None
    return table
