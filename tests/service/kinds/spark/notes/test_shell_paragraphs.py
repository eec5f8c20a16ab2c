"""What a paragraph prints as HTML or as a table is the same thing whoever prints it: a shell, or a program of Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from svc_jupyter.service.kinds.spark.notes.shell_paragraphs import displayed
from svc_jupyter.service.runtimes.spark.driver.messages import Messages
from svc_jupyter.service.runtimes.spark.driver.statement import MESSAGES_FILE

Found = list[tuple[str, str]]


def of_a_shell(text: str, _folder: Path) -> Found:
    return [(message.type, message.data) for message in displayed(text)]


def of_spark(text: str, folder: Path) -> Found:
    printed = folder / "printed"
    printed.write_text(text)
    Messages(folder, printed).close()
    lines = (folder / MESSAGES_FILE).read_text().splitlines()
    return [(message["type"], message["data"]) for message in map(json.loads, lines)]


@pytest.mark.parametrize("read", [of_a_shell, of_spark])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%html <b>x</b>\n", [("HTML", "<b>x</b>\n")]),
        ("%HTML\n<b>x</b>\n", [("HTML", "<b>x</b>\n")]),
        ("a\n%Table\nb\tc\n%TEXT d\n", [("TEXT", "a\n"), ("TABLE", "b\tc\n"), ("TEXT", "d\n")]),
        ("%htmlx\n a %html\n", [("TEXT", "%htmlx\n a %html\n")]),
    ],
)
def test_a_display_begins_in_any_case(
    tmp_path: Path, read: Callable[[str, Path], Found], text: str, expected: Found
) -> None:
    assert read(text, tmp_path) == expected
