"""Names of columns by which they can be addressed."""

from __future__ import annotations

import pytest

from svc_jupyter.api.result_forms import unique_names

NAMES = {
    "a b a": "a b a#2",
    "a a a": "a a#2 a#3",
    "a a a#2": "a a#3 a#2",
    "a#2 a a": "a#2 a a#3",
    ". .. . ...": ".#1 ..#1 .#2 ...",
    ". .#1": ".#2 .#1",
}


@pytest.mark.parametrize(("given", "expected"), NAMES.items())
def test_names_are_told_apart_and_fit_a_url(given: str, expected: str) -> None:
    assert unique_names(given.split()) == expected.split()


def test_a_column_without_a_name_gets_one() -> None:
    assert unique_names(["", "a", ""]) == ["#1", "a", "#2"]
