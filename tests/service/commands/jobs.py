"""Jobs without a runner around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from svc_jupyter.service.commands.job import Job

NewJob = Callable[..., Job]


class Notes:
    """What a job wrote of itself while it ran."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self.progressed = 0
        self.written = asyncio.Event()

    async def note(self, values: Mapping[str, Any]) -> None:
        self.values.append(dict(values))
        self.written.set()

    def on_progress(self) -> None:
        self.progressed += 1
