"""Waits for a tap's database, shown on a cell's progress line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.api.status_words import DONE
from svc_jupyter.durations import duration
from svc_jupyter.magics.cells.waits import Wait
from svc_jupyter.magics.display.errors import SvcMagicError, translated_errors
from svc_jupyter.magics.display.progress import Line

if TYPE_CHECKING:
    from svc_jupyter.api.catalogues import Catalogue
    from svc_jupyter.api.db_taps import DbTap
    from svc_jupyter.client import Client

_LOOK_SECONDS = 30.0
"""How long one call waits: the most that the service allows."""


class CatalogueWait(Wait["Catalogue | None"]):
    """Waits for a tap's catalogue: for its first reading, and with `refresh` for a new one."""

    def __init__(self, client: Client, tap: DbTap, line: Line, *, refresh: bool) -> None:
        super().__init__(client, line, f"reading the tables of tap {tap.name}", f"%svc_tap tables {tap.name}")
        self._tap = tap
        self._refresh = refresh

    def to_end(self) -> Catalogue | None:
        """Return the catalogue, None where the service keeps none. Raises SvcMagicError if it could not be read."""
        catalogue = self._attend()
        if self._drawn:
            self._line.finish(f"{DONE} tables of tap {self._tap.name} · read in {duration(self._seconds)}")
        return catalogue

    def _wait(self) -> Catalogue | None:
        from svc_jupyter.client.errors import NotFound

        with translated_errors():
            try:
                catalogue = self._read()
                while catalogue.reading and self._is_awaited(catalogue):
                    catalogue = self._read()
            except NotFound:
                return None
        if catalogue.version is None or (self._refresh and catalogue.error):
            still = f"the tables of tap {self._tap.name} are still being read; try again in a moment"
            raise SvcMagicError(catalogue.error or still)
        return catalogue

    def _is_awaited(self, catalogue: Catalogue) -> bool:
        """Whether the cell needs a newer catalogue; an older one that is read again behind is good enough."""
        return self._refresh or catalogue.version is None

    def _read(self) -> Catalogue:
        return self._client.catalogues.get(self._tap.id, wait=_LOOK_SECONDS, refresh=self._refresh)


class ConnectionWait(Wait[int]):
    """Waits until a tap's database has answered."""

    def __init__(self, client: Client, tap: DbTap, line: Line) -> None:
        super().__init__(client, line, f"connecting to tap {tap.name}", f"%svc_tap test {tap.name}")
        self._tap = tap

    def to_end(self) -> list[tuple[str, str]]:
        """Return what it answered, for display. Raises SvcMagicError if it did not."""
        count = self._attend()
        self._line.clear()
        return [("connection", f"{DONE} answered in {duration(self._seconds)}"), ("tables", f"{count:,}")]

    def _wait(self) -> int:
        with translated_errors():
            return len(self._client.db_taps.tables(self._tap.id))
