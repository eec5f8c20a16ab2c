"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """The severity of a finding: fine, something optional is missing, or something does not work."""

    FINE = "✓"
    NOTE = "!"
    WRONG = "✗"


@dataclass(frozen=True)
class Finding:
    """One line of output: the subject, the finding and, if needed, the fix."""

    mark: Mark
    about: str
    what: str
    fix: str = ""


def fine(about: str, what: str) -> Finding:
    """Return a finding that needs no action."""
    return Finding(Mark.FINE, about, what)


def note(about: str, what: str, fix: str = "") -> Finding:
    """Return a finding about something optional."""
    return Finding(Mark.NOTE, about, what, fix)


def wrong(about: str, what: str, fix: str) -> Finding:
    """Return a finding about something that does not work."""
    return Finding(Mark.WRONG, about, what, fix)
