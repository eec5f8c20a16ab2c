"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """How a finding weighs: fine, something optional is missing, or something does not work."""

    FINE = "✓"
    NOTE = "!"
    WRONG = "✗"


@dataclass(frozen=True)
class Finding:
    """One line for a person: about what, what was found, and, where something is to be done, what."""

    mark: Mark
    about: str
    what: str
    fix: str = ""


def fine(about: str, what: str) -> Finding:
    """Return a finding with nothing to do."""
    return Finding(Mark.FINE, about, what)


def note(about: str, what: str, fix: str = "") -> Finding:
    """Return a finding that leaves the rest usable."""
    return Finding(Mark.NOTE, about, what, fix)


def wrong(about: str, what: str, fix: str) -> Finding:
    """Return a finding that keeps something from working."""
    return Finding(Mark.WRONG, about, what, fix)
