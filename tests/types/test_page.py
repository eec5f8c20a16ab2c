from __future__ import annotations

from tests.types import page


def test_the_page_of_types_is_that_of_the_tables() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run: python -m tests.types.page"
