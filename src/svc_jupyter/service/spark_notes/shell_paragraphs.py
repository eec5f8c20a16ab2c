"""Paragraphs in the shell: Bash in the run's own working folder, as a shell command's."""

from __future__ import annotations

import codecs
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from svc_jupyter.service.spark_notes.displays import displayed
from svc_jupyter.service.spark_notes.paragraph_results import KEPT_CHARACTERS
from svc_jupyter.service.spark_notes.statements import Log, StatementEnd, StatementError

_CHUNK = 1 << 16
_LOOK_SECONDS = 0.05


class Shell:
    """Runs shell paragraphs. Each is a Bash of its own; what they leave in the folder stays for the next."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    def run(self, code: str, variables: Mapping[str, str], log: Log) -> StatementEnd:
        """Run a script to its end; its output goes to the log as it comes, and no more is kept than a note shows."""
        script, output = self._folder.parent / "paragraph.sh", self._folder.parent / "paragraph.out"
        script.write_text(code, "utf-8")  # as a file: a command line shows in the process list
        script.chmod(0o600)
        # A file, not a pipe: what a script leaves running in the background would keep a pipe open.
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
    """Yield what comes into a file until the process that writes it has ended."""
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
    """Put every text into the log, and yield those that a note keeps."""
    size = 0
    for text in texts:
        log(text)
        if size <= KEPT_CHARACTERS:
            size += len(text)
            yield text
