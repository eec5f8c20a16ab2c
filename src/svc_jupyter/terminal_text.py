"""What programs write for a terminal, as text: without control sequences, and of an overwritten line its last state.

Pure, and needs only the standard library.
"""

from __future__ import annotations

import re

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
"""Control sequences: colours, movements of the cursor, titles, links, character sets."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def lines_shown(text: str) -> list[str]:
    """Return the lines of a program's output as a terminal shows them, without their colours."""
    return [plain(last_state(line)) for line in text.split("\n")]


def last_state(line: str) -> str:
    """Return what is left of a line that was overwritten, as progress bars do."""
    return line.rstrip("\r").rpartition("\r")[2]


def plain(text: str) -> str:
    """Return a text without control sequences and control characters, except tabs and line feeds."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text))
