"""The grammar of forms in a text."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given

from svc_jupyter.forms.placeholders import placeholders


def only(text: str) -> dict[str, Any]:
    (found,) = placeholders(text)
    assert text[found.start : found.end] == text.strip()
    return found.form.model_dump(exclude={"scope", "value"}) | {"note_wide": found.note_wide}


def form(name: str, **about: Any) -> dict[str, Any]:
    usual = {
        "type": "text",
        "label": None,
        "default": "",
        "options": [],
        "hidden": False,
        "note_wide": False,
        "separator": ",",
    }
    return {"name": name, **usual, **about}


DAYS = [{"value": "1", "label": "Monday"}, {"value": "2", "label": "2"}]


FORMS = {
    "${day}": form("day"),
    "${day=1}": form("day", default="1"),
    "${day(Which day)=1}": form("day", label="Which day", default="1"),
    "${day(At 9:00)=1}": form("day", label="At 9:00", default="1"),
    "${day=1,1(Monday)|2}": form("day", type="select", default="1", options=DAYS),
    "${checkbox:day=1|2,1(Monday)|2}": form("day", type="checkbox", default=["1", "2"], options=DAYS),
    "${checkbox( or ):day(D)=,1(Monday)|2}": form(
        "day", type="checkbox", label="D", default=[], options=DAYS, separator=" or "
    ),
    "${password:secret}": form("secret", type="password"),
    "${ password : secret (Yours) }": form("secret", type="password", label="Yours"),
    "$${day=1}": form("day", default="1", note_wide=True),
    "_${day=1}": form("day", default="1", hidden=True),
    "_$${day=1}": form("day", default="1", hidden=True, note_wide=True),
    "${url=http://a?b=c}": form("url", default="http://a?b=c"),
}


def test_a_form_is_read():
    assert {text: only(text) for text in FORMS} == FORMS


def test_text_that_resembles_a_form_is_not_a_form():
    for text in ("", "${", "${}", "${=1}", "$ {a}", "${HOME:-/root}", "${time:10}", "{a}", "}${a"):
        assert list(placeholders(text)) == []


def test_a_hostile_text_takes_no_time_of_its_own():
    """Each of these is quadratic for a pattern that tries every way; a test that waits would be its failure."""
    for text in ("${" * 500_000, "${" + "(" * 1_000_000 + "}", "${a" + " " * 1_000_000 + "}", "$" * 1_000_000):
        assert len(list(placeholders(text))) <= 1


@given(st.text(alphabet="${}=|,():_ apswordcheckbox", max_size=60))
@example("_$${password:a}")
def test_any_text_can_be_read(text: str):
    end = 0
    for found in placeholders(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end
