"""Read the rows of a query while it still writes them, in parallel to the wait for its end.

This is an optimisation. The rows are used only if their stream reached its end marker and the finished command's record
has the same number of rows and bytes. In all other cases (the query fails or is retried, the service restarts or is too
old) they are read after the end.
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
"""How long the service is asked to wait for the first rows, in seconds."""
STALL_SECONDS = 5.0
"""The last rows of a finished command are ready: after this silence it is better to request them again."""
EXPECTED = (SvcError, httpx.RequestError, MemoryError)
"""Errors that end reading ahead. The rows are then read after the end, which reports a lasting problem."""


def can_read_ahead(command: Tracked) -> bool:
    """Return whether a command may have rows that can be read before it ends."""
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
        """Raise the refusal, unless there are only no rows yet. A service without the extension refuses at once."""
        if time.monotonic() - self._asked < _HOLD / 2:
            raise refusal


def confirmed(command: Tracked, table: pa.Table | None, size: int) -> pa.Table | None:
    """Return the rows if they match the result of the finished command's record."""
    record = command.record
    if table is None or (record.result_rows, record.result_bytes) != (table.num_rows, size):
        return None
    return table
