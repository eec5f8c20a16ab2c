"""What a paragraph prints as HTML or as a table is the same thing whoever prints it: a shell, or a program of Spark."""

from __future__ import annotations

import json
from pathlib import Path

from svc_jupyter.service.kinds.spark.notes.shell_paragraphs import displayed
from svc_jupyter.service.runtimes.spark.driver.messages import Messages
from svc_jupyter.service.runtimes.spark.driver.statement import MESSAGES_FILE

Found = list[tuple[str, str]]


def of_a_shell(text: str) -> Found:
    return [(message.type, message.data) for message in displayed(text)]


def of_spark(text: str, folder: Path) -> Found:
    folder.mkdir()
    printed = folder / "printed"
    printed.write_text(text)
    Messages(folder, printed).close()
    lines = (folder / MESSAGES_FILE).read_text().splitlines()
    return [(message["type"], message["data"]) for message in map(json.loads, lines)]


DISPLAYS: dict[str, Found] = {
    "%html <b>x</b>\n": [("HTML", "<b>x</b>\n")],
    "%HTML\n<b>x</b>\n": [("HTML", "<b>x</b>\n")],
    "a\n%Table\nb\tc\n%TEXT d\n": [("TEXT", "a\n"), ("TABLE", "b\tc\n"), ("TEXT", "d\n")],
    "%htmlx\n a %html\n": [("TEXT", "%htmlx\n a %html\n")],
}


def test_a_display_of_a_shell_begins_in_any_case() -> None:
    assert {text: of_a_shell(text) for text in DISPLAYS} == DISPLAYS


def test_a_display_of_spark_begins_in_any_case(tmp_path: Path) -> None:
    assert {text: of_spark(text, tmp_path / str(number)) for number, text in enumerate(DISPLAYS)} == DISPLAYS
