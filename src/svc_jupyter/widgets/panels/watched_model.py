"""What the models of panels have in common that watch something: a question to confirm, a step, a problem, a look."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar

from svc_jupyter.widgets.panels.worker import PanelWorker, unexpected

if TYPE_CHECKING:
    from svc_jupyter.client import Client

Question = TypeVar("Question")
"""A step with all that it is about, as somebody is asked to confirm it."""
Clock = Callable[[], datetime]
"""Returns the present, with its zone."""


class WatchedModel(ABC, Generic[Question]):
    """The state of one panel. `on_change` is called after each change, from the thread that made it.

    What buttons call runs on the kernel's main thread and never waits; the rest is done in the panel's own thread.
    """

    def __init__(self, client: Callable[[], Client], clock: Clock) -> None:
        self.question: Question | None = None
        self.problem: str | None = None
        self.note = ""
        self.working = False
        self.on_change: Callable[[], None] = lambda: None
        self.clock = clock
        self.worker = PanelWorker(self._look, self.period, on_pause=self._pause, on_failure=self._fail)
        self._client = client
        self._lock = threading.RLock()

    @abstractmethod
    def period(self) -> float:
        """Return the seconds between two looks."""

    def dismiss(self) -> None:
        """Take the question back."""
        with self._lock:
            self.question = None
        self.on_change()

    def confirm(self) -> None:
        """Do what was asked about, once."""
        with self._lock:
            question, self.question = self.question, None
            if question is None:
                return
            self.working = True
        self.on_change()
        self.worker.submit(lambda: self._perform(question))

    def refresh(self) -> None:
        """Look again now."""
        self.worker.submit(self._look)

    def choose(self, number: int) -> None:
        """Show another one of the list, by its id; a question about the one before is taken back."""
        with self._lock:
            self.question = None
            self.note = ""
        self.worker.submit(lambda: self._fetch(number))

    @abstractmethod
    def _look(self) -> None:
        """Look again at what is shown."""

    @abstractmethod
    def _fetch(self, number: int) -> None:
        """Show the one with this id as it is now, or why it cannot be shown."""

    @abstractmethod
    def _take(self, question: Question) -> int:
        """Do what was confirmed and note what there is to say; return the id of what to look at then.

        Raises the client's errors.
        """

    def _pause(self) -> None:
        """Nobody has touched the panel for long: it looks no more."""
        self.on_change()

    def _fail(self, error: Exception) -> None:
        """Say what nobody foresaw; what was under way is over."""
        with self._lock:
            self.problem = unexpected(error)
            self.working = False
        self.on_change()

    def _perform(self, question: Question) -> None:
        from svc_jupyter.client.errors import SvcError

        try:
            number = self._take(question)
        except SvcError as error:
            self.problem = error.message
            self.working = False
            self.on_change()
            return
        self.working = False
        self._fetch(number)
