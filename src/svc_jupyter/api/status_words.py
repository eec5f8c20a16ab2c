"""The words for statuses and types, and the icons of statuses. Colour is never the only sign.

`scripts/make_lab_sources.py` makes the same tables for JupyterLab's views.
"""

from __future__ import annotations

RUNNING, DONE, STOPPED, FAILED, WAITING, PAUSED, ACTIVE = "◐", "✓", "■", "✗", "◌", "‖", "●"

ICONS = {
    "waiting": WAITING,
    "submitted": WAITING,
    "running": RUNNING,
    "done": DONE,
    "error": FAILED,
    "not_found": FAILED,
    "cancelled": STOPPED,
    "active": ACTIVE,
    "suspended": PAUSED,
    "ended": STOPPED,
}
WORDS_OF_SCHEDULES = {"RUNNING": "active", "SUSPENDED": "suspended", "DONE": "ended", "KILLED": "ended"}
"""A schedule is active; only its runs are running."""
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
WORDS_OF_TYPES = {
    "ShellCommand": "shell",
    "PigCommand": "Pig",
    "DbTapQueryCommand": "database query",
    "HiveCommand": "Hive",
    "PrestoCommand": "Presto",
    "SqlCommand": "Spark SQL",
    "HadoopCommand": "Hadoop job",
    "SparkCommand": "Spark",
    "CompositeCommand": "composite",
    "DbExportCommand": "database export",
    "DbImportCommand": "database import",
    "JupyterNotebookCommand": "notebook",
    "AddNodeCommand": "add nodes",
    "RemoveNodeCommand": "remove a node",
}
WORDS_OF_CLUSTERS = {"UP": "up", "DOWN": "down", "PENDING": "starting", "TERMINATING": "terminating"}
WORDS_OF_SOURCES = {"API": "API", "UI": "notebook", "SCHEDULED": "schedule"}
FAILURES = frozenset({"error", "not_found"})
"""Statuses of an action that need attention."""


def icon_of(status: str) -> str:
    """Return the icon of the status of an action or a command; a dot for an unknown status."""
    return ICONS.get(status.lower(), "·")


def command_words(status: str) -> str:
    """Return the icon and the word for a command's status: `✗ failed`."""
    return f"{icon_of(status)} {command_word(status)}"


def command_word(status: str) -> str:
    """Return the word for a command's status."""
    return "failed" if status == "error" else status


def word_of(action_status: str, *, has_command: bool) -> str:
    """Return the word for an action's status; with a command, `waiting` means that the command waits."""
    if has_command and action_status == "waiting":
        return WAITING_COMMAND
    return WORDS_OF_ACTIONS.get(action_status, action_status)


def type_word(command_type: object) -> str:
    """Return the word for a type of command; a type unknown here is shown as it is."""
    return WORDS_OF_TYPES.get(str(command_type), str(command_type))


def source_words(source: str, notebook: str | None) -> str:
    """Return where a command came from: `notebook report.ipynb`, `notebook` without a known name, `API`, `schedule`."""
    word = WORDS_OF_SOURCES.get(source, source)
    return f"{word} {notebook}" if notebook else word


def schedule_words(status: object) -> str:
    """Return the icon and the word for a schedule's status: `● active`."""
    word = WORDS_OF_SCHEDULES.get(str(status), str(status))
    return f"{icon_of(word)} {word}"
