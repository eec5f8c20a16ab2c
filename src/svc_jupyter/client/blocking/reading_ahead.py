"""Read the rows of a query in a thread while the query still writes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import httpx

from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.commands.reading_ahead import EXPECTED, STALL_SECONDS, Asking, confirmed
from svc_jupyter.client.commands.streams import table_of
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import Invalid
from svc_jupyter.client.transport.calls import exchange
from svc_jupyter.client.transport.retries import NO_RETRIES

if TYPE_CHECKING:
    import pyarrow as pa


class ReadAhead:
    """Reads a command's rows in a thread that starts with this object."""

    def __init__(self, performer: Performer, command: Tracked) -> None:
        self._performer = performer
        self._command = command
        self._size = 0
        self._table: pa.Table | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="svc-read-ahead", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop reading at the next bytes and discard the rows."""
        self._stopped = True

    def rows(self) -> pa.Table | None:
        """Wait for the last rows of a command that is done and return all rows, once; None when they are not valid."""
        seen = -1
        while self._thread.is_alive() and seen != self._size:
            seen = self._size
            self._thread.join(STALL_SECONDS)
        if self._thread.is_alive():
            self.stop()
            return None
        table, self._table = self._table, None
        return confirmed(self._command, table, self._size)

    def _run(self) -> None:
        with suppress(*EXPECTED), closing(self._opened()) as response:
            self._table = table_of(self._pieces(response))
        if self._stopped:
            self._table = None

    def _opened(self) -> httpx.Response:
        asking = Asking(self._command)
        while True:
            try:
                return self._performer.run(exchange(self._command._link, asking.call(), NO_RETRIES))
            except Invalid as refusal:
                if self._stopped:
                    raise
                asking.check(refusal)

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        for piece in response.iter_bytes():
            if self._stopped:
                return
            self._size += len(piece)
            yield piece
