"""The client for asyncio, used as if it blocked: so one test covers both clients."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

from svc_jupyter.client import AsyncClient, AsyncCommand, AsyncResult


class Blocking:
    """An AsyncClient, or anything of it, used as if it blocked: so one test speaks for both clients."""

    def __init__(self, runner: asyncio.Runner, target: Any) -> None:
        self._runner = runner
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return self._plain(getattr(self._target, name))

    def __repr__(self) -> str:
        return repr(self._target)

    def _plain(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._plain(self._runner.run(value))
        if hasattr(value, "__anext__"):
            return self._iterate(value)
        if inspect.ismethod(value):
            return lambda *args, **options: self._plain(value(*args, **options))
        if isinstance(value, AsyncClient | AsyncCommand | AsyncResult) or hasattr(value, "_sender"):
            return Blocking(self._runner, value)
        return value

    def _iterate(self, values: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> list[Any]:
            try:
                return [await anext(values)]
            except StopAsyncIteration:
                return []

        while item := self._runner.run(following()):
            yield self._plain(item[0])
