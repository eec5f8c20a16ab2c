"""The icon and the word of each status: the same in a progress line, a table and a panel. Colour is never alone."""

from __future__ import annotations

RUNNING, DONE, STOPPED, FAILED, WAITING, PAUSED = "◐", "✓", "■", "✗", "◌", "‖"

_ICONS = {
    "waiting": WAITING,
    "submitted": WAITING,
    "running": RUNNING,
    "done": DONE,
    "error": FAILED,
    "not_found": FAILED,
    "cancelled": STOPPED,
    "suspended": PAUSED,
    "killed": STOPPED,
}
_WORDS = {
    "not_found": "dependencies not found",
    "error": "failed",
    "submitted": "waiting for its turn",
    "waiting": "waiting for its dependencies",
}
FAILURES = frozenset({"error", "not_found"})
"""Statuses of an action that need somebody's attention."""


def icon_of(status: str) -> str:
    """Return the icon of a schedule's, an action's or a command's status; of an unknown word a dot."""
    return _ICONS.get(status.lower(), "·")


def word_of(action_status: str, *, has_command: bool) -> str:
    """Return what an action's status says to people; with a command `waiting` is the command's own."""
    if has_command and action_status == "waiting":
        return "waiting for a free slot"
    return _WORDS.get(action_status, action_status)
