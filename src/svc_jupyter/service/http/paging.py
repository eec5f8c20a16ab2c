"""Pages of lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from svc_jupyter.api.fields import PagingInfo

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: `number` from 1, `size` in rows."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """Rows before this page."""
        return (self.number - 1) * self.size

    @property
    def fetch(self) -> int:
        """Rows to read: one more than shown, to know whether another page follows."""
        return self.size + 1

    def cut(self, rows: Sequence[Row]) -> tuple[list[Row], PagingInfo]:
        """Return the rows of the page out of up to `fetch` rows, and its position."""
        return list(rows[: self.size]), self.info(has_more=len(rows) > self.size)

    def read(self, connection: sa.Connection, query: sa.Select[Any]) -> tuple[list[sa.Row[Any]], PagingInfo]:
        """Return the rows of the page out of those of an ordered query, and its position."""
        return self.cut(connection.execute(query.offset(self.offset).limit(self.fetch)).all())

    def of(self, rows: Sequence[Row]) -> tuple[list[Row], PagingInfo]:
        """Return the rows of the page out of all rows, and its position."""
        return self.cut(rows[self.offset : self.offset + self.fetch])

    def info(self, *, has_more: bool) -> PagingInfo:
        """Return the page's position."""
        return PagingInfo(
            page=self.number,
            per_page=self.size,
            next_page=self.number + 1 if has_more else None,
            previous_page=self.number - 1 if self.number > 1 else None,
        )
