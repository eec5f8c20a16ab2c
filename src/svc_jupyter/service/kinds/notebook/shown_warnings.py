"""Detects that a cell showed a warning, as opposed to other text on stderr.

A Python kernel reports it (`kernel_guard.py`). In other kernels a warning is a line on stderr that begins as warnings
of their language do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NAME = "svc_jupyter_kernel_guard"
_WARNING = re.compile(
    r"^[^\w\n]{0,4}(?:[\w./-]{1,100}:[ ]?(?:line \d{1,9}:[ ]?)?){0,4}"
    r"\w{0,40}warning(?: messages?)?(?: in [^\n]{0,200}?)?[ ]?:[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""R's `Warning message:`, Julia's `┌ Warning: …`, `bash: warning: …`, and Python's `file.py:3: UserWarning: …`."""


@dataclass(frozen=True, slots=True)
class ShownWarning:
    """A warning that a cell showed. `line` is the cell's, None when it came from elsewhere or is not known."""

    text: str
    line: int | None = None


def guard_code(largest: int) -> str:
    """Return the code that a Python kernel runs before the first cell; `largest` as in `kernel_guard.install`.

    The code defines no name in the user's namespace.
    """
    source = Path(__file__).with_name("kernel_guard.py").read_text("utf-8") + f"\ninstall({largest})\n"
    return f"exec({source!r}, {{'__name__': {_NAME!r}}})"


def warning_in(text: str) -> ShownWarning | None:
    """Return the first warning in a cell's stderr; the line after a heading alone is part of it."""
    found = _WARNING.search(text)
    if found is None:
        return None
    line = found[0].strip()
    if line.endswith(":"):
        line = f"{line} {text[found.end() :].lstrip().partition(chr(10))[0]}"
    return ShownWarning(line)
