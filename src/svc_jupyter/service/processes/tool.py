"""Runs a program to its end, with its output and a time limit; no process of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from svc_jupyter.terminal_text import lines_shown


@dataclass(frozen=True)
class Ended:
    """A program's exit code, and both outputs as text."""

    code: int
    output: str

    @property
    def last_lines(self) -> str:
        """The end of the output, short enough for a message."""
        return "\n".join(lines_shown(self.output.strip())[-8:])[-1000:]


async def run(
    arguments: Sequence[str | Path], *, seconds: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Ended:
    """Run a program to its end. Raises `OSError` when it cannot start, `TimeoutError` when it takes too long."""
    process = await asyncio.create_subprocess_exec(
        *map(str, arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return Ended(process.returncode or 0, output.decode(errors="replace"))
