"""Iterate over the pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from svc_jupyter.api.fields import MAX_PER_PAGE, PagingInfo

T = TypeVar("T")
WHOLE_PAGE = MAX_PER_PAGE


class Pages(Generic[T]):
    """The position of an iteration: `page` is the next page to fetch, None at the end.

    Lists are newest first, so a new object moves the others to later pages; items already seen on the previous page are
    skipped.
    """

    def __init__(self, identity: Callable[[T], int]) -> None:
        self.page: int | None = 1
        self._identity = identity
        self._seen: set[int] = set()

    def take(self, items: Sequence[T], paging: PagingInfo | None) -> list[T]:
        """Return the new items of a fetched page and advance to the next page."""
        fresh = [item for item in items if self._identity(item) not in self._seen]
        self._seen = {self._identity(item) for item in items}
        following = paging.next_page if paging is not None else None
        # Stop at a page that does not lead forward, so that a faulty service cannot cause an endless loop.
        self.page = following if following is not None and fresh and following > (self.page or 0) else None
        return fresh
