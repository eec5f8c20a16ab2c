"""A note's forms as widgets, pressed as a front end presses them."""

import threading

import pytest
from tests.support.service_process import wait_until
from tests.widgets.screen import Screen

from svc_jupyter.api.notes import Note, NoteForm
from svc_jupyter.widgets.notes import NoteFormPanel, field_of, form_text

DAYS = [{"value": "1", "label": "Monday"}, {"value": "2", "label": "2"}]


def note(*forms: NoteForm) -> Note:
    about = {"id": 7, "name": "late <b>", "location": "Common", "folder_id": 1, "note_type": "spark", "version": 1}
    about |= {"revision": 1, "account_id": 1, "user_id": 1, "created_at": "", "updated_by": 1, "updated_at": ""}
    return Note(**about, paragraphs=[], forms=list(forms))


FORMS = (
    NoteForm(name="carrier", type="text", default="AA"),
    NoteForm(name="day", type="select", default="1", options=DAYS, label="Day of the week"),
    NoteForm(name="days", type="checkbox", default=["1"], options=DAYS, value=["1", "2"]),
    NoteForm(name="key", type="password", default=""),
    NoteForm(name="carrier", type="text", default="AA", scope="p2"),
    NoteForm(name="secret", type="text", default="", hidden=True),
)


@pytest.fixture
def opened():
    panels = []

    def open_one(run):
        panels.append(Screen(NoteFormPanel(note(*FORMS), run)))
        return panels[-1]

    yield open_one
    for screen in panels:
        screen.panel.close()


def press(screen):
    screen.button("Run").click()
    wait_until(lambda: not screen.button("Run").disabled)


def test_the_note_runs_with_what_the_fields_say(opened):
    given = []
    panel = opened(lambda values, say: given.append(values) or [("delays", "<table></table>")])
    assert panel.panel.values == {"carrier": "AA", "day": "1", "days": ["1", "2"], "key": ""}
    panel.field("carrier").value = "UA"
    panel.field("key").value = "x"
    press(panel)
    assert given == [{"carrier": "UA", "day": "1", "days": ["1", "2"], "key": "x"}]
    assert panel.text.endswith("<p><b>delays</b></p><table></table>")


def test_a_run_that_fails_is_reported_and_can_be_tried_again(opened):
    def fails(_values, _say):
        raise RuntimeError("paragraph 2: no table <b>")

    panel = opened(fails)
    press(panel)
    wait_until(lambda: "paragraph 2: no table &lt;b&gt;" in panel.text)  # shown after the button is enabled
    assert not panel.button("Run").disabled


def test_while_a_run_is_under_way_the_button_rests(opened):
    release = threading.Event()
    panel = opened(lambda _values, _say: [] * release.wait(30))
    panel.button("Run").click()
    assert panel.button("Run").disabled
    release.set()
    wait_until(lambda: not panel.button("Run").disabled)


def test_the_title_is_text_not_markup(opened):
    assert "late &lt;b&gt;" in opened(lambda _values, _say: []).text


def test_where_there_are_no_widgets_the_forms_are_reported():
    text = form_text(note(*FORMS))
    assert "Day of the week (day, select): 1 (of 1, 2)" in text
    assert "key (key, password): not kept" in text
    assert "%svc_spark_run 7 NAME=VALUE" in text


def test_a_label_is_text_not_a_formula_and_not_markup():
    form = NoteForm(name="price", type="text", default="1", label="from $5 <b> to $10")
    field = field_of(form)
    assert field.description == '<span class="mathjax_ignore tex2jax_ignore">from $5 &lt;b&gt; to $10</span>'
    assert field.description_allow_html
    field.close()
