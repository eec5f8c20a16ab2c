"""Bodies: what is not valid Unicode is found wherever it lies, and a large body is read as a small one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.api.text import broken_place, mended_value
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.bodies import LARGE_BYTES, check_unicode, parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
MANY = "[" + "[1.2, 3.4]," * 100_000 + '{"a": "ü", "b": [1.5, null, true, {}]}]'


def is_sendable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(VALUES, st.booleans(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
async def test_exactly_what_is_not_valid_unicode_is_refused(value: Any, is_ascii: bool, encoding: str):
    raw = json.dumps(value, ensure_ascii=is_ascii).encode(encoding, "surrogatepass")
    if is_sendable(value):
        await check_unicode(raw)
    else:
        with pytest.raises(Invalid, match="half of a surrogate pair"):
            await check_unicode(raw)


@given(VALUES)
def test_a_mended_value_can_be_sent_and_differs_in_nothing_else(value: Any):
    assert is_sendable(mended_value(value))
    if is_sendable(value):
        assert mended_value(value) == value
        assert broken_place(value) is None


async def test_the_field_is_named():
    async def refusal(raw: bytes) -> tuple[str, list[str]]:
        with pytest.raises(Invalid) as raised:
            await check_unicode(raw)
        return raised.value.message.partition(": ")[0], list(raised.value.fields or {})

    places = {
        rb'{"a": {"b": ["x", "\ud800"]}}': "a.b.1",
        rb'{"a": {"\udfff": 1}}': "a.\N{REPLACEMENT CHARACTER}",
        rb'{"a": "\ud83d \ude00"}': "a",
        rb'{"a": "\ude00\ud83d"}': "a",
        rb'{"a": "\\\ud800"}': "a",
        b'{"a": "\xed\xa0\x80"}': "a",
        rb'"\uD800"': "the body",
    }
    assert {raw: await refusal(raw) for raw in places} == {raw: (place, [place]) for raw, place in places.items()}


async def test_valid_unicode_and_invalid_json_pass_the_unicode_check():
    valid = [rb'{"a": "\ud83d\ude00"}', rb'{"a": "\\ud800"}', '{"a": "😀"}'.encode()]
    no_json = [rb"{\ud800", b"\xff", b"\xed\xa0\x80"]
    refusals = await asyncio.gather(*map(check_unicode, valid + no_json), return_exceptions=True)
    assert refusals == [None] * 6


@pytest.mark.parametrize(
    "text", [MANY, json.dumps(["ü" * LARGE_BYTES]), MANY.replace("ü", r"\ud83d\ude00")], ids=["many", "long", "escaped"]
)
def test_a_large_body_means_what_a_small_one_would(text: str):
    value = json.loads(text)
    assert parsed(text.encode()) == value
    assert parsed(text.encode("utf-16")) == value


@pytest.mark.parametrize(
    "wrong", [MANY[:-1], MANY + "x", MANY.replace("null", "nil")], ids=["open", "with more behind it", "of no value"]
)
def test_a_large_body_that_is_no_json_is_reported_as_a_small_one(wrong: str):
    with pytest.raises(json.JSONDecodeError):
        parsed(wrong.encode())


@pytest.mark.parametrize("item", ["[],", "{},"])
def test_a_large_body_of_hardly_anything_but_brackets_is_refused(item: str):
    with pytest.raises(Invalid, match="send less at once"):
        parsed(f"[{item * 500_000}0]".encode())
