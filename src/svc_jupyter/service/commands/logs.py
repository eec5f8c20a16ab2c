"""What the processes of a command write: its log, an append-only byte stream over all attempts, and its progress."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from svc_jupyter.service.commands.kind import Desk
from svc_jupyter.service.processes.durable_process import DurableProcess

_CHUNK = 256 * 1024
_LOOK_SECONDS = 0.3


def append_line(log: Path, line: str) -> None:
    """Append a line of the service in a single write, so that it does not mix with the program's output."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def log_length(log: Path) -> int:
    """Return the log's length in bytes; 0 when there is none yet."""
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def read_log(log: Path, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of the log from `start` to `end` in chunks, with constant memory."""
    if end <= start:
        return
    with log.open("rb") as file:
        file.seek(start)
        left = end - start
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            left -= len(chunk)
            yield chunk


def read_text_part(log: Path, start: int, limit: int = _CHUNK, *, ended: bool = False) -> tuple[str, int]:
    """Return the log's text from byte `start`, at most `limit` bytes, and the byte after it.

    A character cut at the end is left for the next part, unless the log has `ended`; bytes that are not UTF-8 become
    U+FFFD.
    """
    try:
        with log.open("rb") as file:
            file.seek(start)
            data = file.read(limit)
    except FileNotFoundError:
        return "", start
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final=ended and len(data) < limit)
    held_back = len(decoder.getstate()[0])
    return text, start + len(data) - held_back


async def followed(process: DurableProcess, file: Path, desk: Desk) -> int | None:
    """Wait for a process and report its progress; return its exit code as `DurableProcess.wait` does.

    The process rewrites `file`: `<percent>`, or `<percent> <rows so far>`.
    """
    ending = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait({ending}, timeout=_LOOK_SECONDS))[0]:
            _report(file, desk)
        return ending.result()
    finally:
        ending.cancel()


def _report(file: Path, desk: Desk) -> None:
    with suppress(FileNotFoundError):
        percent, *rows = file.read_text("ascii").split()
        desk.progress(int(percent), int(rows[0]) if rows else None)
