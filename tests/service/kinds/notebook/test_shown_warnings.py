"""A warning on stderr is told by its look where the kernel does not tell of it."""

from __future__ import annotations

from svc_jupyter.service.kinds.notebook.failures import warning_in

WARNINGS = {
    "Warning message:\nIn log(-1) : NaNs produced\nmore": "Warning message: In log(-1) : NaNs produced",
    "words\nWarning in log(-1) : NaNs produced\n": "Warning in log(-1) : NaNs produced",
    "┌ Warning: careful\n└ @ Main REPL[1]:1\n": "┌ Warning: careful",
    "script.sh: line 3: warning: here-document\n": "script.sh: line 3: warning: here-document",
    "main.cpp:3:5: warning: unused\n": "main.cpp:3:5: warning: unused",
    "/tmp/x.py:3: UserWarning: careful\n  warn()\n": "/tmp/x.py:3: UserWarning: careful",
    "WARNING: An illegal reflective access\n": "WARNING: An illegal reflective access",
}


def test_warnings_of_several_languages_are_recognized():
    found = {text: warning_in(text) for text in WARNINGS}
    assert {text: warning and warning.text for text, warning in found.items()} == WARNINGS


def test_other_text_is_no_warning():
    texts = ["", "all is well", "no warnings were found", "INFO warning level set", "0 warnings\n"]
    assert [text for text in texts if warning_in(text) is not None] == []


def test_hostile_text_is_searched_to_its_end():
    units = ["a:", "a" * 100 + ":", "w", "/.:-", "warning in", "\t"]
    assert [unit for unit in units if warning_in(unit * (65_536 // len(unit))) is not None] == []
