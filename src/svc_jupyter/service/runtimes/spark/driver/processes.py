"""The sessions' processes, seen from the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .statement import Statement, to_json

if TYPE_CHECKING:
    from .zygote import Zygote

LINE_LIMIT = 2**20
"""Bytes of a report."""
_ANSWER_BYTES = 65_536
_READY_SECONDS = 30.0


class Ended(Exception):
    """A session's process ended; the text describes how."""


class SessionProcess:
    """One session's process."""

    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, zygote: Zygote) -> None:
        self.pid = pid
        self.jvm_session = ""
        self.thread = 0
        self._is_over = False
        self.is_interrupted = False
        self.is_intact = True
        """Whether its link to the driver survived the last statement."""
        self._turn = asyncio.Lock()
        self._questions = 0
        self._reader = reader
        self._writer = writer
        self._zygote = zygote

    @property
    def has_ended(self) -> bool:
        """Return whether its end of the connection is closed, as it is when it ends."""
        return self._reader.at_eof() or self._reader.exception() is not None

    async def until_ready(self) -> None:
        """Return once it is attached to the driver. Raises `Ended`, also when that takes long: then it is killed."""
        try:
            async with asyncio.timeout(_READY_SECONDS):
                report = await self._next_report()
        except TimeoutError:
            await self.end(0)
            raise Ended(f"its process had not reached Spark's driver after {_READY_SECONDS:.0f} s") from None
        except asyncio.CancelledError:  # its parent is about to end, and nobody else knows of it
            self._writer.close()
            self.signal(signal.SIGKILL)
            raise
        self.jvm_session, self.thread = report["jvm_session"], report["thread"]

    async def run(self, statement: Statement, on_rows: Callable[[int], None]) -> bool:
        """Run a statement; return whether it succeeded. Raises `Ended`."""
        async with self._turn:
            return await self._run(statement, on_rows)

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question between two statements. Raises `Ended`."""
        async with self._turn:
            self._questions += 1
            number = self._questions
            self._writer.write(json.dumps({"question": question, "id": number}).encode() + b"\n")
            while True:
                report = await self._next_report()
                if report.get("answered") == number:  # an earlier one may have been given up
                    return dict(report["answer"])

    async def _run(self, statement: Statement, on_rows: Callable[[int], None]) -> bool:
        try:
            self._writer.write(to_json(statement).encode() + b"\n")
            await self._writer.drain()
        except OSError:
            pass  # its exit status is read below
        while True:
            report = await self._next_report()
            if "rows" in report:
                on_rows(report["rows"])
            elif report.get("ended") == statement.id:
                self.is_intact = report["is_intact"]
                return bool(report["succeeded"])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it and to what it started."""
        if not self._is_over:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    async def end(self, grace_seconds: float) -> None:
        """Close its link, which makes it end by itself, and reap it."""
        self._writer.close()
        if self._is_over:
            return
        killing = asyncio.get_running_loop().call_later(grace_seconds, self.signal, signal.SIGKILL)
        try:
            await self._ending()
        finally:
            killing.cancel()

    async def _next_report(self) -> dict[str, Any]:
        try:
            line = await self._reader.readline()
        except OSError:
            line = b""
        if line.endswith(b"\n"):
            return dict(json.loads(line))
        raise Ended(await self._ending())

    async def _ending(self) -> str:
        with suppress(OSError):  # it had not read all that was sent to it
            while await self._reader.read(_ANSWER_BYTES):
                pass  # until it has closed its end
        status = await self._zygote.status_of(self.pid)
        self._is_over = True
        self.signal_leftovers()
        if status is None:
            return "its process is gone"
        return f"its process was ended by signal {-status}" if status < 0 else f"its process ended with code {status}"

    def signal_leftovers(self) -> None:
        """Kill the processes that it left running in its group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
