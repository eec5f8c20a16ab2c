"""The icon and the word of each status, for progress lines, tables and panels. Colour is never the only sign."""

from __future__ import annotations

RUNNING, DONE, STOPPED, FAILED, WAITING, PAUSED = "◐", "✓", "■", "✗", "◌", "‖"

ICONS = {
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
WORDS_OF_ACTIONS = {
    "submitted": "waiting for its turn",
    "waiting": "waiting for its dependencies",
    "running": "running",
    "done": "done",
    "error": "failed",
    "not_found": "dependencies not found",
    "cancelled": "cancelled",
}
WAITING_COMMAND = "waiting for a free slot"
"""The word for an action whose command waits."""
FAILURES = frozenset({"error", "not_found"})
"""Statuses of an action that need attention."""


def icon_of(status: str) -> str:
    """Return the icon of the status of a schedule, an action or a command; a dot for an unknown status."""
    return ICONS.get(status.lower(), "·")


def word_of(action_status: str, *, has_command: bool) -> str:
    """Return the word for an action's status; with a command, `waiting` means that the command waits."""
    if has_command and action_status == "waiting":
        return WAITING_COMMAND
    return WORDS_OF_ACTIONS.get(action_status, action_status)
