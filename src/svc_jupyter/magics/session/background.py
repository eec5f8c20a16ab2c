"""Run a call in a thread, so that an interrupted cell never breaks a request or an import."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """A call for another thread; the cell's thread waits for it, and can stop waiting at any time.

    It is created before it is started, so that an interrupt in between finds it. The thread is a daemon: an abandoned
    call does not prevent the process from ending.
    """

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._call = call
        self._ended = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name=f"svc-{name}", daemon=True)

    def start(self) -> Self:
        """Begin the call."""
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:  # noqa: BLE001  handed to who asks for the outcome
            self._error = error
        finally:
            self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the call for at most this long; return whether it has ended."""
        return self._ended.wait(seconds)

    def outcome(self) -> T:
        """Wait for the end; return what the call returned, or raise what it raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]
