"""A paragraph's output as typed messages, in the order in which the code printed and showed them."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .statement import MESSAGES_FILE

TEXT, HTML, TABLE, SESSION = "TEXT", "HTML", "TABLE", "SESSION"
KEPT_BYTES = 2**20
"""Limit of a paragraph's printed output; the command's log has all of it."""
_LIVE_SECONDS = 0.2
_TYPED_LINE = re.compile(rb"^%(?:html|table|text)\b", re.IGNORECASE | re.MULTILINE)
_TYPED = re.compile(r"^%(html|table|text)\b[ \t]*\n?", re.IGNORECASE | re.MULTILINE)


class Messages:
    """Splits printed text into messages, and adds those that code shows."""

    def __init__(self, folder: Path, printed: Path) -> None:
        self._target = (folder / MESSAGES_FILE).open("a", encoding="utf-8")
        self._printed = printed
        self._offset = 0
        self._kept = 0
        self._turn = threading.RLock()

    def emit(self, kind: str, data: str, rows: str | None = None) -> None:
        """Add a message after everything printed before it; `rows` is the file of a table's typed rows."""
        with self._turn:
            self.catch_up()
            self._write(kind, data, rows)

    def catch_up(self) -> None:
        """Add the text printed since the last message; a line with `%html` or `%table` begins one of that type."""
        sys.stdout.flush()
        sys.stderr.flush()
        with self._turn:
            text, kind, position = self._printed_since(), TEXT, 0
            for typed in _TYPED.finditer(text):
                self._add(kind, text[position : typed.start()])
                kind, position = typed[1].upper(), typed.end()
            self._add(kind, text[position:])

    @contextmanager
    def live(self) -> Iterator[None]:
        """Add printed lines while the code runs, until it has ended."""
        is_over = threading.Event()

        def follow() -> None:
            while not is_over.wait(_LIVE_SECONDS):
                sys.stdout.flush()
                with self._turn:
                    if text := self._whole_lines():
                        self._write(TEXT, text)

        thread = threading.Thread(target=follow, name="messages", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def close(self) -> None:
        """Add the rest, and end."""
        self.catch_up()
        self._target.close()

    def _whole_lines(self) -> str:
        """Return the text since the last call up to its last line end, or to the first typed output.

        A typed message must be whole, and only the end of the code, or the next message, says where it ends.
        """
        data = self._read(KEPT_BYTES - self._kept)
        typed = _TYPED_LINE.search(data)
        data = data[: data.rfind(b"\n") + 1 if typed is None else typed.start()]
        self._offset += len(data)
        self._kept += len(data)
        return data.decode("utf-8", "replace")

    def _printed_since(self) -> str:
        size = self._printed.stat().st_size
        data = self._read(min(KEPT_BYTES - self._kept, size - self._offset))
        left_out = size - self._offset - len(data)
        self._offset = size
        self._kept += len(data)
        text = data.decode("utf-8", "replace")
        return f"{text}\n[{left_out:,} bytes more are in the log]\n" if left_out > 0 and data else text

    def _read(self, count: int) -> bytes:
        if count <= 0:
            return b""
        with self._printed.open("rb") as file:
            file.seek(self._offset)
            return file.read(count)

    def _add(self, kind: str, data: str) -> None:
        if data.strip():
            self._write(kind, data)

    def _write(self, kind: str, data: str, rows: str | None = None) -> None:
        message = {"type": kind, "data": data}
        if rows is not None:
            message["rows"] = rows
        self._target.write(json.dumps(message) + "\n")
        self._target.flush()
