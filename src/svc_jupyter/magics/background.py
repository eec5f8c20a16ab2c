"""A call in a thread of its own, so that an interrupted cell never tears a request or an import in the middle."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A call that has been started; the cell's own thread only waits for it, and can stop to at any time.

    The thread is a daemon: a call that is given up does not keep the process from ending.
    """

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._call = call
        self._ended = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name=f"svc-{name}", daemon=True).start()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001  handed to who asks for the outcome
            self._error = error
        finally:
            self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the call at most this long; return whether it has ended."""
        return self._ended.wait(seconds)

    def outcome(self) -> T:
        """Wait for the end; return what the call returned, or raise what it raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]
