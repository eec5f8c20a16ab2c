"""Topics of the bus that are about commands."""

from __future__ import annotations

WAITING = "waiting"
"""A new waiting command, or one that may begin now, is announced, with its account's id."""
STOP = "stop"
"""The end of a running command is asked for: `<id> <stop request>` (`stop_reasons.py`)."""
