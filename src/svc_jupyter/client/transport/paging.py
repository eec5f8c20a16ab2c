"""Walking through the pages of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from svc_jupyter.api.fields import MAX_PER_PAGE, PagingInfo

T = TypeVar("T")
WHOLE_PAGE = MAX_PER_PAGE


class Pages(Generic[T]):
    """Where a walk stands: `page` is the next one to fetch, None at the end.

    Lists are newest first, so an object that is created meanwhile moves the others to later pages; those seen on the
    page before are left out.
    """

    def __init__(self, identity: Callable[[T], int]) -> None:
        self.page: int | None = 1
        self._identity = identity
        self._seen: set[int] = set()

    def take(self, items: Sequence[T], paging: PagingInfo | None) -> list[T]:
        """Return the items of the page that was fetched that are new, and turn to the next page."""
        fresh = [item for item in items if self._identity(item) not in self._seen]
        self._seen = {self._identity(item) for item in items}
        following = paging.next_page if paging is not None else None
        # A page that leads nowhere new ends the walk, so that a service with odd paging cannot make it endless.
        self.page = following if following is not None and fresh and following > (self.page or 0) else None
        return fresh
