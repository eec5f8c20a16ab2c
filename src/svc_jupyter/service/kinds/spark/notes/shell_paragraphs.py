"""Shell paragraphs: Bash in the run's own working folder, as in a shell command."""

from __future__ import annotations

import codecs
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from svc_jupyter.files import write_whole
from svc_jupyter.service.kinds.spark.notes.paragraph_results import KEPT_CHARACTERS
from svc_jupyter.service.kinds.spark.notes.statements import Log, Message, StatementEnd, StatementError

_CHUNK = 1 << 16
_LOOK_SECONDS = 0.05
_DISPLAY = re.compile(r"^%(html|table|text)\b[ \t]*\n?", re.IGNORECASE | re.MULTILINE)


class Shell:
    """Runs shell paragraphs. Each is its own Bash; files in the folder stay for the next one."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    def run(self, code: str, variables: Mapping[str, str], log: Log) -> StatementEnd:
        """Run a script; its output goes to the log as it arrives, and the result keeps only what a note shows."""
        script, output = self._folder.parent / "paragraph.sh", self._folder.parent / "paragraph.out"
        write_whole(script, code, mode=0o600)  # as a file: a command line shows in the process list
        # A file, not a pipe: a background process of the script would keep a pipe open.
        with output.open("w+b") as sink, output.open("rb") as source:
            process = subprocess.Popen(
                ["bash", str(script)],
                cwd=self._folder,
                env={**self._environment, **variables},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
            text = "".join(_kept(_read_while(process, source), log))
        if process.returncode == 0:
            return StatementEnd(displayed(text))
        return StatementEnd(displayed(text), StatementError(f"the shell ended with exit code {process.returncode}"))


def _read_while(process: subprocess.Popen[bytes], source: BinaryIO) -> Iterator[str]:
    """Yield what is appended to a file until the process that writes it has ended."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        has_ended = process.poll() is not None
        while data := source.read(_CHUNK):
            yield decoder.decode(data)
        if has_ended:
            yield decoder.decode(b"", final=True)
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_SECONDS)


def _kept(texts: Iterator[str], log: Log) -> Iterator[str]:
    """Write every text to the log, and yield those that a note keeps."""
    size = 0
    for text in texts:
        log(text)
        if size <= KEPT_CHARACTERS:
            size += len(text)
            yield text


def displayed(text: str) -> list[Message]:
    """Return a program's printed text as messages; a line that begins with `%html` or `%table` begins another one.

    This is the file format's display system.
    """
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
