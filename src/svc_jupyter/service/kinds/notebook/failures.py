"""Why a run stops, as a message for the user: the cell, the original error, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.terminal_text import plain

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


RAISES_EXCEPTION = "raises-exception"
"""The tag of a cell after which the run continues, even if it raises or warns."""
_LINE_IN_CELL = re.compile(r"Cell In\[\d+\], line (\d+)")
_TRACEBACK_LIMIT = 100_000
_TEXT_LIMIT = 2000
_LINE_LIMIT = 200
_ADVICE = f"the run stopped there; tag the cell {RAISES_EXCEPTION} to let it go on after an error"
_NO_INPUT = "nobody answers a cell that asks for input in a run; give the value as one of the run's arguments"


class RunFailure(Failure):
    """A run that must stop; its text is complete."""


@dataclass(frozen=True, slots=True)
class CellPosition:
    """The number of a code cell in the notebook, and its source."""

    number: int
    count: int
    source: str

    def __str__(self) -> str:
        return f"cell {self.number} of {self.count}"

    def line(self, number: int | None) -> str:
        """Return `, in line N: <its text>`; empty where the line is not known."""
        lines = self.source.splitlines()
        if number is None or not 1 <= number <= len(lines):
            return ""
        return f", in line {number}: {plain(lines[number - 1]).strip()[:_LINE_LIMIT]}"


def raised(place: CellPosition, name: str, value: str, traceback: Sequence[str]) -> RunFailure:
    """Return the failure of a cell that raised an exception."""
    what = f"{name}: {value}" if value else name
    advice = _NO_INPUT if name == "StdinNotImplementedError" else _ADVICE
    return RunFailure(f"{place}: {_shortened(plain(what))}{place.line(_line_of(traceback))}\n{advice}")


def warned(place: CellPosition, warning: ShownWarning) -> RunFailure:
    """Return the failure of a cell that showed a warning."""
    return RunFailure(
        f"{place} showed a warning: {_shortened(plain(warning.text))}{place.line(warning.line)}\n"
        f"the run stopped after it; tag the cell {RAISES_EXCEPTION} to let it go on after a warning"
    )


def kernel_ended(place: CellPosition, how: str) -> RunFailure:
    """Return the failure of a cell whose kernel ended while it ran."""
    return RunFailure(f"{place}: the kernel ended while the cell ran: {how}")


def _line_of(traceback: Sequence[str]) -> int | None:
    """Return the innermost line of the cell that an IPython traceback names."""
    found = _LINE_IN_CELL.findall(plain("\n".join(traceback))[-_TRACEBACK_LIMIT:])
    return int(found[-1]) if found else None


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]} …"
