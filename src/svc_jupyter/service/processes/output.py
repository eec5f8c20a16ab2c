"""The end of what a program wrote to a file, for a message."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from svc_jupyter.terminal_text import lines_shown

_END_BYTES: Final = 65_536


def last_lines(file: Path, start: int = 0) -> list[str]:
    """Return the lines that are not empty in the last 64 KiB of a file, as a terminal shows them.

    Nothing before byte `start` counts, and no first line whose beginning is cut off. A missing file has no lines.
    """
    try:
        with file.open("rb") as source:
            begin = max(start, source.seek(0, 2) - _END_BYTES)
            source.seek(begin)
            text = source.read(_END_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    if begin > start:
        text = text.partition("\n")[2] or text
    return [line.rstrip() for line in lines_shown(text) if line.strip()]
