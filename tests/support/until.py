"""Waiting for what happens elsewhere: looked at again and again, with a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any


async def until(condition: Callable[[], Any], seconds: float = 15.0) -> None:
    """Return once `condition` is true; raises `TimeoutError` when it never is."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  what is waited for happens in other processes and threads
            await asyncio.sleep(0.01)


async def written(file: Path) -> Path:
    """Return the file once a program has written to it."""
    await until(lambda: file.exists() and file.stat().st_size)
    return file
