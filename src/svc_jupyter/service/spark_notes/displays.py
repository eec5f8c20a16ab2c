"""Printed text as results: a text that begins with `%html` or `%table` is one (the file format's display system)."""

from __future__ import annotations

import re

from svc_jupyter.service.spark_notes.statements import Message

_DISPLAY = re.compile(r"^%(html|table|text)\b[ \t]*\n?", re.IGNORECASE | re.MULTILINE)


def displayed(text: str) -> list[Message]:
    """Return a program's printed text as messages; a line that begins with `%html` or `%table` begins another one."""
    messages: list[Message] = []
    kind, position = "TEXT", 0
    for found in _DISPLAY.finditer(text):
        _add(messages, kind, text[position : found.start()])
        kind, position = found[1].upper(), found.end()
    _add(messages, kind, text[position:])
    return messages


def _add(messages: list[Message], kind: str, data: str) -> None:
    if data.strip() or (kind == "TABLE" and data):
        messages.append(Message(kind, data))
