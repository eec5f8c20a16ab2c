"""A paragraph's output as typed messages, in the order in which the code printed and showed them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from .statement import MESSAGES_FILE

TEXT, HTML, TABLE = "TEXT", "HTML", "TABLE"
KEPT_BYTES = 2**20
"""Limit of a paragraph's printed output; the command's log has all of it."""
_TYPED = re.compile(r"^%(html|table|text)\b[ \t]*\n?", re.IGNORECASE | re.MULTILINE)


class Messages:
    """Splits printed text into messages, and adds those that code shows."""

    def __init__(self, folder: Path, printed: Path) -> None:
        self._target = (folder / MESSAGES_FILE).open("a", encoding="utf-8")
        self._printed = printed
        self._offset = 0
        self._kept = 0

    def emit(self, kind: str, data: str, rows: str | None = None) -> None:
        """Add a message after everything printed before it; `rows` is the file of a table's typed rows."""
        self.catch_up()
        self._write(kind, data, rows)

    def catch_up(self) -> None:
        """Add the text printed since the last message; a line with `%html` or `%table` begins one of that type."""
        sys.stdout.flush()
        sys.stderr.flush()
        text, kind, position = self._printed_since(), TEXT, 0
        for typed in _TYPED.finditer(text):
            self._add(kind, text[position : typed.start()])
            kind, position = typed[1].upper(), typed.end()
        self._add(kind, text[position:])

    def close(self) -> None:
        """Add the rest, and end."""
        self.catch_up()
        self._target.close()

    def _printed_since(self) -> str:
        size = self._printed.stat().st_size
        room = KEPT_BYTES - self._kept
        with self._printed.open("rb") as file:
            file.seek(self._offset)
            data = file.read(min(room, size - self._offset)) if room > 0 else b""
        left_out = size - self._offset - len(data)
        self._offset = size
        self._kept += len(data)
        text = data.decode("utf-8", "replace")
        return f"{text}\n[{left_out:,} bytes more are in the log]\n" if left_out > 0 and data else text

    def _add(self, kind: str, data: str) -> None:
        if data.strip():
            self._write(kind, data)

    def _write(self, kind: str, data: str, rows: str | None = None) -> None:
        message = {"type": kind, "data": data}
        if rows is not None:
            message["rows"] = rows
        self._target.write(json.dumps(message) + "\n")
        self._target.flush()
