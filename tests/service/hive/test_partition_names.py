"""Names of partitions, there and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.service.hive.catalogue import order_of, partition_name, possible_names, spellings, values_in

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


@given(TEXTS, TEXTS)
def test_every_value_comes_back(first: str, second: str):
    name = partition_name(["day", "what"], [first, second])
    assert values_in(name) == {"day": first, "what": second}
    assert name.count("/") == 1


def test_a_number_has_two_spellings():
    assert spellings("03", "int") == ["03", "3"]
    assert spellings("-007", "bigint") == ["-007", "-7"]
    assert spellings("3", "int") == ["3"]
    assert spellings("03", "string") == ["03"]
    assert spellings("a", "int") == ["a"]
    assert possible_names({"h": "int", "w": "string"}, {"w": "01", "h": "01"}) == ["h=01/w=01", "h=1/w=01"]


def test_numbers_are_in_their_own_order():
    names = ["h=10", "h=9", "h=b", "h=__HIVE_DEFAULT_PARTITION__", "h=a"]
    assert sorted(names, key=order_of) == ["h=__HIVE_DEFAULT_PARTITION__", "h=9", "h=10", "h=a", "h=b"]
