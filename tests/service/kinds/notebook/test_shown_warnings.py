"""A warning on stderr is told by its look where the kernel does not tell of it."""

from __future__ import annotations

import pytest

from svc_jupyter.service.kinds.notebook.failures import warning_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Warning message:\nIn log(-1) : NaNs produced\nmore", "Warning message: In log(-1) : NaNs produced"),
        ("words\nWarning in log(-1) : NaNs produced\n", "Warning in log(-1) : NaNs produced"),
        ("┌ Warning: careful\n└ @ Main REPL[1]:1\n", "┌ Warning: careful"),
        ("script.sh: line 3: warning: here-document\n", "script.sh: line 3: warning: here-document"),
        ("main.cpp:3:5: warning: unused\n", "main.cpp:3:5: warning: unused"),
        ("/tmp/x.py:3: UserWarning: careful\n  warn()\n", "/tmp/x.py:3: UserWarning: careful"),
        ("WARNING: An illegal reflective access\n", "WARNING: An illegal reflective access"),
    ],
)
def test_warnings_of_several_languages_are_recognized(text, expected):
    found = warning_in(text)
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize(
    "text", ["", "all is well", "no warnings were found", "INFO warning level set", "0 warnings\n"]
)
def test_other_text_is_no_warning(text):
    assert warning_in(text) is None


@pytest.mark.parametrize("unit", ["a:", "a" * 100 + ":", "w", "/.:-", "warning in", "\t"])
def test_hostile_text_is_searched_to_its_end(unit):
    assert warning_in(unit * (65_536 // len(unit))) is None
