"""Typed rows that can be read while their query still writes them (an extension).

The reader gets a complete Arrow stream only if the command ends as `done` with this file as its result. Otherwise
the stream is broken off: it has no end marker and ends where no message of the format can end, so that every Arrow
reader fails on it. This happens when the command fails, is cancelled or retried, when the rows are written again (in
wider types, or by a later statement), and when the service stops. Memory use is constant even for slow readers: unread
rows stay on disk.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.kind import StoredResult
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.errors import ServiceError, Unauthorized

END_MARKER: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""The last bytes of an Arrow stream. The end of a growing file may be such a marker and is held back."""
_ALIGNMENT: Final = 8
"""Every message of an Arrow stream begins at a multiple of this many bytes."""
_CHUNK = 2 << 20
_FIRST_PAUSE, _LONGEST_PAUSE, _PAUSE_GROWTH = 0.02, 0.05, 1.5
"""Seconds between two checks of a file: short after it has grown, longer while it has not."""
_ROW_SECONDS = 5.0
"""How often the row is read, since the announcement of its end may be lost."""


async def growing_rows(
    commands: Commands, command_id: int, caller: Caller, seconds: float
) -> AsyncIterator[bytes] | None:
    """Return the rows of a running command as they are written, beginning with the first.

    None when the command has ended, when no rows have come within `seconds`, or when the service stops. Raises
    `NotFound`.
    """
    command = await _FollowedCommand.begin(commands, command_id, caller)
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    file = None
    try:
        name = commands.growing_file(command.row)
        while name is not None and not command.is_over:
            file = GrowingFile.open(commands.root(command.row), name)
            if file is not None:
                return _followed(command, file)
            left = deadline - time.monotonic()
            if left <= 0:
                break
            await command.go_on(min(pause, left))
            pause = min(pause * _PAUSE_GROWTH, _LONGEST_PAUSE)
        return None
    finally:
        if file is None:
            command.close()


async def _followed(command: _FollowedCommand, file: GrowingFile) -> AsyncIterator[bytes]:
    pause = _FIRST_PAUSE
    try:
        while not command.is_over:
            if file.available():
                yield await asyncio.to_thread(file.read)
                pause = _FIRST_PAUSE
            elif file.is_given_up():
                break
            else:
                pause = min(pause * _PAUSE_GROWTH, _LONGEST_PAUSE)
            try:
                await command.go_on(0 if file.available() else pause)
            except Unauthorized:  # the token has been revoked
                break
            except ServiceError:  # the database is away: continue with the rows
                continue
        if file.is_result_of(command.row):
            while rest := await asyncio.to_thread(file.read_to_end):
                yield rest
        else:
            yield broken_off(file.given_out)
    finally:
        file.close()
        command.close()


def broken_off(given_out: int) -> bytes:
    """Return bytes to follow the first `given_out` ones, so that no reader takes the stream as complete."""
    return END_MARKER[:1] if given_out % _ALIGNMENT == 0 else b""


class GrowingFile:
    """An Arrow stream that another process writes; it stays open when the file is renamed or deleted."""

    def __init__(self, root: Path, path: Path, file: BinaryIO) -> None:
        self._root = root
        self._path = path
        self._file = file
        self.given_out = 0

    @classmethod
    def open(cls, root: Path, name: str) -> GrowingFile | None:
        """Return the file of the command's latest attempt; None while it has no rows."""
        with suppress(FileNotFoundError):
            attempt = max((int(entry.name) for entry in os.scandir(root) if entry.name.isdecimal()), default=None)
            if attempt is None:
                return None
            path = root / str(attempt) / name
            file = cls(root, path, path.open("rb"))
            if file.available():
                return file
            file.close()
        return None

    def available(self) -> int:
        """Return how many bytes may be sent now: all but the last ones, which may be the end marker."""
        return max(0, self._size() - len(END_MARKER) - self.given_out)

    def read(self) -> bytes:
        """Return the next chunk of bytes that may be sent."""
        return self._read(min(self.available(), _CHUNK))

    def read_to_end(self) -> bytes:
        """Return the next chunk, including the end marker; empty at the end."""
        return self._read(_CHUNK)

    def is_given_up(self) -> bool:
        """Return whether the rows are now written to another file, or are no longer wanted."""
        return not (self._is_at(self._path) or self._is_at(self._path.with_suffix("")))

    def is_result_of(self, row: CommandRow) -> bool:
        """Return whether the command is done and this file is its complete result."""
        result = StoredResult.of(row)
        if row.status != "done" or result is None:
            return False
        return self._is_at(self._root / result.file) and self._size() == result.size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, count: int) -> bytes:
        data = self._file.read(count)
        self.given_out += len(data)
        return data

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _is_at(self, path: Path) -> bool:
        try:
            return os.path.samestat(path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False


class _FollowedCommand:
    """Follows a command's row: reads it when its end is announced, and regularly in case the announcement is lost."""

    def __init__(self, commands: Commands, command_id: int, caller: Caller) -> None:
        self._commands = commands
        self._command_id = command_id
        self._caller = caller
        self._listen()
        self.row: CommandRow

    @classmethod
    async def begin(cls, commands: Commands, command_id: int, caller: Caller) -> _FollowedCommand:
        """Subscribe to the end, then read the row. Raises `NotFound`."""
        command = cls(commands, command_id, caller)
        try:
            await asyncio.sleep(0)  # subscribe before reading
            command.row = await commands.row(command_id, caller)
        except BaseException:
            command.close()
            raise
        return command

    @property
    def is_over(self) -> bool:
        """Whether the command has ended, or the service is about to stop."""
        return self.row.is_final or self._commands.is_stopping

    async def go_on(self, seconds: float) -> None:
        """Wait for `seconds` or until the command ends. Raises `Unavailable`."""
        if seconds:
            await asyncio.wait({self._ended}, timeout=seconds)
        if self._ended.done():
            self._listen()
            await asyncio.sleep(0)
            self.row = await self._commands.row(self._command_id, self._caller)

    def close(self) -> None:
        """Unsubscribe."""
        self._ended.cancel()

    def _listen(self) -> None:
        self._ended = asyncio.ensure_future(self._commands.wait_for_end(self._command_id, _ROW_SECONDS))
