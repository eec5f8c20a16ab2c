"""Values of forms in a script and in a text: whatever they are, they are neither commands nor markup."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.forms.filling import filled_markdown, filled_script, filled_text
from svc_jupyter.forms.values import FormProblem, FormValues

HOSTILE = ["$(touch x)`touch y`", "\"; touch x; '", "a\nb\r\tc", "back\\slash\\", "%s %% ${HOME}", "", "☃ é 漢", "\x1b"]


@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.sampled_from(HOSTILE))
@pytest.mark.parametrize(
    "code",
    ['printf %s "${v}"', "printf %s '${v}'", '# it\'s\nprintf %s "${v(Name)=x}"'],
)
def test_in_a_shell_a_value_is_the_value(code: str, value: str) -> None:
    text, variables = filled_script(code, FormValues({"v": value}))
    run = subprocess.run(["bash", "-c", text], env=variables, capture_output=True, check=True)
    assert run.stdout.decode() == value


def test_variables_of_a_shell_are_unchanged() -> None:
    text, variables = filled_script('echo ${HOME} ${v} "${w=1}"', FormValues({"v": "x"}))
    assert text == 'echo ${HOME} ${SVC_FORM_1} "${SVC_FORM_2}"'
    assert variables == {"SVC_FORM_1": "x", "SVC_FORM_2": "1"}


def test_a_value_that_a_shell_cannot_hold_is_refused() -> None:
    with pytest.raises(FormProblem, match=r"^form v holds a NUL character, which a shell cannot$"):
        filled_script("echo ${v}", FormValues({"v": "a\0b"}))


def test_markup_in_a_value_is_text() -> None:
    text, values = "Hello *${v}* and ${w=you}", FormValues({"v": "<img onerror=x>"})
    assert filled_markdown(text, values) == "Hello *\\<img onerror\\=x\\>* and you"
    assert filled_text(text, values) == "Hello *<img onerror=x>* and you"


def test_a_text_for_readers_hides_passwords() -> None:
    text, values = "as ${user} with ${password:pin}", FormValues({"user": "ann", "pin": "hunter2"})
    assert filled_text(text, values) == "as ann with <hidden>"
    assert filled_markdown(text, values) == "as ann with \\<hidden\\>"
